/* cuda_opt in C++17: handles and arrays that free themselves, one name for both precisions, failures as exceptions.
 * Nothing but cuda_opt.h and cuda_opt_batch.h stands behind it, nothing is linked in addition, and these document what
 * it calls.
 * The whole protocol, for f(x) = sum (x_i - i)^2 / 2 in the box [0, 3]^n on the host:
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
 * Failures. solve() throws nothing: how a solve ends is its result, and x, f and g are worth having after most ends.
 * check() makes an exception of such an end where that is wanted. All else throws Error. The library itself never
 * throws, and no exception passes through it.
 *
 * Lifetimes. A Minimiser or a Batch can be moved, not copied. The handle with its workspace is freed when it and all
 * arrays made with it are gone, in whichever order they go. */
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

/** A call that failed: what() is the handle's sentence. */
class Error : public std::runtime_error {
  public:
    /** A negative code of cuda_opt.h, and a sentence. */
    Error(int code, const std::string &sentence) : std::runtime_error(sentence), code_(code) {}
    /** The negative code, e.g. CUDA_OPT_OUT_OF_MEMORY. */
    int code() const noexcept { return code_; }

  private:
    int code_;
};

/** Throw Error with the handle's sentence for a negative code; else hand the code back.
 *  @param code  what the last call with this handle returned */
inline int check(const cuda_opt *s, int code) {
    if (code < 0) throw Error(code, cuda_opt_message(s));
    return code;
}

/** A handle without its precision: settings, results, texts. It converts to the C handle, and so goes where the
 *  functions of cuda_opt.h that have no member here expect one: s.check(cuda_opt_set_log(s, write_line, nullptr)). */
class Handle {
  public:
    /** The C handle, which stays this object's. */
    operator cuda_opt *() const noexcept { return handle_.get(); }

    /** cudaopt::check() with this handle. */
    int check(int code) const { return cudaopt::check(*this, code); }

    /** As cuda_opt_set_int(); returns the handle, so that settings can follow one another. */
    Handle &set_int(int32_t key, int64_t value) {
        check(cuda_opt_set_int(*this, key, value));
        return *this;
    }
    /** As cuda_opt_set_real(); returns the handle, so that settings can follow one another. */
    Handle &set_real(int32_t key, double value) {
        check(cuda_opt_set_real(*this, key, value));
        return *this;
    }
    /** The setting or result of an integer key. */
    int64_t get_int(int32_t key) const {
        int64_t value = 0;
        check(cuda_opt_get_int(*this, key, &value));
        return value;
    }
    /** The setting or result of a real key. */
    double get_real(int32_t key) const {
        double value = 0;
        check(cuda_opt_get_real(*this, key, &value));
        return value;
    }
    /** n, the number of variables. */
    int64_t dimension() const { return get_int(CUDA_OPT_DIMENSION); }
    /** Whether x, f, g and the bounds lie in device memory. */
    bool on_cuda() const noexcept { return cuda_opt_backend(*this) == CUDA_OPT_BACKEND_CUDA; }

    /** As cuda_opt_message(). */
    const char *message() const noexcept { return cuda_opt_message(*this); }

    /** As cuda_opt_set_stream(). */
    void set_stream(void *stream) { check(cuda_opt_set_stream(*this, stream)); }
    /** As cuda_opt_reset(). */
    void reset() { check(cuda_opt_reset(*this)); }
    /** As cuda_opt_warm_start(): the next solve begins with the pairs of the last. */
    void warm_start() { check(cuda_opt_warm_start(*this)); }
    /** The checkpoint that cuda_opt_save() makes. */
    std::vector<unsigned char> save() const {
        int64_t bytes = 0;
        check(cuda_opt_save(*this, nullptr, &bytes));
        std::vector<unsigned char> checkpoint(static_cast<std::size_t>(bytes));
        check(cuda_opt_save(*this, checkpoint.data(), &bytes));
        return checkpoint;
    }
    /** As cuda_opt_synchronize(). */
    void synchronize() const { check(cuda_opt_synchronize(*this)); }
    /** As cuda_opt_set_ranks(): the handle holds n of the variables, from first on. */
    void set_ranks(int32_t rank, int32_t ranks, int64_t first, int64_t n) {
        check(cuda_opt_set_ranks(*this, rank, ranks, first, n));
        own_ = n;
    }
    /** How many variables the handle holds: n, or of a rank those that set_ranks() has given it. */
    int64_t own_dimension() const noexcept { return own_; }
    /** As cuda_opt_request_stop(): safe from any thread. */
    void request_stop() { check(cuda_opt_request_stop(*this)); }

  protected:
    /** One of the functions that make a handle, and what follows its first argument.
     *  @throws Error with what create returns where that is negative */
    template <class Create, class... Arguments> Handle(int64_t n, Create *create, Arguments... arguments) : own_(n) {
        cuda_opt *handle = nullptr;
        const int code = create(&handle, arguments...);
        handle_.reset(handle, [](cuda_opt *s) { cuda_opt_destroy(&s); });
        check(code);
    }
    ~Handle() = default;
    /** The handle changes its owner. */
    Handle(Handle &&) = default;
    /** The handle changes its owner. */
    Handle &operator=(Handle &&) = default;

  private:
    template <class T> friend class Array;
    std::shared_ptr<cuda_opt> handle_;
    int64_t own_;
};

/** size values in the handle's memory space, not initialised. */
template <class T> class Array {
  public:
    /** @throws Error with CUDA_OPT_OUT_OF_MEMORY where they do not fit */
    Array(const Handle &handle, int64_t size) : size_(size), data_(nullptr, Free{handle.handle_}) {
        if (size < 0 || size > std::numeric_limits<int64_t>::max() / width)
            throw Error(CUDA_OPT_OUT_OF_MEMORY, "out of memory: no machine holds " + std::to_string(size) + " values");
        void *memory = nullptr;
        handle.check(cuda_opt_alloc(handle, &memory, size * width));
        data_.reset(static_cast<T *>(memory));
    }
    /** A copy of host values. */
    Array(const Handle &handle, const std::vector<T> &values) : Array(handle, static_cast<int64_t>(values.size())) {
        write(0, values.data(), size_);
    }

    /** How many values there are. */
    int64_t size() const noexcept { return size_; }
    /** Where the values are: in device memory on CUDA. */
    T *data() const noexcept { return data_.get(); }

    /** Copy count values from host memory, to the first-th (from 0) and those after it. Complete on return. */
    void write(int64_t first, const T *values, int64_t count) {
        check_range(first, count);
        check(handle(), cuda_opt_copy_in(handle(), data() + first, values, count * width));
    }
    /** Copy count values to host memory, from the first-th (from 0) and those after it. Complete on return. */
    void read(int64_t first, T *values, int64_t count) const {
        check_range(first, count);
        check(handle(), cuda_opt_copy_out(handle(), values, data() + first, count * width));
    }
    /** All values, copied to the host. */
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
            throw Error(CUDA_OPT_IMPROPER_INPUT, std::to_string(count) + " values from number " +
                                                     std::to_string(first) + " on: the array has " +
                                                     std::to_string(size_));
    }

    int64_t size_;
    std::unique_ptr<T, Free> data_;
};

/** A handle with its precision, and the bounds. Real: double or float. */
template <class Real> class HandleOf : public Handle {
  public:
    /** As cuda_opt_set_bounds(); the arrays stay the caller's, and must live until the solve ends. */
    void set_bounds(const Real *lower, const Real *upper) {
        if constexpr (single) check(cuda_opt_set_bounds_f32(*this, lower, upper));
        else check(cuda_opt_set_bounds(*this, lower, upper));
    }
    /** Bounds on both sides. */
    void set_bounds(const Array<Real> &lower, const Array<Real> &upper) { set_bounds(lower.data(), upper.data()); }

    /** As cuda_opt_set_uniform_bounds(): one number a side for all variables. */
    void set_uniform_bounds(Real lower, Real upper) {
        if constexpr (single) check(cuda_opt_set_uniform_bounds_f32(*this, lower, upper));
        else check(cuda_opt_set_uniform_bounds(*this, lower, upper));
    }

    /** As cuda_opt_set_diagonal(); of a batch, one row for all problems. */
    void set_diagonal(const Real *diagonal) {
        if constexpr (single) check(cuda_opt_set_diagonal_f32(*this, diagonal));
        else check(cuda_opt_set_diagonal(*this, diagonal));
    }

  protected:
    using Handle::Handle;
    /** Whether Real is float. */
    static constexpr bool single = std::is_same_v<Real, float>;
    static_assert(single || std::is_same_v<Real, double>, "x and g are float or double");
};

/** minimise f(x) subject to l <= x <= u; x, g, the bounds and the history are Real: double or float. */
template <class Real> class Minimiser : public HandleOf<Real> {
    using HandleOf<Real>::single;

  public:
    using Handle::check;

    /** As cuda_opt_create() and cuda_opt_create_f32(). */
    Minimiser(int64_t n, int32_t m, int32_t backend = CUDA_OPT_BACKEND_AUTO)
        : HandleOf<Real>(n, single ? cuda_opt_create_f32 : cuda_opt_create, n, m, backend) {}

    /** The diagonal of H0 that cuda_opt_get_diagonal() tells, own_dimension() values. */
    std::vector<Real> diagonal() const {
        std::vector<Real> values(static_cast<std::size_t>(this->own_dimension()));
        if constexpr (single) check(cuda_opt_get_diagonal_f32(*this, values.data()));
        else check(cuda_opt_get_diagonal(*this, values.data()));
        return values;
    }

    /** As cuda_opt_solve(): a task > 0, CUDA_OPT_CONVERGED, or a negative code. Throws nothing. */
    int solve(Real *x, double *f, Real *g) noexcept {
        if constexpr (single) return cuda_opt_solve_f32(*this, x, f, g);
        else return cuda_opt_solve(*this, x, f, g);
    }
    /** The same, with arrays of this handle. */
    int solve(Array<Real> &x, Array<double> &f, Array<Real> &g) noexcept { return solve(x.data(), f.data(), g.data()); }
    /** As cuda_opt_load(): on from a checkpoint of save(). */
    void load(const std::vector<unsigned char> &checkpoint, Real *x, double *f, Real *g) {
        const auto bytes = static_cast<int64_t>(checkpoint.size());
        if constexpr (single) check(cuda_opt_load_f32(*this, checkpoint.data(), bytes, x, f, g));
        else check(cuda_opt_load(*this, checkpoint.data(), bytes, x, f, g));
    }
};

/** Many small problems of n variables each, minimised each for itself: cuda_opt_batch.h, which has an example of the
 *  loop. What is not for a batch there throws Error with CUDA_OPT_MISUSE here. Real as for Minimiser. */
template <class Real> class Batch : public HandleOf<Real> {
    using HandleOf<Real>::single;

  public:
    using Handle::check;

    /** As cuda_opt_create_batch() and cuda_opt_create_batch_f32(). */
    Batch(int64_t n, int64_t count, int32_t m, int32_t backend = CUDA_OPT_BACKEND_AUTO)
        : HandleOf<Real>(n, single ? cuda_opt_create_batch_f32 : cuda_opt_create_batch, n, count, m, backend) {}

    /** As cuda_opt_batch_set_bounds(): count rows of n, where set_bounds() has n for all problems alike; the arrays
     *  stay the caller's, and must live until the batch ends. */
    void set_bounds_of_each(const Real *lower, const Real *upper) {
        if constexpr (single) check(cuda_opt_batch_set_bounds_f32(*this, lower, upper));
        else check(cuda_opt_batch_set_bounds(*this, lower, upper));
    }
    /** Bounds on both sides. */
    void set_bounds_of_each(const Array<Real> &lower, const Array<Real> &upper) {
        set_bounds_of_each(lower.data(), upper.data());
    }

    /** As cuda_opt_batch_set_diagonal(): count rows of n, to be filled with f and g. */
    void set_diagonal_of_each(const Real *diagonal) {
        if constexpr (single) check(cuda_opt_batch_set_diagonal_f32(*this, diagonal));
        else check(cuda_opt_batch_set_diagonal(*this, diagonal));
    }

    /** As cuda_opt_batch_solve(): CUDA_OPT_EVALUATE_BATCH, CUDA_OPT_CONVERGED, or a negative code. Throws nothing.
     *  @param x  count rows of n, in the handle's memory space
     *  @param f  count values there
     *  @param g  count rows of n there */
    int solve(Real *x, double *f, Real *g) noexcept {
        if constexpr (single) return cuda_opt_batch_solve_f32(*this, x, f, g);
        else return cuda_opt_batch_solve(*this, x, f, g);
    }
    /** The same, with arrays of this handle. */
    int solve(Array<Real> &x, Array<double> &f, Array<Real> &g) noexcept { return solve(x.data(), f.data(), g.data()); }

    /** How many problems there are. */
    int64_t count() const { return this->get_int(CUDA_OPT_BATCH_COUNT); }
    /** How many of them are to be evaluated now. */
    int64_t active() const { return this->get_int(CUDA_OPT_BATCH); }
    /** Which they are, as cuda_opt_batch_active(): active() numbers in the handle's memory space; NULL where none are.
     */
    const int64_t *active_problems() const noexcept { return cuda_opt_batch_active(*this); }

    /** An integer result of each problem, as cuda_opt_batch_get_int(). */
    std::vector<int64_t> integers(int32_t key) const {
        std::vector<int64_t> values(static_cast<std::size_t>(count()));
        check(cuda_opt_batch_get_int(*this, key, values.data()));
        return values;
    }
    /** A real result of each problem, as cuda_opt_batch_get_real(). */
    std::vector<double> reals(int32_t key) const {
        std::vector<double> values(static_cast<std::size_t>(count()));
        check(cuda_opt_batch_get_real(*this, key, values.data()));
        return values;
    }
    /** How a problem, counted from 0, has ended, in words: as cuda_opt_batch_message(). */
    const char *message_of(int64_t problem) const noexcept { return cuda_opt_batch_message(*this, problem); }
};

} // namespace cudaopt
#endif
