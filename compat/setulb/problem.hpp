// This header declares one problem of setulb: a handle of cuda_opt with copies of the caller's x, f, g and bounds in
// the handle's memory space.
#pragma once

#include <cstdint>

#include "cuda_opt.h"
#include "boundary/message.hpp"
#include "call.hpp"

namespace cudaopt::drop_in {

// Throws if the code is one of the negative return codes of cuda_opt.h, which end the solve.
inline void check(int code) {
    if (code < 0) throw BackendFailure(code, "");
}

struct Handle {
    cuda_opt *s = nullptr;
    Handle() = default;
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() { cuda_opt_destroy(&s); }
};

// An array in the memory space of a handle. It must be destroyed before the handle.
class Array {
  public:
    explicit Array(const Handle &handle) : handle_(handle) {}
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array() { cuda_opt_free(handle_.s, data_); }
    double *get() const { return static_cast<double *>(data_); }
    void allocate(int64_t count) {
        if (!data_) check(cuda_opt_alloc(handle_.s, &data_, bytes(count)));
    }
    void put(const double *values, int64_t count) { check(cuda_opt_copy_in(handle_.s, data_, values, bytes(count))); }
    void get(double *values, int64_t count) const { check(cuda_opt_copy_out(handle_.s, values, data_, bytes(count))); }

  private:
    static int64_t bytes(int64_t count) { return count * static_cast<int64_t>(sizeof(double)); }
    const Handle &handle_;
    void *data_ = nullptr;
};

// A solve by a handle of cuda_opt. All member functions except the destructor may throw BackendFailure.
class Problem {
  public:
    Problem(int n, int m, int backend);

    bool of_size(int n, int m) const { return n == n_ && m == m_; }
    bool fits(int n, int m, int backend) const { return of_size(n, m) && backend == backend_; }
    // Starts a solve at x, and runs until f and g are requested. The history is empty, or it is retained: it then
    // contains the correction pairs of the previous solve.
    enum class History { empty, retained };
    void start(const Call &call, const double *x, History history);
    void put(double f, const double *g) { put_f_ = f, f_.put(&f, 1), g_.put(g, n_); }
    double f() const { return put_f_; } // Returns the value of f that the last call of put() stored.
    void get_x(double *x) const { x_.get(x, n_); }
    int solve() {
        at_start_ = false;
        return cuda_opt_solve(handle_.s, x_.get(), f_.get(), g_.get());
    }
    bool at_start() const { return at_start_; } // Returns whether the first evaluation is still pending.
    bool shows_pairs() const { return shows_pairs_; }

    int64_t count(int key) const;
    double measure(int key) const;
    // The next functions return whether the number of skipped updates, or of dropped histories, has increased since the
    // previous call of the same function.
    bool skipped_update() { return grown(CUDA_OPT_SKIPPED_UPDATES, skipped_); }
    bool dropped_history() { return grown(CUDA_OPT_REFRESHES, refreshes_); }

    int64_t ticket = 0;
    int stamp = 0;
    // The beginning and the end of the caller's array wa in the last call.
    const double *wa = nullptr, *wa_end = nullptr;

  private:
    void set_bounds(const Call &call);
    bool grown(int key, int64_t &seen);

    const int n_, m_, backend_;
    Handle handle_;
    Array x_{handle_}, f_{handle_}, g_{handle_}, lower_{handle_}, upper_{handle_};
    int64_t skipped_ = 0, refreshes_ = 0;
    double put_f_ = 0;
    bool at_start_ = false, shows_pairs_ = false;
};

} // namespace cudaopt::drop_in
