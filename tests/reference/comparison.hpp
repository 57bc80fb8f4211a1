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

// Compares f of two solves at each iterate, as long as rounding errors do not decide it: until `theirs_moved`, which is
// `theirs` from a moved start, differs from it by a tenth of the tolerance.
inline void check_the_same_way(const std::vector<double> &ours, const std::vector<double> &theirs,
                               const std::vector<double> &theirs_moved, double tolerance,
                               std::size_t iterations = iterations_to_follow) {
    const std::size_t end = std::min({theirs.size(), theirs_moved.size(), iterations + 1});
    std::size_t k = 0;
    for (; k < end && std::fabs(theirs_moved[k] - theirs[k]) <= tolerance / 10 * std::fabs(theirs[k]); k++) {
        INFO("iteration " << k);
        REQUIRE(k < ours.size());
        CHECK(std::fabs(ours[k] - theirs[k]) <= tolerance * std::fabs(theirs[k]));
    }
    INFO("compared: " << k << " of " << end);
    CHECK(k >= std::min<std::size_t>(end, 4));
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

// Returns whether two solutions have the same active set, except for variables at a bound whose multiplier is below the
// tolerance: there rounding errors decide.
inline bool same_active_set(const Problem &problem, const Outcome &ours, const Vector &theirs, double tolerance) {
    const std::vector<int> here = active_set(problem, ours.x), there = active_set(problem, theirs);
    for (std::size_t i = 0; i < here.size(); i++)
        if (here[i] != there[i] && (std::fabs(ours.g[i]) > tolerance || std::fabs(ours.x[i] - theirs[i]) > 1e-3))
            return false;
    return true;
}

// Sets the tolerances of the line search and the only convergence criterion that L-BFGS-B 3.0 is run with.
template <class Configuration> void set_as_reference(Harness<Configuration> &harness, double pgtol) {
    harness.set_real(CUDA_OPT_FTOL, 1e-3).set_real(CUDA_OPT_GTOL, 0.9).set_real(CUDA_OPT_XTOL, 0.1);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, pgtol);
}

} // namespace cudaopt_test
