// Figure 1 of Zhu and Curry (2009) as one would write it down for a single walk, with vectors and full evaluations, and
// what a search is compared by.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "../support/seed.hpp"
#include "cuda_opt.hpp"
#include "cuda_opt/search.cuh"

namespace search_test {

using Vector = std::vector<double>;
using Function = std::function<double(const Vector &)>;

struct Problem {
    Vector lower, upper;
    cudaopt::SearchOptions options;
    bool single = false; // precision
    double rounded(double value) const { return single ? static_cast<double>(static_cast<float>(value)) : value; }
    int n() const { return static_cast<int>(lower.size()); }
};

// n variables in a box that is not the same for each, and some walks.
inline Problem problem_of(int n, int64_t walks, int64_t iterations) {
    Problem p;
    for (int j = 0; j < n; j++) {
        p.lower.push_back(-2.5 - 0.25 * (j % 3));
        p.upper.push_back(4 + 0.5 * (j % 4));
    }
    p.options.walks = walks;
    p.options.iterations = iterations;
    p.options.seed = cudaopt_test::seed(2009);
    return p;
}

struct Outcome {
    std::vector<Vector> x; // each walk's best
    Vector f;
    double best;
    int64_t best_walk, evaluations, active;
    bool operator==(const Outcome &o) const {
        return x == o.x && f == o.f && best == o.best && best_walk == o.best_walk && evaluations == o.evaluations &&
               active == o.active;
    }
};

class NaiveWalk {
  public:
    NaiveWalk(const Problem &problem, const Function &f, int64_t number) : p_(problem), f_(f), number_(number) {
        begin();
        const int64_t round = p_.options.round_iterations;
        for (int64_t k = 0; k < p_.options.iterations && !ended; k++) {
            if (round > 0 && k > 0 && k % round == 0) {
                keep_best();
                begin();
            }
            iterate();
        }
        keep_best();
    }
    Vector best_x;
    double best = infinity;
    int64_t evaluations = 0;
    bool ended = false;

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    double value(const Vector &x) {
        evaluations++;
        const double f = f_(x);
        return std::isfinite(f) ? f : infinity;
    }
    void begin() {
        x_.clear();
        for (int j = 0; j < p_.n(); j++) {
            const auto draw = static_cast<uint64_t>(starts_ * p_.n() + j);
            const auto bits = cudaopt::pattern::philox({{uint32_t(draw), uint32_t(draw >> 32), uint32_t(number_), 0}},
                                                       uint32_t(p_.options.seed), 0);
            const double u = (bits.at[1] * 2097152.0 + bits.at[0] / 2048) / 9007199254740992.0; // 32 + 21 of 53 bits
            x_.push_back(std::min(p_.rounded(std::fma(u, p_.upper[j] - p_.lower[j], p_.lower[j])), p_.upper[j]));
        }
        starts_++;
        f_x_ = value(x_);
        first_step();
    }
    void first_step() {
        step_ = p_.options.steps;
        for (int j = 0; p_.options.steps.empty() && j < p_.n(); j++) step_.push_back((p_.upper[j] - p_.lower[j]) / 20);
        for (double &step : step_) step = p_.rounded(step);
        halved_ = 0;
    }
    void keep_best() {
        if (f_x_ < best || best == infinity) { // of equal lives the first
            best = f_x_;
            best_x = x_;
        }
    }
    void iterate() {
        const double f_before = f_x_;
        for (int j = 0; j < p_.n(); j++) {
            Vector better;
            double f_better = infinity;
            for (const int sign : {1, -1}) {
                Vector trial = x_;
                trial[j] = std::min(std::max(p_.rounded(x_[j] + sign * step_[j]), p_.lower[j]), p_.upper[j]);
                const double f = value(trial);
                if (trial[j] != x_[j] && (better.empty() || f < f_better)) {
                    better = trial;
                    f_better = f;
                }
            }
            if (!better.empty() && f_better <= f_x_) {
                x_ = better;
                f_x_ = f_better;
            }
        }
        if (f_x_ < f_before) return;
        for (double &step : step_) step /= 2;
        if (++halved_ < p_.options.halvings) return;
        switch (p_.options.at_smallest) {
        case cudaopt::AtSmallestStep::restart_step: first_step(); break;
        case cudaopt::AtSmallestStep::stop: ended = true; break;
        case cudaopt::AtSmallestStep::new_point:
            keep_best();
            begin();
            break;
        }
    }

    const Problem &p_;
    Function f_;
    int64_t number_, starts_ = 0;
    Vector x_, step_;
    double f_x_ = infinity;
    int halved_ = 0;
};

inline Outcome naive_search(const Problem &p, const Function &f) {
    Outcome o{{}, {}, std::numeric_limits<double>::infinity(), 0, 0, 0};
    for (int64_t w = 0; w < p.options.walks; w++) {
        const NaiveWalk walk(p, f, w);
        o.x.push_back(walk.best_x);
        o.f.push_back(walk.best);
        o.evaluations += walk.evaluations;
        o.active += !walk.ended;
        if (walk.best < o.best) {
            o.best = walk.best;
            o.best_walk = w;
        }
    }
    return o;
}

inline Outcome outcome_of(cudaopt::PatternSearch &search, int64_t walks) {
    const cudaopt::SearchSummary found = search.summary();
    Outcome o{{}, search.walk_values(), found.value, found.walk, found.evaluations, found.active};
    for (int64_t w = 0; w < walks; w++) o.x.push_back(search.walk_point(w));
    if (search.code() != 0) throw std::runtime_error(search.message());
    return o;
}

template <class Objective, int N = 0, class Real = double>
Outcome host_search(const Problem &p, const Objective &f = Objective()) {
    cudaopt::HostSearch<Objective, N, Real> search(f, p.lower, p.upper, p.options);
    search.run();
    return outcome_of(search, p.options.walks);
}

// A search by batches, on either backend, with values from a function on the host.
class BatchSearch : public cudaopt::Handle {
  public:
    BatchSearch(const Problem &p, int backend)
        : Handle(p.n(), cuda_opt_create_search, int64_t{p.n()}, p.options.walks, backend), p_(p),
          points_(*this, 2 * p.n() * p.options.walks), values_(*this, 2 * p.options.walks) {
        cudaopt::Array<double> lower(*this, p.lower), upper(*this, p.upper), steps(*this, p.n());
        check(cuda_opt_set_bounds(*this, lower.data(), upper.data()));
        if (!p.options.steps.empty()) {
            steps.write(0, p.options.steps.data(), p.n());
            check(cuda_opt_search_set_steps(*this, steps.data()));
        }
        set_int(CUDA_OPT_MAX_ITERATIONS, p.options.iterations);
        set_int(CUDA_OPT_SEARCH_SEED, static_cast<int64_t>(p.options.seed));
        set_int(CUDA_OPT_HALVINGS, p.options.halvings);
        set_int(CUDA_OPT_AT_SMALLEST_STEP, static_cast<int>(p.options.at_smallest));
        set_int(CUDA_OPT_ROUND_ITERATIONS, p.options.round_iterations);
        if (!on_cuda()) set_int(CUDA_OPT_THREADS, p.options.threads);
    }

    // Performs one call and supplies the values that it requests.
    int step(const Function &f) {
        const int task = cuda_opt_search_solve(*this, points_.data(), values_.data());
        if (task != CUDA_OPT_EVALUATE_BATCH) return task;
        const int64_t stride = 2 * p_.options.walks, batch = get_int(CUDA_OPT_BATCH);
        const Vector points = points_.to_host();
        Vector values(static_cast<std::size_t>(batch)), x(p_.lower);
        for (int64_t i = 0; i < batch; i++) {
            for (int j = 0; j < p_.n(); j++) {
                x[j] = points[static_cast<std::size_t>(j * stride + i)];
                if (!(x[j] >= p_.lower[j] && x[j] <= p_.upper[j])) throw std::runtime_error("a point outside the box");
            }
            values[static_cast<std::size_t>(i)] = f(x);
        }
        values_.write(0, values.data(), batch);
        evaluated += batch;
        return task;
    }
    int run(const Function &f) {
        int task;
        do task = step(f);
        while (task == CUDA_OPT_EVALUATE_BATCH);
        return task;
    }
    Outcome outcome() {
        Outcome o{{},
                  {},
                  get_real(CUDA_OPT_F),
                  get_int(CUDA_OPT_BEST_WALK),
                  get_int(CUDA_OPT_EVALUATIONS),
                  get_int(CUDA_OPT_ACTIVE_WALKS)};
        for (int64_t w = 0; w < p_.options.walks; w++) {
            Vector x(p_.lower);
            double value = 0;
            check(cuda_opt_search_walk(*this, w, x.data(), &value));
            o.x.push_back(x);
            o.f.push_back(value);
        }
        return o;
    }
    const double *points() const { return points_.data(); }
    int64_t evaluated = 0;

  private:
    const Problem p_;
    cudaopt::Array<double> points_, values_;
};

inline Outcome batch_search(const Problem &p, const Function &f, int backend) {
    BatchSearch search(p, backend);
    search.run(f);
    return search.outcome();
}

} // namespace search_test
