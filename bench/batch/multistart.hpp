// The measurements of bench_multistart and its functor: one of the twelve functions of the pattern search, chosen at
// run time, so that there is one kernel for all.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "bench/batch/chained_rosenbrock.hpp"
#include "cuda_opt/batch.cuh"
#include "testfuncs/search/functions.hpp"

namespace cudaopt::bench {

constexpr int multistart_n = 30, multistart_m = 5;

struct Multistart {
    int which = 0; // of testfuncs::search::Function
    double lower = 0, upper = 0;
    int64_t starts = 0, max_iterations = 0;
    int threads = 1; // of the host
};

struct MultistartRow {
    double seconds = 0, best = 0;
    int64_t converged = 0, at_minimum = 0, evaluations = 0;
};

// Without a gradient that says where f falls (Step's is 0), differences over the width of a step, 1: central ones,
// which are 0 on the lowest step.
template <class F> CUDA_OPT_HD void slopes(const F &f, const double *x, int n, double *g) {
    if constexpr (testfuncs::search::gradient_of<F>) {
        f.gradient(x, n, g);
    } else {
        double moved[multistart_n];
        for (int j = 0; j < n; j++) moved[j] = x[j];
        for (int j = 0; j < n; j++) {
            moved[j] = x[j] + 1;
            const double above = f(static_cast<const double *>(moved), n);
            moved[j] = x[j] - 1;
            g[j] = (above - f(static_cast<const double *>(moved), n)) / 2;
            moved[j] = x[j];
        }
    }
}

struct OneOfTwelve {
    int which;

    template <class Team> CUDA_OPT_HD double operator()(const Team &team, int64_t, const double *x, double *g) const {
        return from<0>(team.lane() == 0, x, g);
    }

  private:
    template <int k> CUDA_OPT_HD double from(bool with_g, const double *x, double *g) const {
        if constexpr (k < static_cast<int>(std::variant_size_v<testfuncs::search::Function>)) {
            if (which != k) return from<k + 1>(with_g, x, g);
            const std::variant_alternative_t<k, testfuncs::search::Function> f;
            if (with_g) slopes(f, x, multistart_n, g);
            return f(x, multistart_n);
        } else {
            return NAN;
        }
    }
};

inline BatchOptions options_of(const Multistart &task) {
    BatchOptions options;
    options.settings.eps = 0;
    options.settings.pgtol = 1e-8;
    options.settings.factr = 10;
    options.settings.max_iterations = task.max_iterations;
    options.threads = task.threads;
    return options;
}

inline std::vector<double> starts_of(const Multistart &task) {
    std::vector<double> x(static_cast<std::size_t>(multistart_n * task.starts));
    for (std::size_t k = 0; k < x.size(); k++)
        x[k] = task.lower + (task.upper - task.lower) * (random_start(k) + 2) / 4;
    return x;
}

inline MultistartRow row_of(const std::vector<BatchEnd> &ends, double seconds) {
    MultistartRow row{seconds, INFINITY, 0, 0, 0};
    for (const BatchEnd &end : ends) {
        row.best = end.f < row.best ? end.f : row.best;
        row.converged += end.code == 0;
        row.at_minimum += end.f <= 1e-6;
        row.evaluations += end.evaluations;
    }
    return row;
}

// The second of two runs, whose first allocates. Throws std::runtime_error where there is no CUDA.
MultistartRow multistart_on_cuda(const Multistart &task);

} // namespace cudaopt::bench
