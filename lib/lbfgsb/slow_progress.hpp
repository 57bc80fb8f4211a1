// Decides when a long solve with a poor model restarts. In such a solve f and the projected gradient P g decrease only
// very slowly. Old gradient differences, and a diagonal learned elsewhere, then describe the curvature at the iterate
// poorly, and the steps remain short. A restart along -g with an empty history and a new diagonal often ends such a
// solve within a few iterations. It is worthwhile only in the last, slow part of a solve: while f falls steadily, the
// history is needed.
#pragma once

#include "lbfgsb/iteration.hpp"

namespace cudaopt {

namespace slow_progress {

constexpr int first_window = 250; // evaluations without progress after which the solve restarts
// After each restart, the number of evaluations without progress that leads to another one is multiplied by this
// factor. This limits the fraction of the solve's cost spent on restarts.
constexpr int growth = 3;
constexpr double f_progress = 1e-7; // progress: f falls by this fraction of its decrease since the start
constexpr double pg_progress = 0.3; // progress: ||P g||_inf is multiplied by less than this
constexpr int most_restarts = 15;   // 250 * 3^15 evaluations are never reached, and this number does not overflow

} // namespace slow_progress

// Returns whether the solve restarts at this iterate. Let f_0 be f at the start, and f_p and p_p the least f and the
// least ||P g||_inf at the last iterate with progress. An iterate makes progress if
//
//     f < f_p - 1e-7 (f_0 - f)    or    ||P g||_inf < 0.3 p_p.
//
// The solve restarts if 250 3^r evaluations have passed since the last progress or restart, where r is the number of
// these restarts. Without ROBUST it never restarts, since L-BFGS-B 3.0 does not.
CUDA_OPT_HD_INLINE bool Iteration::restarts_slow_solve(const Settings &settings) {
    if (!settings.robust) return false;
    if (f_start == infinity) f_start = results.f;
    const bool progress = f_slow == infinity ||
                          results.f < f_slow - slow_progress::f_progress * (f_start - results.f) ||
                          results.pg_norm_max < slow_progress::pg_progress * pg_slow;
    if (progress) {
        f_slow = least(f_slow, results.f);
        pg_slow = least(pg_slow, results.pg_norm_max);
    }
    int64_t window = slow_progress::first_window;
    for (int k = 0; k < slow_restarts; k++) window *= slow_progress::growth;
    const bool restarts = !progress && results.evaluations - evaluations_slow >= window;
    if (progress || restarts) evaluations_slow = results.evaluations;
    if (restarts) slow_restarts = least(slow_restarts + 1, slow_progress::most_restarts);
    return restarts;
}

} // namespace cudaopt
