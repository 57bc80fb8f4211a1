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

struct Progress : SearchRecord {
    static constexpr double progress_share = 0.1;  // a decrease by this fraction counts as progress
    static constexpr int steps_before_verdict = 5; // steps after a restart before the FACTR test may end the solve
    static constexpr int most_slow_restarts = 15;  // 250 3^15 evaluations are never reached, and this does not overflow

    // f_previous: f at the iterate before this one, or Inf at the start. f_best: the least f of all iterates.
    double f_previous = 0, f_best = infinity;
    IterateFacts best; // data of the saved point: the best iterate, or a trial point with a lower f
    bool best_saved = false;
    bool best_norms_unknown = false;    // whether a norm of the saved point has to be measured
    uint32_t evaluations_restarted = 0; // evaluations before the last restart, modulo 2^32
    // f and ||P g|| when the history was last discarded after a failed line search.
    double f_refreshed = infinity, pg_refreshed = infinity;
    int refreshes_in_vain = 0;
    // in_vain counts the iterations since note_progress() last saw progress, or the evaluations if f has a noise level.
    // f_noted and pg_noted are the least f and ||P g||_2 at iterates with progress; with noise, the largest component.
    int in_vain = 0;
    double f_noted = infinity, pg_noted = infinity;
    // The decrease that the model predicts along a failed direction; after a restart, the last one of f. Inf: unknown.
    double expected_decrease = infinity;
    double f_restarted = infinity; // f at the last restart, by FACTR or after a failed line search
    // Iterations since the last step along -g, including that one. The count stops at steps_before_verdict.
    int steps_since_gradient = 0;
    // f_start and pg_start are f and ||P g||_inf at the start. f_slow and pg_slow are the least f and the least
    // ||P g||_inf at the last progress of a slow solve. evaluations_slow is the number of evaluations at the last
    // progress or restart.
    int slow_restarts = 0;
    double f_start = infinity, pg_start = infinity, f_slow = infinity, pg_slow = infinity;
    int64_t evaluations_slow = 0;

    // Counts the iterations without progress in in_vain. Progress means that f falls by more than 10 eps |f_noted|, or
    // ||P g||_2 by a tenth. The count is needed because the approximate Wolfe conditions would accept steps for ever if
    // no stopping test is set and f changes only by rounding errors. With a noise level eps_f the evaluations are
    // counted, and progress means that f falls by more than 2 eps_f, or ||P g||_inf by the factor noise::pg_progress.
    // The lowest of several noisy values may be 2 eps_f below the others although x is the same.
    CUDA_OPT_HD_INLINE void note_progress(const Settings &settings) {
        const double level = noise_level(settings, results.f);
        const bool is_noisy = level > 0;
        const double errors = is_noisy ? 2 * level : 10 * machine_epsilon * std::fabs(f_noted);
        const double pg_norm = is_noisy ? results.pg_norm_max : results.pg_norm2;
        const double factor = is_noisy ? noise::pg_progress : 1 - progress_share;
        const bool progress = f_noted == infinity || results.f < f_noted - errors || pg_norm < factor * pg_noted;
        if (progress) {
            f_noted = least(f_noted, results.f);
            pg_noted = least(pg_noted, pg_norm);
        }
        in_vain = progress ? 0 : in_vain + (is_noisy ? static_cast<int>(search_evaluations) : 1);
    }

    // Returns whether the solve restarts at this iterate. Let f_0 be f at the start, and f_p and p_p the least f and
    // the least ||P g||_inf at the last iterate with progress. An iterate makes progress if
    //
    //     f < f_p - 1e-7 (f_0 - f)    or    ||P g||_inf < 0.3 p_p.
    //
    // The solve restarts if 250 3^r evaluations have passed since the last progress or restart, where r counts these
    // restarts. The factor 3 limits their fraction of the cost. Without ROBUST it never restarts, like version 3.0.
    CUDA_OPT_HD_INLINE bool restarts_slow_solve(const Settings &settings) {
        constexpr int first_window = 250, growth = 3;
        constexpr double f_progress = 1e-7, pg_progress = 0.3;
        if (!settings.robust) return false;
        const bool progress = f_slow == infinity || results.f < f_slow - f_progress * (f_start - results.f) ||
                              results.pg_norm_max < pg_progress * pg_slow;
        if (progress) {
            f_slow = least(f_slow, results.f);
            pg_slow = least(pg_slow, results.pg_norm_max);
        }
        int64_t window = first_window;
        for (int k = 0; k < slow_restarts; k++) window *= growth;
        const bool restarts = !progress && results.evaluations - evaluations_slow >= window;
        if (progress || restarts) evaluations_slow = results.evaluations;
        if (restarts) slow_restarts = least(slow_restarts + 1, most_slow_restarts);
        return restarts;
    }

    CUDA_OPT_HD uint32_t evaluations_since_restart() const {
        return static_cast<uint32_t>(results.evaluations) - evaluations_restarted;
    }
    CUDA_OPT_HD void note_restart() {
        f_restarted = results.f;
        evaluations_restarted = static_cast<uint32_t>(results.evaluations);
    }

    CUDA_OPT_HD void restart() {
        note_restart();
        fresh_start = true;
        expected_decrease = f_previous - results.f; // the history, which could predict a decrease, is discarded
    }

    // Returns whether fewer steps have followed the last restart than the FACTR test requires. A small decrease of f is
    // not significant then: the first steps along -g reduce f only along the directions of the largest curvature, and
    // the resulting theta makes the next steps short. These steps do not use an operator. Otherwise a poor operator
    // could make f decrease slowly far from a minimum, and the test would hold.
    CUDA_OPT_HD_CALL inline bool is_restarting() const {
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

    // Returns the least decrease since a restart that shows that the solve had not converged then.
    CUDA_OPT_HD_CALL inline double significant_decrease(const Settings &settings) const {
        constexpr double significant_gain = 1e-4;
        return greatest(significant_gain, settings.factr * machine_epsilon) * greatest(std::fabs(results.f), 1.0);
    }

    // Returns whether f has decreased since the last restart by no more than is significant, or by no more than 1e-5
    // max(|f|, 1) per evaluation. docs/notes/restarts.md lists the gains of restarts in fits. The second bound does not
    // apply with an operator: a poor one can make f decrease slowly far from a minimum.
    CUDA_OPT_HD_CALL inline bool gained_little(const Settings &settings) const {
        const double least_gain = settings.metric == Metric::callers_operator ? 0 : 1e-5;
        const double worth = least_gain * evaluations_since_restart() * greatest(std::fabs(results.f), 1.0);
        return f_restarted - results.f <= greatest(significant_decrease(settings), worth);
    }

  protected:
    // Returns whether an iterate is better than the best one so far: its f is lower, or equal with a projected gradient
    // that is not larger. Values of f that differ by at most twice the noise level count as equal.
    // Without ROBUST each iterate replaces the one before it, as in L-BFGS-B 3.0.
    CUDA_OPT_HD_INLINE bool is_best(const Settings &settings, const PanelProducts &sums) const {
        const double f = sums.f, level = noise_level(settings, f_best);
        if (level > 0) {
            const IterateFacts &other = best_saved ? best : results;
            return std::fabs(f - other.f) > 2 * level ? f < other.f : sums.projected_gradient_max <= other.pg_norm_max;
        }
        const double pg_norm2 = std::sqrt(sums.variable_sums[projected_gradient_squared]);
        const double pg_best = best_saved ? best.pg_norm2 : results.pg_norm2;
        return !settings.robust || f < f_best || (f == f_best && pg_norm2 <= pg_best);
    }

    CUDA_OPT_HD_INLINE double least_decrease(const Settings &settings) const {
        return settings.factr * machine_epsilon * greatest(greatest(std::fabs(f_previous), std::fabs(results.f)), 1.0);
    }
};

} // namespace cudaopt
