/* The C++17 interface of cuda_opt. Handles and arrays free themselves, one name serves both precisions, and failures
 * are exceptions. The members call the functions of cuda_opt.h, cuda_opt_batch.h and cuda_opt/ranks.h, whose
 * documentation also applies here. A program needs no further library. A complete program for f(x) =
 * sum (x_i - i)^2 / 2 in the box [0, 3]^n on the host:
 *
 * @code{.cpp}
 * #include <cuda_opt.hpp>
 * #include <cstdio>
 * #include <vector>
 *
 * int main()
 * {
 *     const std::vector<double> lower(10, 0), upper(10, 3);
 *     std::vector<double> x(10), g(10);
 *     double f;
 *
 *     cudaopt::Minimiser<double> s(10, 5, CUDA_OPT_BACKEND_HOST);
 *     s.set_bounds(lower.data(), upper.data());
 *     int task;
 *     while ((task = s.solve(x.data(), &f, g.data())) == CUDA_OPT_EVALUATE_FG) {
 *         f = 0;
 *         for (int i = 0; i < 10; i++) {
 *             g[i] = x[i] - i;
 *             f += g[i] * g[i] / 2;
 *         }
 *     }
 *     std::printf("%s\nf = %g, x[9] = %g\n", s.message(), f, x[9]);
 *     return task != CUDA_OPT_CONVERGED;
 * }
 * @endcode
 *
 * Failures. solve() does not throw: it returns the return code, because x, f and g are useful after most codes. check()
 * converts a negative code to an exception. All other members throw Error if they fail. The library behind this header
 * never throws.
 *
 * Lifetimes. A Minimiser or a Batch can be moved, but not copied. The handle and its workspace are freed when the
 * object and all arrays that were created with it have been destroyed, in any order. */
#ifndef CUDA_OPT_HPP
#define CUDA_OPT_HPP

#include "cuda_opt.h"
#include "cuda_opt/ranks.h"
#include "cuda_opt_batch.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace cudaopt {

/** The exception for a call that failed. what() returns the message of the handle, as cuda_opt_message() does. */
class Error : public std::runtime_error {
  public:
    /** Constructs the exception from a negative return code of cuda_opt.h and a message. */
    Error(int code, const std::string &sentence) : std::runtime_error(sentence), code_(code) {}
    /** Returns the negative return code, e.g. CUDA_OPT_OUT_OF_MEMORY. */
    int code() const noexcept { return code_; }

  private:
    int code_;
};

/** If the code is negative, throws Error with the message of the handle s; otherwise returns the code.
 *  @param code  the return value of the last call with the handle s */
inline int check(const cuda_opt *s, int code) {
    if (code < 0) throw Error(code, cuda_opt_message(s));
    return code;
}

/** The base class of all handles. Its members do not depend on the precision: settings, results and messages. A Handle
 *  converts to the C handle, for functions of cuda_opt.h that have no member here. An example is
 *  s.check(cuda_opt_set_log(s, write_line, nullptr)). */
class Handle {
  public:
    /** Returns the C handle, which this object continues to own. */
    operator cuda_opt *() const noexcept { return handle_.get(); }

    /** Calls cudaopt::check() with this handle: throws Error if the code is negative, otherwise returns the code. */
    int check(int code) const { return cudaopt::check(*this, code); }

    /** Changes an integer setting, as cuda_opt_set_int() does. Returns the handle, so that calls can be chained. */
    Handle &set_int(int32_t key, int64_t value) {
        check(cuda_opt_set_int(*this, key, value));
        return *this;
    }
    /** Changes a real setting, as cuda_opt_set_real() does. Returns the handle, so that calls can be chained. */
    Handle &set_real(int32_t key, double value) {
        check(cuda_opt_set_real(*this, key, value));
        return *this;
    }
    /** Returns the value of an integer setting or result. */
    int64_t get_int(int32_t key) const {
        int64_t value = 0;
        check(cuda_opt_get_int(*this, key, &value));
        return value;
    }
    /** Returns the value of a real setting or result. */
    double get_real(int32_t key) const {
        double value = 0;
        check(cuda_opt_get_real(*this, key, &value));
        return value;
    }
    /** Returns n, the number of variables. */
    int64_t dimension() const { return get_int(CUDA_OPT_DIMENSION); }
    /** Returns whether x, f, g and the bounds are in device memory. */
    bool on_cuda() const noexcept { return cuda_opt_backend(*this) == CUDA_OPT_BACKEND_CUDA; }

    /** Returns the sentence of cuda_opt_message() about the last call. */
    const char *message() const noexcept { return cuda_opt_message(*this); }

    /** Sets the CUDA stream, as cuda_opt_set_stream() does. */
    void set_stream(void *stream) { check(cuda_opt_set_stream(*this, stream)); }
    /** As cuda_opt_reset(). */
    void reset() { check(cuda_opt_reset(*this)); }
    /** Calls cuda_opt_warm_start(): the next solve begins with the correction pairs of the last one. */
    void warm_start() { check(cuda_opt_warm_start(*this)); }
    /** Returns the checkpoint that cuda_opt_save() writes. */
    std::vector<unsigned char> save() const {
        int64_t bytes = 0;
        check(cuda_opt_save(*this, nullptr, &bytes));
        std::vector<unsigned char> checkpoint(static_cast<std::size_t>(bytes));
        check(cuda_opt_save(*this, checkpoint.data(), &bytes));
        return checkpoint;
    }
    /** Waits for the stream, as cuda_opt_synchronize() does. */
    void synchronize() const { check(cuda_opt_synchronize(*this)); }
    /** Makes this handle a rank, as cuda_opt_set_ranks() does: the handle has n of the variables, from variable `first`
     *  on. */
    void set_ranks(int32_t rank, int32_t ranks, int64_t first, int64_t n) {
        check(cuda_opt_set_ranks(*this, rank, ranks, first, n));
        own_ = n;
    }
    /** Returns the number of variables that this handle stores: n, or for a rank the number that set_ranks()
     *  received. */
    int64_t own_dimension() const noexcept { return own_; }
    /** Requests that the solve stop, as cuda_opt_request_stop() does. Any thread may call this member. */
    void request_stop() { check(cuda_opt_request_stop(*this)); }

  protected:
    /** Creates the C handle by create(&handle, arguments...). `create` is one of the functions that create a handle.
     *  @throws Error if create returns a negative code */
    template <class Create, class... Arguments> Handle(int64_t n, Create *create, Arguments... arguments) : own_(n) {
        cuda_opt *handle = nullptr;
        const int code = create(&handle, arguments...);
        handle_.reset(handle, [](cuda_opt *s) { cuda_opt_destroy(&s); });
        check(code);
    }
    ~Handle() = default;
    /** The move constructor transfers the ownership of the C handle. */
    Handle(Handle &&) = default;
    /** The move assignment transfers the ownership of the C handle. */
    Handle &operator=(Handle &&) = default;

  private:
    template <class T> friend class Array;
    std::shared_ptr<cuda_opt> handle_;
    int64_t own_;
};

/** An array in the memory space of a handle. Its destructor frees the memory. */
template <class T> class Array {
  public:
    /** Allocates `size` values, which are not initialised.
     *  @throws Error with CUDA_OPT_OUT_OF_MEMORY if the values do not fit into memory */
    Array(const Handle &handle, int64_t size) : size_(size), data_(nullptr, Free{handle.handle_}) {
        if (size < 0 || size > std::numeric_limits<int64_t>::max() / width)
            throw Error(CUDA_OPT_OUT_OF_MEMORY,
                        "out of memory: an array of " + std::to_string(size) + " values was requested");
        void *memory = nullptr;
        handle.check(cuda_opt_alloc(handle, &memory, size * width));
        data_.reset(static_cast<T *>(memory));
    }
    /** Allocates an array and copies values from host memory to it. */
    Array(const Handle &handle, const std::vector<T> &values) : Array(handle, static_cast<int64_t>(values.size())) {
        write(0, values.data(), size_);
    }

    /** Returns the number of values. */
    int64_t size() const noexcept { return size_; }
    /** Returns the address of the values; on CUDA it is an address in device memory. */
    T *data() const noexcept { return data_.get(); }

    /** Copies `count` values from host memory to the elements first, first + 1, ..., counted from 0. The copy is
     *  complete on return. */
    void write(int64_t first, const T *values, int64_t count) {
        check_range(first, count);
        check(handle(), cuda_opt_copy_in(handle(), data() + first, values, count * width));
    }
    /** Copies the elements first, first + 1, ..., counted from 0, to `count` values in host memory. The copy is
     *  complete on return. */
    void read(int64_t first, T *values, int64_t count) const {
        check_range(first, count);
        check(handle(), cuda_opt_copy_out(handle(), values, data() + first, count * width));
    }
    /** Returns a copy of all values in host memory. */
    std::vector<T> to_host() const {
        std::vector<T> values(static_cast<std::size_t>(size_));
        read(0, values.data(), size_);
        return values;
    }

  private:
    static constexpr int64_t width = sizeof(T);

    struct Free {
        std::shared_ptr<cuda_opt> handle;
        void operator()(T *data) const noexcept { cuda_opt_free(handle.get(), data); }
    };
    cuda_opt *handle() const noexcept { return data_.get_deleter().handle.get(); }
    void check_range(int64_t first, int64_t count) const {
        if (first < 0 || count < 0 || first > size_ || count > size_ - first)
            throw Error(CUDA_OPT_IMPROPER_INPUT, std::to_string(count) + " elements from element " +
                                                     std::to_string(first) + " on are not in the array, which has " +
                                                     std::to_string(size_));
    }

    int64_t size_;
    std::unique_ptr<T, Free> data_;
};

/** A handle for one precision, with the functions whose arrays have this precision. Real is double or float. */
template <class Real> class HandleOf : public Handle {
  public:
    /** Sets the bounds, as cuda_opt_set_bounds() does. The arrays remain yours, and must not be freed before the solve
     *  ends. */
    void set_bounds(const Real *lower, const Real *upper) {
        if constexpr (single) check(cuda_opt_set_bounds_f32(*this, lower, upper));
        else check(cuda_opt_set_bounds(*this, lower, upper));
    }
    /** Sets the lower and the upper bounds from arrays of this handle. */
    void set_bounds(const Array<Real> &lower, const Array<Real> &upper) { set_bounds(lower.data(), upper.data()); }

    /** Sets the same bounds for all variables, as cuda_opt_set_uniform_bounds() does. */
    void set_uniform_bounds(Real lower, Real upper) {
        if constexpr (single) check(cuda_opt_set_uniform_bounds_f32(*this, lower, upper));
        else check(cuda_opt_set_uniform_bounds(*this, lower, upper));
    }

    /** Sets the array for the diagonal of H0, as cuda_opt_set_diagonal() does. In a batch it has n values that all
     *  problems share. */
    void set_diagonal(const Real *diagonal) {
        if constexpr (single) check(cuda_opt_set_diagonal_f32(*this, diagonal));
        else check(cuda_opt_set_diagonal(*this, diagonal));
    }

  protected:
    using Handle::Handle;
    /** True if Real is float. */
    static constexpr bool single = std::is_same_v<Real, float>;
    static_assert(single || std::is_same_v<Real, double>, "x and g are float or double");
};

/** Minimises f(x) subject to l <= x <= u. x, g, the bounds and the history have the type Real, which is double or
 *  float. */
template <class Real> class Minimiser : public HandleOf<Real> {
    using HandleOf<Real>::single;

  public:
    using Handle::check;

    /** Creates the handle by cuda_opt_create() if Real is double, by cuda_opt_create_f32() if it is float. */
    Minimiser(int64_t n, int32_t m, int32_t backend = CUDA_OPT_BACKEND_AUTO)
        : HandleOf<Real>(n, single ? cuda_opt_create_f32 : cuda_opt_create, n, m, backend) {}

    /** Sets typical sizes of the variables, as cuda_opt_set_scales() does. The array is in the handle's memory
     *  space. */
    void set_scales(const Real *scales) {
        if constexpr (single) check(cuda_opt_set_scales_f32(*this, scales));
        else check(cuda_opt_set_scales(*this, scales));
    }
    /** Sets one typical size for all variables, as cuda_opt_set_uniform_scale() does. */
    void set_uniform_scale(double scale) { check(cuda_opt_set_uniform_scale(*this, scale)); }

    /** Calls cuda_opt_set_operator(): sets the arrays of the task CUDA_OPT_APPLY_OPERATOR, in the handle's memory
     * space. */
    void set_operator(Real *in, Real *out, Real *is_free) {
        if constexpr (single) check(cuda_opt_set_operator_f32(*this, in, out, is_free));
        else check(cuda_opt_set_operator(*this, in, out, is_free));
    }
    /** Returns the diagonal of H0 from cuda_opt_get_diagonal(): own_dimension() values. */
    std::vector<Real> diagonal() const {
        std::vector<Real> values(static_cast<std::size_t>(this->own_dimension()));
        if constexpr (single) check(cuda_opt_get_diagonal_f32(*this, values.data()));
        else check(cuda_opt_get_diagonal(*this, values.data()));
        return values;
    }

    /** Makes one step of the gradient check, as cuda_opt_check_gradient() does. Returns CUDA_OPT_EVALUATE_FG, 0 at the
     *  end, or a negative code. Does not throw. */
    int check_gradient(Array<Real> &x, Array<double> &f, Array<Real> &g, int64_t seed = 0,
                       bool find_component = true) noexcept {
        if constexpr (single)
            return cuda_opt_check_gradient_f32(*this, x.data(), f.data(), g.data(), seed, find_component);
        else return cuda_opt_check_gradient(*this, x.data(), f.data(), g.data(), seed, find_component);
    }

    /** Continues the solve, as cuda_opt_solve() does. Returns a task > 0, CUDA_OPT_CONVERGED, or a negative code. Does
     *  not throw. */
    int solve(Real *x, double *f, Real *g) noexcept {
        if constexpr (single) return cuda_opt_solve_f32(*this, x, f, g);
        else return cuda_opt_solve(*this, x, f, g);
    }
    /** Continues the solve in the same way, with arrays of this handle. */
    int solve(Array<Real> &x, Array<double> &f, Array<Real> &g) noexcept { return solve(x.data(), f.data(), g.data()); }
    /** Continues from a checkpoint of save(), as cuda_opt_load() does. */
    void load(const std::vector<unsigned char> &checkpoint, Real *x, double *f, Real *g) {
        const auto bytes = static_cast<int64_t>(checkpoint.size());
        if constexpr (single) check(cuda_opt_load_f32(*this, checkpoint.data(), bytes, x, f, g));
        else check(cuda_opt_load(*this, checkpoint.data(), bytes, x, f, g));
    }
};

/** Minimises many small problems of n variables each, independently of each other. cuda_opt_batch.h has an example of
 *  the loop. Members of the base classes that cuda_opt_batch.h does not list throw Error with CUDA_OPT_MISUSE. Real is
 *  double or float. */
template <class Real> class Batch : public HandleOf<Real> {
    using HandleOf<Real>::single;

  public:
    using Handle::check;

    /** Creates the batch by cuda_opt_create_batch() if Real is double, by cuda_opt_create_batch_f32() if it is
     *  float. */
    Batch(int64_t n, int64_t count, int32_t m, int32_t backend = CUDA_OPT_BACKEND_AUTO)
        : HandleOf<Real>(n, single ? cuda_opt_create_batch_f32 : cuda_opt_create_batch, n, count, m, backend) {}

    /** Sets the bounds of each problem, as cuda_opt_batch_set_bounds() does. The arrays have `count` rows of n values;
     *  the arrays of set_bounds() have n values that all problems share. The arrays remain yours, and must not be freed
     *  before the batch ends. */
    void set_bounds_of_each(const Real *lower, const Real *upper) {
        if constexpr (single) check(cuda_opt_batch_set_bounds_f32(*this, lower, upper));
        else check(cuda_opt_batch_set_bounds(*this, lower, upper));
    }
    /** Sets the lower and the upper bounds of each problem from arrays of this handle. */
    void set_bounds_of_each(const Array<Real> &lower, const Array<Real> &upper) {
        set_bounds_of_each(lower.data(), upper.data());
    }

    /** Sets the array for the diagonal of H0 of each problem, as cuda_opt_batch_set_diagonal() does. The array has
     *  `count` rows of n values, which you fill together with f and g. */
    void set_diagonal_of_each(const Real *diagonal) {
        if constexpr (single) check(cuda_opt_batch_set_diagonal_f32(*this, diagonal));
        else check(cuda_opt_batch_set_diagonal(*this, diagonal));
    }

    /** Continues the batch, as cuda_opt_batch_solve() does. Returns CUDA_OPT_EVALUATE_BATCH, CUDA_OPT_CONVERGED, or a
     *  negative code. Does not throw. All arrays are in the handle's memory space.
     *  @param x  `count` rows of n values
     *  @param f  `count` values
     *  @param g  `count` rows of n values */
    int solve(Real *x, double *f, Real *g) noexcept {
        if constexpr (single) return cuda_opt_batch_solve_f32(*this, x, f, g);
        else return cuda_opt_batch_solve(*this, x, f, g);
    }
    /** Continues the batch in the same way, with arrays of this handle. */
    int solve(Array<Real> &x, Array<double> &f, Array<Real> &g) noexcept { return solve(x.data(), f.data(), g.data()); }

    /** Returns the number of problems. */
    int64_t count() const { return this->get_int(CUDA_OPT_BATCH_COUNT); }
    /** Returns the number of problems to evaluate now. */
    int64_t active() const { return this->get_int(CUDA_OPT_BATCH); }
    /** Returns the indices of the problems to evaluate now, as cuda_opt_batch_active() does: active() values in the
     *  handle's memory space, or NULL if there are none. */
    const int64_t *active_problems() const noexcept { return cuda_opt_batch_active(*this); }

    /** Returns an integer result of each problem, as cuda_opt_batch_get_int() does. */
    std::vector<int64_t> integers(int32_t key) const {
        std::vector<int64_t> values(static_cast<std::size_t>(count()));
        check(cuda_opt_batch_get_int(*this, key, values.data()));
        return values;
    }
    /** Returns a real result of each problem, as cuda_opt_batch_get_real() does. */
    std::vector<double> reals(int32_t key) const {
        std::vector<double> values(static_cast<std::size_t>(count()));
        check(cuda_opt_batch_get_real(*this, key, values.data()));
        return values;
    }
    /** Returns the sentence of cuda_opt_batch_message() about one problem. The problems are counted from 0. */
    const char *message_of(int64_t problem) const noexcept { return cuda_opt_batch_message(*this, problem); }
};

} // namespace cudaopt
#endif
