// The progress of a solve: f and ||P g|| at earlier points, and the best point. It decides whether an iterate makes
// progress, and when a long solve with a poor model restarts.
//
// In a slow solve f and the projected gradient P g decrease only very slowly. Old gradient differences, and a diagonal
// learned elsewhere, then describe the curvature at the iterate poorly, and the steps remain short. A restart along -g
// with an empty history and a new diagonal often ends such a solve within a few iterations. It is worthwhile only in
// the last, slow part of a solve: while f falls steadily, the history is needed.
#pragma once

#include "lbfgsb/noise.hpp"
#include "lbfgsb/record.hpp"

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

struct Progress : SearchRecord {
    static constexpr double progress_share = 0.1;  // a decrease by this fraction counts as progress
    static constexpr int steps_before_verdict = 5; // steps after a restart before the FACTR test may end the solve

    // f_previous: f at the iterate before this one, or Inf at the start. f_best: the least f of all iterates.
    double f_previous = 0, f_best = infinity;
    IterateFacts best; // data of the saved point: the best iterate, or a trial point with a lower f
    bool best_saved = false;
    bool best_norms_unknown = false; // whether a norm of the saved point has to be measured
    // f and ||P g|| when the history was last discarded after a failed line search.
    double f_refreshed = infinity, pg_refreshed = infinity;
    int refreshes_in_vain = 0;
    // in_vain counts the iterations since note_progress() last saw progress, or the evaluations if f has a noise level.
    // f_noted and pg_noted are the least f and the least ||P g|| at the iterates with progress. The norm is the 2-norm,
    // or the largest component if f has a noise level.
    int in_vain = 0;
    double f_noted = infinity, pg_noted = infinity;
    // The decrease of f that the model predicts along the direction of a failed line search. After a restart it is the
    // last decrease of f. Inf: unknown.
    double expected_decrease = infinity;
    double f_restarted = infinity; // f when the solve last restarted
    // Iterations since the most recent step along -g, including that one. The count stops at steps_before_verdict,
    // because a larger number has the same effect.
    int steps_since_gradient = 0;
    // f_start is f at the start. f_slow and pg_slow are the least f and the least ||P g||_inf at the last progress of a
    // slow solve. evaluations_slow is the number of evaluations at the last progress or restart.
    int slow_restarts = 0;
    double f_start = infinity, f_slow = infinity, pg_slow = infinity;
    int64_t evaluations_slow = 0;

    // Counts the iterations without progress. Progress means that f falls by more than 10 eps |f_noted|, or ||P g||_2
    // by a tenth. The count is needed because the approximate Wolfe conditions would accept steps for ever if no
    // stopping test is set and f changes only by rounding errors.
    CUDA_OPT_HD_INLINE void note_progress(const Settings &settings) {
        if (const double level = noise_level(settings, results.f); level > 0) return note_progress_beyond_noise(level);
        const bool progress = f_noted == infinity || results.f < f_noted - 10 * machine_epsilon * std::fabs(f_noted) ||
                              results.pg_norm2 < (1 - progress_share) * pg_noted;
        if (progress) {
            f_noted = least(f_noted, results.f);
            pg_noted = least(pg_noted, results.pg_norm2);
        }
        in_vain = progress ? 0 : in_vain + 1;
    }

    // Returns whether the solve restarts at this iterate. Let f_0 be f at the start, and f_p and p_p the least f and
    // the least ||P g||_inf at the last iterate with progress. An iterate makes progress if
    //
    //     f < f_p - 1e-7 (f_0 - f)    or    ||P g||_inf < 0.3 p_p.
    //
    // The solve restarts if 250 3^r evaluations have passed since the last progress or restart, where r is the number
    // of these restarts. Without ROBUST it never restarts, since L-BFGS-B 3.0 does not.
    CUDA_OPT_HD_INLINE bool restarts_slow_solve(const Settings &settings) {
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

    CUDA_OPT_HD void restart() {
        f_restarted = results.f, fresh_start = true;
        expected_decrease = f_previous - results.f; // the history, which could predict a decrease, is discarded
    }

    // Returns whether fewer steps have followed the last restart than the FACTR test requires. These steps do not use
    // an operator. Otherwise a poor operator could make f decrease slowly far from a minimum, and the test would hold.
    CUDA_OPT_HD bool is_restarting() const {
        return f_restarted < infinity && (fresh_start || steps_since_gradient < steps_before_verdict);
    }

    // Sets the results to those of the saved point, with which the solve ends. Returns f there.
    CUDA_OPT_HD_CALL inline double restore_best_results() {
        best_saved = false;
        at_iterate = true;
        static_cast<IterateFacts &>(results) = best;
        pg_norm_unknown = x_norm_unknown = best_norms_unknown;
        best_norms_unknown = false;
        return results.f;
    }

    // Returns the least significant decrease of f, max(1e-4, FACTR eps) max(|f|, 1). A larger decrease since a restart
    // shows that the solve had not converged.
    CUDA_OPT_HD_CALL inline double significant_decrease(const Settings &settings) const {
        constexpr double significant_gain = 1e-4;
        return greatest(significant_gain, settings.factr * machine_epsilon) * greatest(std::fabs(results.f), 1.0);
    }

  protected:
    // Counts the evaluations without progress in in_vain. Progress means that f has fallen by more than 2 eps_f, or ||P
    // g||_inf by the factor noise::pg_progress, since the last progress. A smaller decrease of f may be due to noise,
    // because the lowest of several noisy values may be 2 eps_f below the others although x is the same.
    CUDA_OPT_HD_INLINE void note_progress_beyond_noise(double level) {
        const bool progress = f_noted == infinity || results.f < f_noted - 2 * level ||
                              results.pg_norm_max < noise::pg_progress * pg_noted;
        if (progress) {
            f_noted = least(f_noted, results.f);
            pg_noted = least(pg_noted, results.pg_norm_max);
        }
        in_vain = progress ? 0 : in_vain + static_cast<int>(search_evaluations);
    }

    // Returns whether the last restart was so few steps ago that a small decrease of f is not significant: the first
    // steps along -g reduce f only along the directions of the largest curvature, and the resulting theta makes the
    // next steps short.
    CUDA_OPT_HD_CALL inline bool restart_is_recent() const {
        return f_restarted < infinity && steps_since_gradient < steps_before_verdict;
    }

    // Returns whether an iterate is better than the best one so far: its f is lower, or its f is equal and its
    // projected gradient is not larger. With a noise level the lowest f is not significant, and the projected gradient
    // alone decides. Without ROBUST each iterate replaces the one before it, as in L-BFGS-B 3.0, and the backend stores
    // no best iterate.
    CUDA_OPT_HD_INLINE bool is_best(const Settings &settings, const PanelProducts &sums) const {
        if (noise_level(settings, f_best) > 0)
            return sums.projected_gradient_max <= (best_saved ? best.pg_norm_max : results.pg_norm_max);
        const double f = sums.f, pg_norm2 = std::sqrt(sums.variable_sums[projected_gradient_squared]);
        const double pg_best = best_saved ? best.pg_norm2 : results.pg_norm2;
        return !settings.robust || f < f_best || (f == f_best && pg_norm2 <= pg_best);
    }

    CUDA_OPT_HD_INLINE double least_decrease(const Settings &settings) const {
        return settings.factr * machine_epsilon * greatest(greatest(std::fabs(f_previous), std::fabs(results.f)), 1.0);
    }
};

} // namespace cudaopt
