// A whole batch by reverse communication, on either backend and in either precision, with functions on the host.
#pragma once

#include <cstring>
#include <stdexcept>

#include "../support/harness.hpp"

namespace cudaopt_test {

// The results of one problem.
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
    using Diagonal = typename Harness<Configuration>::Diagonal;

    // Problems of the same n. Those without bounds on a side have infinite ones.
    explicit BatchRun(std::vector<Problem> problems, int m = 5)
        : problems_(std::move(problems)), batch_(n(), count(), m, Configuration::backend), x_(batch_, n() * count()),
          g_(batch_, n() * count()), lower_(batch_, n() * count()), upper_(batch_, n() * count()),
          diagonals_(batch_, n() * count()), f_(batch_, count()) {
        std::vector<Real> lower, upper;
        for (const Problem &one : problems_)
            for (std::size_t i = 0; i < static_cast<std::size_t>(n()); i++) {
                lower.push_back(static_cast<Real>(one.lower.empty() ? -INFINITY : one.lower[i]));
                upper.push_back(static_cast<Real>(one.upper.empty() ? INFINITY : one.upper[i]));
            }
        write(lower_, lower), write(upper_, upper);
        batch_.set_bounds_of_each(lower_, upper_);
        stop_by_eps(batch_);
    }

    cudaopt::Batch<Real> &handle() { return batch_; }
    int64_t n() const { return problems_[0].size(); }
    int64_t count() const { return static_cast<int64_t>(problems_.size()); }
    BatchRun &set_int(int32_t key, int64_t value) {
        batch_.set_int(key, value);
        return *this;
    }
    BatchRun &set_real(int32_t key, double value) {
        batch_.set_real(key, value);
        return *this;
    }
    int64_t get_int(int32_t key) const { return batch_.get_int(key); }
    // The diagonal of each problem, supplied with f and g.
    BatchRun &with_diagonal(Diagonal diagonal) {
        diagonal_ = std::move(diagonal);
        batch_.set_diagonal_of_each(diagonals_.data());
        return set_int(CUDA_OPT_DIAGCO, 1);
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
        return task_ = batch_.solve(x_, f_, g_);
    }
    std::vector<int64_t> active() const {
        std::vector<int64_t> list(static_cast<std::size_t>(batch_.active()));
        batch_.check(cuda_opt_copy_out(batch_, list.data(), batch_.active_problems(),
                                       batch_.active() * static_cast<int64_t>(sizeof list[0])));
        return list;
    }
    void evaluate() {
        const bool packed = get_int(CUDA_OPT_BATCH_PACKED) != 0;
        const std::vector<int64_t> list = active();
        const std::vector<Real> all_x = x_.to_host();
        std::vector<Real> all_g(all_x.size()), diagonals(all_x.size(), Real(NAN));
        std::vector<double> all_f(problems_.size());
        if (rounds_ > 1) all_g = g_.to_host(), all_f = f_.to_host(); // before, nothing has been written there
        for (std::size_t k = 0; k < list.size(); k++) {
            const auto p = static_cast<std::size_t>(list[k]), row = packed ? k : p;
            const Real *const from = all_x.data() + row * static_cast<std::size_t>(n());
            const Vector x(from, from + n());
            Vector g(x.size());
            for (std::size_t i = 0; i < x.size(); i++)
                if (!std::isfinite(x[i]) || !in_box(problems_[p], i, x[i])) outside++;
            all_f[row] = problems_[p].evaluate(x, g);
            values_[p].push_back(all_f[row]);
            const auto to_row = [&](const Vector &values, std::vector<Real> &all) {
                std::transform(values.begin(), values.end(), all.begin() + static_cast<int64_t>(row) * n(),
                               [](double v) { return static_cast<Real>(v); });
            };
            to_row(g, all_g);
            if (!diagonal_) continue;
            Vector diagonal(x.size());
            diagonal_(x, g, diagonal);
            to_row(diagonal, diagonals);
        }
        write(f_, all_f), write(g_, all_g);
        if (diagonal_) write(diagonals_, diagonals);
    }
    // f of each evaluation of a problem so far.
    const std::vector<double> &values(std::size_t p) const { return values_[p]; }
    int run() {
        start();
        while (call() > 0) evaluate();
        return task_;
    }
    std::vector<BatchOutcome> outcomes() {
        const auto codes = batch_.integers(CUDA_OPT_BATCH_CODE), iterations = batch_.integers(CUDA_OPT_ITERATIONS),
                   evaluations = batch_.integers(CUDA_OPT_EVALUATIONS);
        const std::vector<double> norms = batch_.reals(CUDA_OPT_PG_NORM_INF), f = f_.to_host();
        const std::vector<Real> x = x_.to_host(), g = g_.to_host();
        std::vector<BatchOutcome> all;
        for (std::size_t p = 0; p < problems_.size(); p++) {
            const auto first = static_cast<int64_t>(p) * n(), last = first + n();
            all.push_back({codes[p], iterations[p], evaluations[p], f[p], norms[p],
                           Vector(x.begin() + first, x.begin() + last), Vector(g.begin() + first, g.begin() + last),
                           values_[p], batch_.message_of(static_cast<int64_t>(p))});
        }
        return all;
    }

    int64_t outside = 0; // components that were asked for outside their boxes

  private:
    static bool in_box(const Problem &one, std::size_t i, double x) {
        return (one.lower.empty() || static_cast<Real>(one.lower[i]) <= x) &&
               (one.upper.empty() || x <= static_cast<Real>(one.upper[i]));
    }
    template <class T> static void write(cudaopt::Array<T> &to, const std::vector<T> &values) {
        to.write(0, values.data(), to.size());
    }

    std::vector<Problem> problems_;
    cudaopt::Batch<Real> batch_;
    cudaopt::Array<Real> x_, g_, lower_, upper_, diagonals_;
    cudaopt::Array<double> f_;
    std::vector<std::vector<double>> values_;
    Diagonal diagonal_;
    int task_ = 0;
    int64_t rounds_ = 0;
};

} // namespace cudaopt_test

#define BATCH_CONFIGURATIONS                                                                                           \
    cudaopt_test::HostDouble, cudaopt_test::HostFloat, cudaopt_test::CudaDouble, cudaopt_test::CudaFloat
