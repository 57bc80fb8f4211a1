// The complete record of one solve (record.hpp). This part decides on first steps and after failed line searches.
#pragma once

#include "lbfgsb/trial.hpp"

namespace cudaopt {

// The actions that may follow a failed line search. `refresh`: discard the history.
enum class FailureVerdict { refresh, end };

// The factor theta of B_0 = theta I, and the first step of the line search along the direction -B_0^-1 g.
struct FirstStep {
    double theta, step;
};

struct Iteration : Trials {
    static constexpr int most_refreshes_in_vain = 4;

    // Sets the first step of the next line search. Returns theta of B_0, or 0 if it does not change.
    CUDA_OPT_HD_INLINE double begin_direction(const Settings &settings, int pairs) {
        FirstStep chosen{pairs == 0 && !settings.robust ? 1.0 : 0.0, 1};
        if (fresh_start) chosen = steepest_descent_step(settings);
        first_step = least(chosen.step, settings.step_max);
        truncated = false;
        return chosen.theta;
    }

    // Sets expected_decrease after a failed line search. Then norm_after_failure() is called until it returns
    // Norm::none. Then after_failure() decides.
    CUDA_OPT_HD_INLINE void note_failure(const Settings &settings, int pairs, double theta) {
        model_theta = theta;
        if (pairs == 0) return;
        if (failure != Event::no_descent) expected_decrease = -slope_base * first_step / 2;
        else if (direction.d_squared == 0 && settings.metric != Metric::callers) // x + d rounds to x
            expected_decrease = results.pg_norm2 * (results.pg_norm2 / theta) / 2;
    }

    CUDA_OPT_HD_CALL inline Norm norm_after_failure(const Settings &settings, int pairs) const {
        if (!tests_rounding(settings) || (settings.factr > 0 && is_negligible(settings))) return Norm::none;
        if (relative_gradient == unmeasured && (pairs > 0 || expected_decrease <= negligible_decrease(settings)))
            return Norm::relative_gradient;
        return norm_for_curvature(settings, pairs);
    }

    // Decides what follows a failed line search. Either the history is discarded and the next line search is along -g,
    // or the solve ends. The first step along -g alternates between two scales: theta of the discarded history, and the
    // scale that is used at the start of a solve. At the rounding level of f, steps that leave f unchanged may satisfy
    // both Wolfe conditions while the next line search fails, without end. Therefore the history is discarded at most
    // four times while neither f nor ||P g|| has decreased by a tenth.
    CUDA_OPT_HD_CALL inline FailureVerdict after_failure(const Settings &settings, int pairs) {
        const bool is_noisy = noise_level(settings, f_base) > 0;
        const bool is_explained = tests_rounding(settings) && relative_gradient != unmeasured &&
                                  (is_negligible(settings) || is_rounding(settings));
        if (settings.factr > 0 && is_explained) {
            converge(settings, Test::rounding);
            return FailureVerdict::end;
        }
        if (!is_noisy && restart_is_unpromising(settings)) {
            end(CUDA_OPT_LINE_SEARCH_FAILED, Event::restart_gained_little);
            return FailureVerdict::end;
        }
        // If -g itself does not descend, the solve ends, because it would try -g again without an evaluation.
        const bool along_gradient = fresh_start && !from_sizes;
        const bool goes_on = !(along_gradient && failure == Event::no_descent);
        if (goes_on && is_noisy) return after_noisy_failure(settings, pairs);
        const double share = settings.robust ? progress_share : 0;
        const bool progress = f_base < f_refreshed - share * std::fabs(f_refreshed) ||
                              results.pg_norm2 < (1 - share) * pg_refreshed || f_refreshed == infinity;
        if (progress) {
            refreshes_in_vain = 0;
            f_refreshed = settings.robust ? least(f_base, f_refreshed) : f_base;
            pg_refreshed = settings.robust ? least(results.pg_norm2, pg_refreshed) : results.pg_norm2;
        }
        const bool keep_scale = pairs > 0 && refreshes_in_vain % 2 == 0;
        if (along_gradient || refreshes_in_vain == most_refreshes_in_vain || !(keep_scale || settings.robust)) {
            if (is_explained) converge(settings, Test::rounding);
            else end(CUDA_OPT_LINE_SEARCH_FAILED, failure);
            return FailureVerdict::end;
        }
        if (ends_at_limit(settings, true)) return FailureVerdict::end;
        refreshes_in_vain++;
        note_restart();
        fresh_start = !keep_scale;
        return FailureVerdict::refresh;
    }

    // Returns whether a restart at this iterate begins with the diagonal h_i = x_i^2. The next direction is then that
    // of the steepest descent if each variable is measured in units of |x_i|. If this direction fails, the next one is
    // along -g.
    CUDA_OPT_HD_INLINE bool begins_from_sizes(const Settings &settings) const {
        return uses_sizes(settings) && !from_sizes && evaluations_since_restart() == 0 && is_normal(relative_gradient);
    }

  protected:
    // Returns the first step along -g. As in VA15 and L-BFGS-B 3.0, the first trial point is x - t P g with t = 1 / ||P
    // g||. With bounds t is at most 1, and it is 1 if every variable has two bounds. Without bounds the direction is -g
    // / theta with theta = ||g|| and the step is 1, so that d is not lost in the rounding of x, whatever the scale of f
    // is. With bounds the direction is -P g and theta is 1, unless the distance exceeds ||P g||. With another theta the
    // trial point P(x - g / theta) could be much farther away, because bounds make P g shorter than g. The distance of
    // the trial point from x is changed in four cases:
    // - The trial point would round to x. The distance is increased.
    // - According to its slope, f would change by less than its rounding errors. The distance is increased, up to 1.
    // - The distance exceeds 2^26 ||x||, so that f could not be interpolated there. It is reduced to that, unless every
    //   variable has two bounds, or x is 0 or so small that no pair could be formed from such a step.
    // - The diagonal is learned. The distance is then at most 2 |f| / ||P g||, at which a parabola with this f and
    //   slope and the minimum 0 has its minimiser. Because f may be small by chance, this shortens the step at most
    //   1000 times.
    // If the direction begins from the sizes of the variables, the same holds for its length in units of |x_i|, in
    // which the gradient is the relative gradient. This length is at most 1, with or without bounds. It does not
    // contain variables that are 0.
    CUDA_OPT_HD_CALL inline FirstStep steepest_descent_step(const Settings &settings) const {
        constexpr double far = 67108864.0;                                  // 2^26
        const double few_digits = single_x ? 1 / 262144.0 : 1 / 67108864.0; // 2^-18, 2^-26
        constexpr double shortest = 1e-3;
        const bool learns = settings.metric == Metric::learned;
        const double norm = results.pg_norm2, x = results.x_norm2, f = std::fabs(results.f);
        const FirstStep classical{1, boxed ? 1 : bounded ? least(1 / norm, 1.0) : 1 / norm};
        if (settings.metric == Metric::callers) return classical;
        if (from_sizes) {
            const double most = greatest(2 * f / relative_gradient, shortest);
            return {relative_gradient / (f != 0 ? least(most, 1.0) : 1.0), 1};
        }
        double length = !bounded ? 1 : boxed ? norm : least(norm, 1.0);
        if (learns && f != 0) length *= least(greatest(2 * f / norm / length, shortest), 1.0);
        const bool x_has_scale = !boxed && far * x * (far * x) >= smallest_normal;
        const double in_f = least(rounding_level * f / norm, 1.0), in_x = few_digits * x;
        const double wanted = greatest(greatest(in_f, in_x), x_has_scale ? least(length, far * x) : length);
        const bool changed = learns || (settings.robust && wanted != length);
        if (bounded && (!changed || (wanted <= norm && is_normal(wanted / norm))))
            return changed ? FirstStep{1, wanted / norm} : classical;
        const double theta = norm / wanted;
        return is_normal(theta) && is_normal(1 / theta) ? FirstStep{theta, 1} : classical;
    }

    // Decides what follows a failed line search if f is noisy. The failure does not end the solve, because f has
    // different errors at other points, and perhaps in another evaluation at the same point. The history is discarded.
    // Its scale theta is kept unless the history was empty. The solve ends after too many evaluations without progress.
    CUDA_OPT_HD_CALL inline FailureVerdict after_noisy_failure(const Settings &settings, int pairs) {
        in_vain += static_cast<int>(search_evaluations);
        if (in_vain >= noise::most_in_vain) {
            converge(settings, Test::noise);
            return FailureVerdict::end;
        }
        if (ends_at_limit(settings, true)) return FailureVerdict::end;
        fresh_start = fresh_start || pairs == 0;
        return FailureVerdict::refresh;
    }
};

} // namespace cudaopt
