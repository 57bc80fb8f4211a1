// The chained Rosenbrock function as a functor of a batch, for host and device, and random starts.
#pragma once

#include <cstdint>

#include "cuda_opt/batch.cuh"

namespace cudaopt::bench {

// sum over i of 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2; Real is storage.
template <int n, class Real> struct ChainedRosenbrock {
    // x and g are two arrays: so x may be loaded ahead.
    template <class Team>
    CUDA_OPT_HD double operator()(const Team &team, int64_t, const Real *__restrict__ x, Real *__restrict__ g) const {
        double f = 0;
        for (int i = team.lane(); i < n; i += Team::width) {
            const double here = x[i];
            double slope = 0;
            if (i > 0) slope += 200 * (here - static_cast<double>(x[i - 1]) * static_cast<double>(x[i - 1]));
            if (i + 1 < n) {
                const double valley = x[i + 1] - here * here, rest = 1 - here;
                slope += -400 * here * valley - 2 * rest;
                f += 100 * valley * valley + rest * rest;
            }
            g[i] = static_cast<Real>(slope);
        }
        return team.sum(f);
    }
};

// In [-2, 2), from SplitMix64 (Steele, Lea, Flood 2014).
inline double random_start(uint64_t index) {
    uint64_t z = 0x9e3779b97f4a7c15u * (index + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) / 9007199254740992.0 * 4 - 2;
}

// Upper bounds that hold every fourth variable at 0.5; the lower ones hold none.
inline double upper_bound(int i) { return i % 4 == 1 ? 0.5 : 2; }
constexpr double lower_bound = -2;

} // namespace cudaopt::bench
