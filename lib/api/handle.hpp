// This header defines the object to which the opaque handle of the C ABI points.
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
    // The return code of a creation that failed; its message is in failure_message. It is 0 if the handle is valid.
    int failure = 0;
    int backend = CUDA_OPT_BACKEND_HOST;
    int bits = 64;
    cudaopt::Message failure_message;
    std::unique_ptr<cudaopt::MemorySpace> memory;
    // Exactly one of the members solver, search and batch is not NULL, unless the creation failed.
    std::unique_ptr<cudaopt::Solver> solver;
    std::unique_ptr<cudaopt::Search> search;
    std::unique_ptr<cudaopt::Batch> batch;
    std::unique_ptr<cudaopt::GradientCheck> check; // The gradient check that is in progress; NULL if there is none.
    cudaopt::GradientCheck::Result check_result;   // The result of the last gradient check.
    bool checked = false;                          // True if a gradient check has been completed.

    // The next two functions return the message of the handle, for writing and for reading.
    cudaopt::Message &message() {
        return solver ? solver->new_message() : search ? search->message : batch ? batch->message : failure_message;
    }
    const cudaopt::Message &message() const {
        return solver ? solver->message() : search ? search->message : batch ? batch->message : failure_message;
    }
    // The part of the names of functions that those for a single solve do not have.
    const char *prefix() const { return search ? "search_" : batch ? "batch_" : ""; }
    void *&stream() const { return search ? search->stream : batch ? batch->stream : solver->stream; }
    std::atomic<bool> &stop_requested() const {
        return search ? search->stop_requested : batch ? batch->stop_requested : solver->stop_requested;
    }
    // Returns the settings. The handle must have a solver or a batch, not a search.
    cudaopt::Settings &settings() const { return batch ? batch->settings : solver->settings(); }
    bool started() const { return search ? search->started() : batch ? batch->started() : solver->started(); }
};

namespace cudaopt {

// The functions below that return an int return 0, or set the message and return a negative code.

// Sets the backend and the memory space of a new handle. `wanted` is the argument `backend` of the public functions.
int choose_backend(cuda_opt &s, int32_t wanted);

// Returns 0 if the handle is valid, otherwise the code that states why it cannot be used.
inline int fault_of(const cuda_opt *s) { return s ? s->failure : static_cast<int>(CUDA_OPT_MISUSE); }

// Calls action(), the body of a function of the C ABI. An exception is translated into a message of the handle, which
// may be NULL, and a return code.
template <class Action> int guarded(cuda_opt *s, const Action &action) noexcept {
    return translate_exceptions(action, [s](int code, const char *words) {
        if (s) s->message().set("%s", words);
        return code;
    });
}

// Returns function(s, arguments...), the body of a function of the C ABI, guarded as above.
template <class... Parameters, class... Arguments>
int call(cuda_opt *s, int (*function)(cuda_opt *, Parameters...), Arguments... arguments) noexcept {
    return guarded(s, [=] { return function(s, arguments...); });
}

// Creates a handle and initialises it by fill(handle). If fill() fails, the handle stores the failure.
template <class Fill> int make_handle(cuda_opt **out, const Fill &fill) noexcept {
    if (!out) return CUDA_OPT_MISUSE;
    cuda_opt *const s = *out = new (std::nothrow) cuda_opt;
    if (!s) return CUDA_OPT_OUT_OF_MEMORY;
    return s->failure = guarded(s, [&] { return fill(*s); });
}

// Perform the checks that are common to all functions that are called before a solve starts. `bits` is the precision
// that the handle must have; 0 permits any. before_start() is for all valid handles, before_solve() for those of single
// solves.
int before_start(cuda_opt &s, int bits, const char *call);
int before_solve(cuda_opt *s, int bits, const char *call);
// require_solver() checks that the handle is for a single solve. require_no_log() checks that the call does not come
// from the handle's log function, which may only read results and settings, change settings, and set another log
// function. check_space() checks that a pointer is in the handle's memory space.
int require_solver(cuda_opt *s, const char *call);
int require_no_log(cuda_opt &s, const char *call);
int check_space(cuda_opt &s, const char *name, const void *pointer, bool may_be_null);
// Checks that no array that the solve writes overlaps another array of the solve. Arrays that are NULL or empty are
// ignored. Extent describes one array.
struct Extent {
    const char *name;
    const void *begin;
    double bytes;
    bool written = false;
};
int check_apart(cuda_opt &s, std::initializer_list<Extent> arrays);
// Checks and stores the arrays of a solve before its first call.
int take_arrays(cuda_opt *s, int bits, const char *call, void *x, double *f, void *g);

// If the initial Hessian is an operator, checks that the solve has no property that does not allow for one
// (operator.cpp).
int check_operator(cuda_opt &s);

// Returns the row with this key in a table of settings or results, or NULL if there is none.
template <class Row, int count> const Row *find(const Row (&table)[count], int32_t key) {
    for (const Row &row : table)
        if (row.key == key) return &row;
    return nullptr;
}
// Checks that the value of an integer setting is in the range from `least` to `most`.
int check_range(cuda_opt &s, const char *name, int64_t value, int64_t least, int64_t most);

// The next functions access settings and results of a pattern search (search.cpp).
// cuda_opt_set_int() and similar functions call them if the handle is for a search.
int set_search_int(cuda_opt &s, int32_t key, int64_t value);
int set_search_real(cuda_opt &s, int32_t key, double value);
int get_search_int(cuda_opt &s, int32_t key, int64_t *value);
int get_search_real(cuda_opt &s, int32_t key, double *value);
int set_search_bounds(cuda_opt &s, const double *lower, const double *upper);

// The next functions access settings and results of a batch (batch.cpp). `call` is the name of the public function. If
// `for_each` is true, the arrays contain n elements for each problem. Otherwise all problems share n elements. Four of
// the functions are in options.cpp, because a single solve uses them as well: set_shared_int(), get_shared_int(),
// int_result() and real_result(). The last two return NULL if the key is not that of a result.
int set_batch_int(cuda_opt &s, int32_t key, int64_t value);
int get_batch_int(cuda_opt &s, int32_t key, int64_t *value);
int set_batch_bounds(cuda_opt *s, const char *call, int bits, const void *lower, const void *upper, bool for_each);
int set_batch_diagonal(cuda_opt *s, const char *call, int bits, const void *diagonal, bool for_each);
int set_shared_int(cuda_opt &s, int32_t key, int64_t value);
int get_shared_int(cuda_opt &s, int32_t key, int64_t *value);
int64_t Results::*int_result(int32_t key);
double Results::*real_result(int32_t key);

} // namespace cudaopt
