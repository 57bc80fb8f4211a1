// What stands behind the opaque handle.
#pragma once

#include <initializer_list>
#include <memory>
#include <new>

#include "batch/batch.hpp"
#include "sweeps/backend.hpp"
#include "cuda_opt.h"
#include "boundary/translate_exceptions.hpp"
#include "pattern/search.hpp"
#include "solver/solver.hpp"

struct cuda_opt {
    int failure = 0; // why the handle could not be made, with the message; 0: it is good
    int backend = CUDA_OPT_BACKEND_HOST;
    int bits = 64;
    cudaopt::Message failure_message;
    std::unique_ptr<cudaopt::MemorySpace> memory;
    std::unique_ptr<cudaopt::Solver> solver; // one of the three, unless failure is set
    std::unique_ptr<cudaopt::Search> search;
    std::unique_ptr<cudaopt::Batch> batch;

    // To be set, and to be read.
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
    // Of a solver or a batch.
    cudaopt::Settings &settings() const { return batch ? batch->settings : solver->settings(); }
    bool started() const { return batch ? batch->started() : solver->started(); }
};

namespace cudaopt {

// The backend asked for, or a negative code with its message.
int choose_backend(int32_t asked, Message &message);
std::unique_ptr<MemorySpace> make_memory(int backend);

// 0, or why the handle is of no use.
inline int fault_of(const cuda_opt *s) { return s ? s->failure : static_cast<int>(CUDA_OPT_MISUSE); }

// A call with a handle, or NULL: what action() throws becomes the handle's message and a code.
template <class Action> int guarded(cuda_opt *s, const Action &action) noexcept {
    return translate_exceptions(action, [s](int code, const char *words) {
        if (s) s->message().set("%s", words);
        return code;
    });
}

// A new handle, filled by fill(handle), whose failures become the handle's.
template <class Fill> int make_handle(cuda_opt **out, const Fill &fill) noexcept {
    if (!out) return CUDA_OPT_MISUSE;
    cuda_opt *const s = *out = new (std::nothrow) cuda_opt;
    if (!s) return CUDA_OPT_OUT_OF_MEMORY;
    return s->failure = guarded(s, [&] { return fill(*s); });
}

// Checks that every call before a solve begins with, of a handle of this precision, 0: of any. 0, or a code with its
// message.
int before_solve(cuda_opt *s, int bits, const char *call);
// 0, or CUDA_OPT_MISUSE with its message where a handle is not the solver's, or a pointer not of its memory space.
int require_solver(cuda_opt *s, const char *call);
int require_no_log(cuda_opt &s, const char *call); // likewise where the log's function calls, in the middle of a step
int check_space(cuda_opt &s, const char *name, const void *pointer, bool may_be_null);
// 0, or CUDA_OPT_MISUSE with its message where an array that is written shares memory with any other of a solve. Those
// that are NULL, or have no elements, are none.
struct Extent {
    const char *name;
    const void *begin;
    double bytes;
};
int check_apart(cuda_opt &s, std::initializer_list<Extent> written, std::initializer_list<Extent> read);
// Before a solve: the arrays that it will work on, checked. 0, or a code with its message.
int take_arrays(cuda_opt *s, int bits, const char *call, void *x, double *f, void *g);

// The row of a table of settings or results; NULL: the key is none of them.
template <class Row, int count> const Row *find(const Row (&table)[count], int32_t key) {
    for (const Row &row : table)
        if (row.key == key) return &row;
    return nullptr;
}
// 0, or a code with its message where the value of an integer setting is out of its range.
int check_range(cuda_opt &s, const char *name, int64_t value, int64_t least, int64_t most);
// The same of bounds that are one number each for all variables.
int check_uniform_bounds(cuda_opt &s, double lower, double upper);

// A search's own settings and results (search.cpp, search_options.cpp), which cuda_opt_set_int() and its like hand on.
int set_search_int(cuda_opt &s, int32_t key, int64_t value);
int set_search_real(cuda_opt &s, int32_t key, double value);
int get_search_int(cuda_opt &s, int32_t key, int64_t *value);
int get_search_real(cuda_opt &s, int32_t key, double *value);
int set_search_bounds(cuda_opt &s, const double *lower, const double *upper);
int set_search_stream(cuda_opt &s, void *stream);

// Likewise a batch's (batch.cpp). The settings that it shares with a solver, and their results, are in options.cpp;
// NULL: the key is none of them.
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
