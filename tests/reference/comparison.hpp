// Comparisons of two solves: values of f at the iterates, and the active set at the solution.
#pragma once

#include "../support/harness.hpp"
#include "lbfgsb.hpp"

namespace cudaopt_test {

constexpr std::size_t iterations_to_follow = 20;

// Return f at each iterate, beginning with the start.
inline std::vector<double> values(const std::vector<ReferenceIterate> &history) {
    std::vector<double> f;
    for (const ReferenceIterate &iterate : history) f.push_back(iterate.f);
    return f;
}
inline std::vector<double> values(double at_start, const std::vector<Iterate> &history) {
    std::vector<double> f = {at_start};
    for (const Iterate &iterate : history) f.push_back(iterate.f);
    return f;
}

// Returns |a - b| / |b|.
inline double relative_difference(double a, double b) { return std::fabs(a - b) / std::fabs(b); }

inline void check_the_same_way(const std::vector<double> &ours, const std::vector<double> &theirs, double tolerance,
                               std::size_t iterations = iterations_to_follow) {
    const std::size_t common = std::min({ours.size(), theirs.size(), iterations + 1});
    CHECK(common >= std::min(theirs.size(), iterations + 1));
    for (std::size_t k = 0; k < common; k++) {
        INFO("iteration " << k);
        CHECK(std::fabs(ours[k] - theirs[k]) <= tolerance * std::fabs(theirs[k]));
    }
}

// Returns -1 for each variable at its lower bound, 1 at its upper bound and 0 between them.
inline std::vector<int> active_set(const Problem &problem, const Vector &x) {
    std::vector<int> side(x.size(), 0);
    for (std::size_t i = 0; i < x.size(); i++) {
        if (!problem.lower.empty() && x[i] == problem.lower[i]) side[i] = -1;
        else if (!problem.upper.empty() && x[i] == problem.upper[i]) side[i] = 1;
    }
    return side;
}

// Sets the tolerances of the line search and the only convergence criterion that L-BFGS-B 3.0 is run with.
template <class Configuration> void set_as_reference(Harness<Configuration> &harness, double pgtol) {
    harness.set_real(CUDA_OPT_FTOL, 1e-3).set_real(CUDA_OPT_GTOL, 0.9).set_real(CUDA_OPT_XTOL, 0.1);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, pgtol);
}

} // namespace cudaopt_test
