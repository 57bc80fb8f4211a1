// Objectives of batches for host and device. They use only + - * /, so that results without contraction are bitwise
// identical. Each lane computes the whole f in the order of the variables.
#pragma once

#include <cstdint>
#include <vector>

#include "../support/seed.hpp"
#include "../support/stopping.hpp"
#include "cuda_opt/batch.cuh"

namespace batch_test {

// Chained Rosenbrock with a steepness that depends on p; for some problems f is undefined in a region or everywhere.
template <int n, class Real> struct Valleys {
    template <class Team> CUDA_OPT_HD double operator()(const Team &team, int64_t p, const Real *x, Real *g) const {
        const double steepness = 10 + p % 7 * 15;
        double f = 0, first = 0, gradient[n] = {};
        for (int i = 0; i + 1 < n; i++) {
            const double here = x[i], next = x[i + 1], valley = next - here * here, rest = 1 - here;
            f += steepness * valley * valley + rest * rest;
            gradient[i] += -4 * steepness * here * valley - 2 * rest;
            gradient[i + 1] += 2 * steepness * valley;
        }
        first = x[0];
        if (n == 1) f = (first - 2) * (first - 2), gradient[0] = 2 * (first - 2);
        for (int i = team.lane(); i < n; i += Team::width) g[i] = static_cast<Real>(gradient[i]);
        if (p % 13 == 5 && first > 0.9) return f / (first - first); // Inf
        if (p % 31 == 7) return (first - first) / (first - first);  // NaN
        return f;
    }
    // About 1 / the second derivatives, without the terms that may be negative.
    template <class Team> CUDA_OPT_HD void diagonal(const Team &team, int64_t p, const Real *x, Real *h) const {
        const double steepness = 10 + p % 7 * 15;
        for (int i = team.lane(); i < n; i += Team::width)
            h[i] = static_cast<Real>(1 / (2 + 2 * steepness + 8 * steepness * x[i] * x[i]));
    }
};

// The problems: starts and boxes, some with l > u.
template <class Real> struct Data {
    int n;
    int64_t count;
    std::vector<Real> x, lower, upper;
    Data(int n_, int64_t count_, bool bounded) : n(n_), count(count_) {
        uint64_t state = cudaopt_test::seed(12345);
        const auto uniform = [&state] {
            state = state * 6364136223846793005u + 1442695040888963407u;
            return static_cast<double>(state >> 11) / 9007199254740992.0;
        };
        for (int64_t k = 0; k < n * count; k++) {
            x.push_back(static_cast<Real>(4 * uniform() - 2));
            const double l = 2 * uniform() - 2;
            lower.push_back(static_cast<Real>(bounded ? l : -INFINITY));
            upper.push_back(static_cast<Real>(bounded ? l + 3 * uniform() : INFINITY));
        }
        if (count > 40 && bounded)
            upper[static_cast<std::size_t>(40 * n)] = lower[static_cast<std::size_t>(40 * n)] - 1;
    }
    // The same problems, and no arrays of bounds.
    Data without_bounds() const {
        Data data = *this;
        data.lower.clear(), data.upper.clear();
        return data;
    }
    cudaopt::BatchBounds<Real> bounds() const {
        if (lower.empty()) return {};
        return {lower.data(), upper.data(), true};
    }
};

// The type of the stored history; void stands for Real.
template <class History, class Real> using HistoryOr = std::conditional_t<std::is_void_v<History>, Real, History>;

template <class Real> struct Left {
    std::vector<Real> x;
    std::vector<cudaopt::BatchEnd> ends;
};

template <class Real> cudaopt::BatchOptions options() {
    cudaopt::BatchOptions options;
    cudaopt_test::set_eps_alone(options.settings);
    options.settings.eps = sizeof(Real) == 8 ? 1e-6 : 1e-4;
    options.settings.max_iterations = 200;
    return options;
}

} // namespace batch_test
