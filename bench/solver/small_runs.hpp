// A small problem solved to || P g ||_inf <= 1e-6 within 10,000 evaluations, by this library or by L-BFGS-B 3.0.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/problems/problem.hpp"

namespace cudaopt::bench {

using SmallProblem = cudaopt_problems::Problem;

constexpr double small_pgtol = 1e-6;
constexpr int64_t small_evaluations = 10000;

struct SmallRun {
    int64_t evaluations = 0;
    double f = NAN, pg = NAN; // at the end, evaluated anew
    double seconds = NAN;     // of the whole run with its evaluations; set by run_apart()
    std::vector<double> x;    // the end, unless the run was apart
    std::string end;          // the solver's own word
    std::string termination;  // of run_by_defaults(): true, false, rounding level or not converged
    bool solved() const { return std::isfinite(f) && pg <= small_pgtol; }
};

struct Goal {
    double pgtol = small_pgtol;
    int64_t evaluations = small_evaluations;
    double noise_level = 0;
};

// With the given initial Hessian; all further stopping tests are off.
SmallRun run_ours(const SmallProblem &problem, int m, int64_t metric, const Goal &goal = {});
// With the stopping tests that are the default. `termination` says what the end is worth: the solve is continued, with
// an empty history, the other initial Hessian and all tests off but ||P g||_inf <= 1e-8. If that lowers f by more than
// 1e-3 max(|f|, 1), an end called convergence was a false one.
SmallRun run_by_defaults(const SmallProblem &problem, int m, int64_t metric);
SmallRun run_lbfgsb(const SmallProblem &problem, int m);

// The same in a process of its own: one that crashes or takes longer than so many seconds has solved nothing.
SmallRun run_apart(const std::function<SmallRun()> &run, int seconds);

} // namespace cudaopt::bench
