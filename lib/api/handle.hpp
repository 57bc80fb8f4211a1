// The object behind the opaque handle of the C ABI.
#pragma once

#include <initializer_list>
#include <memory>
#include <new>

#include "batch/batch.hpp"
#include "sweeps/backend.hpp"
#include "cuda_opt.h"
#include "gradient_check/gradient_check.hpp"
#include "boundary/translate_exceptions.hpp"
#include "pattern/search.hpp"
#include "solver/solver.hpp"

struct cuda_opt {
    // The code of a failed creation, with its message in failure_message. It is 0 if the handle is valid.
    int failure = 0;
    int backend = CUDA_OPT_BACKEND_HOST;
    int bits = 64;
    cudaopt::Message failure_message;
    std::unique_ptr<cudaopt::MemorySpace> memory;
    // Exactly one of the next three objects exists, unless the creation failed.
    std::unique_ptr<cudaopt::Solver> solver;
    std::unique_ptr<cudaopt::Search> search;
    std::unique_ptr<cudaopt::Batch> batch;
    std::unique_ptr<cudaopt::GradientCheck>
        check;                                   // a gradient check of the solver's function; NULL: none is in progress
    cudaopt::GradientCheck::Result check_result; // the result of the last gradient check
    bool checked = false;                        // whether a gradient check has been completed

    // The message of the handle, for writing and for reading.
    cudaopt::Message &message() {
        return solver ? solver->new_message() : search ? search->message() : batch ? batch->message() : failure_message;
    }
    const cudaopt::Message &message() const {
        return solver ? solver->message() : search ? search->message() : batch ? batch->message() : failure_message;
    }
    void *stream() const { return search ? search->stream : batch ? batch->stream : solver->stream; }
    std::atomic<bool> &stop_requested() const {
        return search ? search->stop_requested : batch ? batch->stop_requested : solver->stop_requested;
    }
    // Returns the settings. The handle must have a solver or a batch.
    cudaopt::Settings &settings() const { return batch ? batch->settings : solver->settings(); }
    bool started() const { return batch ? batch->started() : solver->started(); }
};

namespace cudaopt {

// Returns the backend to use for a value of the argument `backend`. If it is not available, returns a negative code and
// sets the message.
int choose_backend(int32_t asked, Message &message);
std::unique_ptr<MemorySpace> make_memory(int backend);

// Returns 0, or the code that explains why the handle cannot be used.
inline int fault_of(const cuda_opt *s) { return s ? s->failure : static_cast<int>(CUDA_OPT_MISUSE); }

// Runs an ABI function with a handle, which may be NULL. An exception is translated into a message and a code.
template <class Action> int guarded(cuda_opt *s, const Action &action) noexcept {
    return translate_exceptions(action, [s](int code, const char *words) {
        if (s) s->message().set("%s", words);
        return code;
    });
}

// Creates a handle and initialises it by fill(handle), whose failure is stored in the handle.
template <class Fill> int make_handle(cuda_opt **out, const Fill &fill) noexcept {
    if (!out) return CUDA_OPT_MISUSE;
    cuda_opt *const s = *out = new (std::nothrow) cuda_opt;
    if (!s) return CUDA_OPT_OUT_OF_MEMORY;
    return s->failure = guarded(s, [&] { return fill(*s); });
}

// Performs the checks that are common to all functions that are called before a solve starts. bits: the precision that
// the handle must have; 0: any. Returns 0, or a code and sets the message.
int before_solve(cuda_opt *s, int bits, const char *call);
// The next functions return 0, or CUDA_OPT_MISUSE and set the message. They check, respectively, that the handle has a
// solver, that the call is not made by the log callback during a step, and that a pointer is in the handle's memory
// space.
int require_solver(cuda_opt *s, const char *call);
int require_no_log(cuda_opt &s, const char *call);
int check_space(cuda_opt &s, const char *name, const void *pointer, bool may_be_null);
// Returns 0, or CUDA_OPT_MISUSE and sets the message if an array that the solve writes overlaps any other array of the
// solve. Arrays that are NULL or empty are ignored. Extent describes one array.
struct Extent {
    const char *name;
    const void *begin;
    double bytes;
};
int check_apart(cuda_opt &s, std::initializer_list<Extent> written, std::initializer_list<Extent> read);
// Checks and stores the arrays of a solve before its first call. Returns 0, or a code and sets the message.
int take_arrays(cuda_opt *s, int bits, const char *call, void *x, double *f, void *g);

// Returns the element with this key in a table of settings or results, or NULL if there is none.
template <class Row, int count> const Row *find(const Row (&table)[count], int32_t key) {
    for (const Row &row : table)
        if (row.key == key) return &row;
    return nullptr;
}
// Returns 0, or a code and sets the message if the value of an integer setting is out of range.
int check_range(cuda_opt &s, const char *name, int64_t value, int64_t least, int64_t most);
// Checks uniform bounds, which are one value each for all variables. Returns 0, or a code and sets the message.
int check_uniform_bounds(cuda_opt &s, double lower, double upper);

// Settings and results of a pattern search (search.cpp, search_options.cpp), called by cuda_opt_set_int() and similar
// functions.
int set_search_int(cuda_opt &s, int32_t key, int64_t value);
int set_search_real(cuda_opt &s, int32_t key, double value);
int get_search_int(cuda_opt &s, int32_t key, int64_t *value);
int get_search_real(cuda_opt &s, int32_t key, double *value);
int set_search_bounds(cuda_opt &s, const double *lower, const double *upper);
int set_search_stream(cuda_opt &s, void *stream);

// Settings and results of a batch (batch.cpp). Those that a batch shares with a solver are in options.cpp. The last two
// functions return NULL if the key is not a result.
int set_batch_int(cuda_opt &s, int32_t key, int64_t value);
int get_batch_int(cuda_opt &s, int32_t key, int64_t *value);
int set_batch_bounds(cuda_opt &s, int bits, const void *lower, const void *upper);
int set_batch_uniform_bounds(cuda_opt &s, int bits, double lower, double upper);
int set_batch_diagonal(cuda_opt &s, int bits, const void *diagonal);
int set_batch_stream(cuda_opt &s, void *stream);
int set_shared_int(cuda_opt &s, int32_t key, int64_t value);
int get_shared_int(cuda_opt &s, int32_t key, int64_t *value);
int64_t Results::*int_result(int32_t key);
double Results::*real_result(int32_t key);

} // namespace cudaopt
