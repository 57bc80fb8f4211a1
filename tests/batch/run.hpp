// A whole batch by reverse communication, on either backend and in either precision, with functions on the host.
#pragma once

#include <cstring>
#include <stdexcept>

#include "../support/harness.hpp"
#include "cuda_opt_batch.h"

namespace cudaopt_test {

template <class Real> struct BatchAbi;
template <> struct BatchAbi<double> {
    static constexpr auto create = cuda_opt_create_batch;
    static constexpr auto set_bounds = cuda_opt_batch_set_bounds;
    static constexpr auto set_common_bounds = cuda_opt_set_bounds;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds;
    static constexpr auto solve = cuda_opt_batch_solve;
};
template <> struct BatchAbi<float> {
    static constexpr auto create = cuda_opt_create_batch_f32;
    static constexpr auto set_bounds = cuda_opt_batch_set_bounds_f32;
    static constexpr auto set_common_bounds = cuda_opt_set_bounds_f32;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds_f32;
    static constexpr auto solve = cuda_opt_batch_solve_f32;
};

// What is left of one problem.
struct BatchOutcome {
    int64_t code, iterations, evaluations;
    double f, pg_norm_inf;
    Vector x, g;
    std::vector<double> values; // f of each evaluation
    std::string message;

    bool same_bits(const BatchOutcome &o) const {
        const auto same = [](const Vector &a, const Vector &b) {
            return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
        };
        return code == o.code && iterations == o.iterations && evaluations == o.evaluations && same({f}, {o.f}) &&
               same({pg_norm_inf}, {o.pg_norm_inf}) && same(x, o.x) && same(g, o.g) && same(values, o.values);
    }
};

template <class Configuration> class BatchRun {
  public:
    using Real = typename Configuration::Real;

    // Problems of the same n. Those without bounds on a side have infinite ones.
    explicit BatchRun(std::vector<Problem> problems, int m = 5) : problems_(std::move(problems)) {
        const int task = BatchAbi<Real>::create(&s_, n(), count(), m, Configuration::backend);
        if (task != 0) throw std::runtime_error(cuda_opt_message(s_));
        for (void **memory : {&x_, &g_, &lower_, &upper_}) take(memory, n() * count() * sizeof(Real));
        take(&f_, count() * sizeof(double));
        std::vector<Real> lower, upper;
        for (const Problem &one : problems_)
            for (std::size_t i = 0; i < static_cast<std::size_t>(n()); i++) {
                lower.push_back(static_cast<Real>(one.lower.empty() ? -INFINITY : one.lower[i]));
                upper.push_back(static_cast<Real>(one.upper.empty() ? INFINITY : one.upper[i]));
            }
        write(lower_, lower), write(upper_, upper);
        check(BatchAbi<Real>::set_bounds(s_, static_cast<Real *>(lower_), static_cast<Real *>(upper_)));
    }
    BatchRun(const BatchRun &) = delete;
    BatchRun &operator=(const BatchRun &) = delete;
    ~BatchRun() {
        for (void *memory : {x_, g_, lower_, upper_, f_}) cuda_opt_free(s_, memory);
        cuda_opt_destroy(&s_);
    }

    cuda_opt *handle() { return s_; }
    int64_t n() const { return problems_[0].size(); }
    int64_t count() const { return static_cast<int64_t>(problems_.size()); }
    BatchRun &set_int(int32_t key, int64_t value) {
        check(cuda_opt_set_int(s_, key, value));
        return *this;
    }
    BatchRun &set_real(int32_t key, double value) {
        check(cuda_opt_set_real(s_, key, value));
        return *this;
    }
    int64_t get_int(int32_t key) const {
        int64_t value = 0;
        check(cuda_opt_get_int(s_, key, &value));
        return value;
    }

    // From the problems' starts.
    void start() {
        std::vector<Real> x;
        for (const Problem &one : problems_) x.insert(x.end(), one.start.begin(), one.start.end());
        write(x_, x);
        values_.assign(problems_.size(), {});
        rounds_ = 0;
    }
    int call() {
        if (++rounds_ > 100000) throw std::runtime_error("the batch does not come to an end");
        return task_ = BatchAbi<Real>::solve(s_, static_cast<Real *>(x_), static_cast<double *>(f_),
                                             static_cast<Real *>(g_));
    }
    std::vector<int64_t> active() const {
        std::vector<int64_t> list(static_cast<std::size_t>(get_int(CUDA_OPT_BATCH)));
        check(cuda_opt_copy_out(s_, list.data(), cuda_opt_batch_active(s_), bytes(list)));
        return list;
    }
    void evaluate() {
        const bool packed = get_int(CUDA_OPT_BATCH_PACKED) != 0;
        const std::vector<int64_t> list = active();
        std::vector<Real> all_x(static_cast<std::size_t>(n() * count())), all_g(all_x.size());
        std::vector<double> all_f(problems_.size());
        check(cuda_opt_copy_out(s_, all_x.data(), x_, bytes(all_x)));
        check(cuda_opt_copy_out(s_, all_g.data(), g_, bytes(all_g)));
        check(cuda_opt_copy_out(s_, all_f.data(), f_, bytes(all_f)));
        for (std::size_t k = 0; k < list.size(); k++) {
            const auto p = static_cast<std::size_t>(list[k]), row = packed ? k : p;
            const Real *const from = all_x.data() + row * static_cast<std::size_t>(n());
            const Vector x(from, from + n());
            Vector g(x.size());
            for (std::size_t i = 0; i < x.size(); i++)
                if (!std::isfinite(x[i]) || !in_box(problems_[p], i, x[i])) outside++;
            all_f[row] = problems_[p].evaluate(x, g);
            values_[p].push_back(all_f[row]);
            std::transform(g.begin(), g.end(), all_g.begin() + static_cast<int64_t>(row) * n(),
                           [](double v) { return static_cast<Real>(v); });
        }
        write(f_, all_f), write(g_, all_g);
    }
    int run() {
        start();
        while (call() > 0) evaluate();
        return task_;
    }
    std::vector<BatchOutcome> outcomes() {
        const auto ints = [&](int32_t key) {
            std::vector<int64_t> values(problems_.size());
            check(cuda_opt_batch_get_int(s_, key, values.data()));
            return values;
        };
        const auto reals = [&](int32_t key) {
            std::vector<double> values(problems_.size());
            check(cuda_opt_batch_get_real(s_, key, values.data()));
            return values;
        };
        const auto codes = ints(CUDA_OPT_BATCH_CODE), iterations = ints(CUDA_OPT_ITERATIONS),
                   evaluations = ints(CUDA_OPT_EVALUATIONS);
        const auto norms = reals(CUDA_OPT_PG_NORM_INF);
        std::vector<Real> x(static_cast<std::size_t>(n() * count())), g(x.size());
        std::vector<double> f(problems_.size());
        check(cuda_opt_copy_out(s_, x.data(), x_, bytes(x)));
        check(cuda_opt_copy_out(s_, g.data(), g_, bytes(g)));
        check(cuda_opt_copy_out(s_, f.data(), f_, bytes(f)));
        std::vector<BatchOutcome> all;
        for (std::size_t p = 0; p < problems_.size(); p++) {
            const auto first = static_cast<int64_t>(p) * n(), last = first + n();
            all.push_back({codes[p], iterations[p], evaluations[p], f[p], norms[p],
                           Vector(x.begin() + first, x.begin() + last), Vector(g.begin() + first, g.begin() + last),
                           values_[p], cuda_opt_batch_message(s_, static_cast<int64_t>(p))});
        }
        return all;
    }

    int64_t outside = 0; // components that were asked for outside their boxes

  private:
    template <class T> static int64_t bytes(const std::vector<T> &values) {
        return static_cast<int64_t>(values.size() * sizeof(T));
    }
    static bool in_box(const Problem &one, std::size_t i, double x) {
        return (one.lower.empty() || static_cast<Real>(one.lower[i]) <= x) &&
               (one.upper.empty() || x <= static_cast<Real>(one.upper[i]));
    }
    void check(int code) const {
        if (code < 0) throw std::runtime_error(cuda_opt_message(s_));
    }
    void take(void **memory, int64_t size) { check(cuda_opt_alloc(s_, memory, size)); }
    template <class T> void write(void *to, const std::vector<T> &values) {
        check(cuda_opt_copy_in(s_, to, values.data(), bytes(values)));
    }

    std::vector<Problem> problems_;
    cuda_opt *s_ = nullptr;
    void *x_ = nullptr, *g_ = nullptr, *lower_ = nullptr, *upper_ = nullptr, *f_ = nullptr;
    std::vector<std::vector<double>> values_;
    int task_ = 0;
    int64_t rounds_ = 0;
};

} // namespace cudaopt_test

#define BATCH_CONFIGURATIONS                                                                                           \
    cudaopt_test::HostDouble, cudaopt_test::HostFloat, cudaopt_test::CudaDouble, cudaopt_test::CudaFloat
