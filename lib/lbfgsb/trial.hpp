// The decisions at a trial point: descent, the line search, and the update of the model by the accepted step.
#pragma once

#include "lbfgsb/termination.hpp"

namespace cudaopt {

// The action that follows an evaluation of f and g at a trial point.
enum class TrialVerdict {
    evaluate, // evaluate f and g at the step trial_step()
    accept,   // the trial point is the next iterate
    fail,     // the line search has failed; `failure` says how
    end       // the solve ends
};

constexpr double steepest_ascent_accepted = 0.8; // 1 - 2 delta with delta = 0.1 (Hager and Zhang 2005)
constexpr double least_cosine = 1e-3;            // least cosine of the angle between a projected direction and -P g

CUDA_OPT_HD inline double slope_at_trial(const PanelProducts &sums) {
    return sums.over_all(panel::gradient, panel::s_column(0));
}

CUDA_OPT_HD inline bool are_finite(const PanelProducts &sums) {
    return is_finite(sums.f) && sums.variable_sums[not_finite] == 0 && is_finite(slope_at_trial(sums));
}

struct Trials : Termination {
    CUDA_OPT_HD_INLINE void begin_search(double theta) {
        unit = fresh_start ? 1 / theta : 1;
        f_base = results.f;
        at_iterate = search_started = returning = exhausted = false;
        search_evaluations = cuts_in_a_row = 0;
        lowest_trial = infinity;
    }

    // Records the sums of the sweep that formed d, and returns whether d is used as a descent direction. After the
    // projection onto the box, the direction to the subspace minimiser may be almost orthogonal to the projected
    // gradient. Over several iterations the steps then become shorter, and the iterates converge to a point that is not
    // a minimiser. With a learned diagonal, which need not match L-BFGS-B 3.0, such a direction is rejected.
    CUDA_OPT_HD_INLINE bool descends(const Settings &settings, const DirectionSums &sums, int pairs) {
        direction = sums;
        slope_base = sums.slope;
        note_direction(pairs);
        const bool projected_step = pairs > 0 && sums.projected > 0 && !truncated;
        if (settings.metric != Metric::learned || !projected_step) return sums.slope < 0;
        return sums.slope < -least_cosine * std::sqrt(sums.d_squared) * results.pg_norm2;
    }

    // Called before judge_trial(). At the first trial point it starts the line search.
    CUDA_OPT_HD_INLINE void measure_trial(const Settings &settings, const PanelProducts &sums) {
        results.slope = slope_at_trial(sums) / unit;
        if (!search_started) start_search(settings);
    }

    // Returns whether the largest step within the box has to be known now. is_costly: computing it takes a sweep, so
    // that it is worthwhile to try first whether the next step depends on it.
    CUDA_OPT_HD_INLINE bool step_max_matters(const Settings &settings, const PanelProducts &sums,
                                             bool is_costly) const {
        const double f = sums.f, slope = slope_at_trial(sums), value = value_for_search(settings, f, slope);
        return bounded && step_max_pending && are_finite(sums) && !returning && !line.meets_both(value, slope) &&
               !satisfies_weak_wolfe(settings, line.step(), f, slope) &&
               !satisfies_approximate_wolfe(settings, f, slope) &&
               (!is_costly ||
                line.next_step_depends_on_step_max(greatest(settings.step_max, first_step), value, slope));
    }

    CUDA_OPT_HD_INLINE void set_step_max(const Settings &settings, double largest) {
        line.set_step_max(greatest(least(settings.step_max, largest), first_step));
        step_max_pending = false;
    }

    // Decides what follows at a trial point. If f or g is not finite, the step is shortened. Otherwise the Moré-Thuente
    // line search is updated with f and the slope. The point is accepted if that search has converged, or if the weak
    // or the approximate Wolfe conditions apply and hold, or if f is below the bound for unbounded problems. If the
    // search stops without an acceptable step, exhaust_search() decides.
    CUDA_OPT_HD_INLINE TrialVerdict judge_trial(const Settings &settings, const PanelProducts &sums) {
        const double f = sums.f, slope = slope_at_trial(sums);
        if (!are_finite(sums)) return backtrack(settings);
        cuts_in_a_row = 0;
        single_f = single_f && is_single(f);
        lowest_trial = least(lowest_trial, f);
        if (returning) {
            failure = Event::lower_not_found_again;
            return f < f_base ? TrialVerdict::accept : TrialVerdict::fail;
        }
        search_evaluations++;

        step = line.step();
        const double value = value_for_search(settings, f, slope);
        const bool repeats = settings.robust && settings.factr > 0 && repeats_a_point(value, slope);
        SearchVerdict verdict = line.update(value, slope);
        if (repeats && verdict == SearchVerdict::evaluate) verdict = SearchVerdict::rounding_errors;
        results.line_search_info = static_cast<int64_t>(verdict);
        if (verdict == SearchVerdict::converged || satisfies_weak_wolfe(settings, step, f, slope) ||
            satisfies_approximate_wolfe(settings, f, slope) || (f <= settings.f_unbounded && f < f_base)) {
            results.line_search_info = static_cast<int64_t>(SearchVerdict::converged);
            ran_away = false;
            return TrialVerdict::accept;
        }
        if (verdict == SearchVerdict::evaluate && search_evaluations < settings.evaluations_per_search)
            return ends_at_limit(settings, false) ? TrialVerdict::end : TrialVerdict::evaluate;
        if (runs_away(settings, slope)) {
            end(CUDA_OPT_UNBOUNDED, Event::falls_without_end);
            return TrialVerdict::end;
        }
        return exhaust_search(settings, f, verdict != SearchVerdict::evaluate);
    }

    // Makes the trial point the next iterate. Because of rounding errors and noise, it may be worse than an earlier one
    // (is_best()). Returns whether the base point must be saved: the new iterate is worse and no point is saved.
    CUDA_OPT_HD_INLINE bool accept(const Settings &settings, const PanelProducts &sums) {
        at_iterate = true;
        results.iterations++;
        results.step = step * unit;
        steps_since_gradient = fresh_start ? 1 : least(steps_since_gradient + 1, steps_before_verdict);
        fresh_start = from_sizes = false;
        expected_decrease = infinity;
        f_previous = f_base;
        const bool lags = !is_best(settings, sums);
        f_best = least(f_best, sums.f);
        if (!lags) {
            best_saved = best_saved && best.f < sums.f && !(noise_level(settings, f_best) > 0);
            best_norms_unknown = best_norms_unknown && best_saved;
            return false;
        }
        const bool saves = !best_saved;
        if (saves) best = results, best_norms_unknown = false; // results are still those of the base point
        best_saved = true;
        return saves;
    }

    // Called after judge_trial(). Returns whether the trial point does not become an iterate, but has the lowest f so
    // far. It is then saved, and the solve returns it unless a lower f follows.
    CUDA_OPT_HD_INLINE bool saves_trial(const Settings &settings, const PanelProducts &sums, TrialVerdict verdict) {
        const double lowest = best_saved ? best.f : f_base;
        if (verdict == TrialVerdict::accept || !settings.robust || !is_finite(sums.f) ||
            sums.variable_sums[not_finite] > 0 || noise_level(settings, f_base) > 0 || !(sums.f < lowest))
            return false;
        best = facts_of(sums);
        best_norms_unknown = !norm_is_representable(sums.variable_sums[projected_gradient_squared]) ||
                             !norm_is_representable(sums.variable_sums[x_squared]);
        return best_saved = true;
    }

    // Returns s'y of the new correction pair, or 0 if the pair is unusable.
    // A curvature s'y <= eps |s'g| counts as a rounding error, whatever the scales of x and f are.
    CUDA_OPT_HD_INLINE double curvature(const PanelProducts &sums) const {
        const double sy = step * sums.over_all(panel::y_new, panel::s_new);
        return sy > machine_epsilon * -slope_base * step ? sy : 0;
    }

    // Returns the factor by which y of the new pair is multiplied. It is the second derivative along s, at the end of
    // the step, of the cubic that interpolates f and the slopes at both ends, divided by the mean second derivative
    // along the step, which s'y measures. The model then contains the curvature at the new iterate instead of that
    // halfway (Biggs, J. Inst. Math. Appl. 8 (1971) 315). For a quadratic the factor is 1. It is limited to [1/2, 2],
    // beyond which the cubic does not describe f. It is 1 if the decrease of f may be due to noise. It is also 1 if it
    // would be 8 or more: a convex cubic gives at most 2, so that f and the gradient are then inconsistent.
    CUDA_OPT_HD_INLINE double curvature_scale(const Settings &settings, const PanelProducts &sums,
                                              double curvature) const {
        constexpr double largest_factor = 2, inconsistent_from = 8;
        constexpr double significant_decrease = 1e-6; // relative to f; also suits single precision
        const double f = sums.f, decrease = f_base - f;
        if (settings.metric != Metric::learned || !(std::fabs(decrease) > significant_decrease * std::fabs(f)))
            return 1;
        if (std::fabs(decrease) < noise::significant * noise_level(settings, f)) return 1;
        const double factor = 1 + (6 * decrease + 3 * step * (slope_base + slope_at_trial(sums))) / curvature;
        if (!is_finite(factor) || factor >= inconsistent_from) return 1;
        return least(greatest(factor, 1 / largest_factor), largest_factor);
    }

    // Returns theta of B_0 = theta I if the history is empty after a step from which no pair was formed. If f was still
    // decreasing at the limit of evaluations, the next line search begins with the step length that was reached. It is
    // limited to a distance of 1, as at the start, because a function without a lower bound never stops decreasing.
    CUDA_OPT_HD_INLINE double scale_without_pair(const Settings &settings, double theta) const {
        const double continued = greatest(theta / step, results.pg_norm2);
        return exhausted && settings.metric != Metric::callers && continued < theta ? continued : theta;
    }

  protected:
    // With bounds the largest step is the largest one that stays in the box, or 1 if the direction is along -g.
    // Computing it costs a sweep, and most line searches end with the first step or a shorter one. Until its value can
    // affect the line search it is assumed to be the first step.
    CUDA_OPT_HD_INLINE void start_search(const Settings &settings) {
        SearchTolerances tolerances{settings.ftol, settings.gtol, settings.xtol, settings.step_min, settings.step_max};
        step_max_pending = bounded && !fresh_start;
        if (bounded)
            tolerances.step_max = step_max_pending ? first_step : greatest(least(tolerances.step_max, 1.0), first_step);
        // The first step along -g depends on the scale of f. stpmin is therefore taken relative to that step.
        if (fresh_start) tolerances.step_min *= least(first_step, 1.0);
        tolerances.step_min = least(tolerances.step_min, first_step);
        line.start(f_base, slope_base, first_step, tolerances);
        search_started = true;
    }

    // Returns f at the trial point for the interval of uncertainty. If the change of f agrees within its noise with the
    // integral of the slope by the trapezoidal rule, the integral is used. Otherwise an error of f could bound the
    // interval although the slope shows that f still decreases.
    CUDA_OPT_HD_INLINE double value_for_search(const Settings &settings, double f, double slope) const {
        const double by_slopes = f_base + line.step() * (slope_base + slope) / 2;
        return std::fabs(f - by_slopes) <= 2 * noise_level(settings, f_base) ? by_slopes : f;
    }

    // Returns whether the weak Wolfe conditions are satisfied. They require a sufficient decrease of f. They also
    // require that the slope g'd at the trial point is at least gtol times the slope at the start of the line search,
    // which is negative. This makes s'y positive. Condition (1.2) of Moré and Thuente also limits positive slopes.
    // Without this limit, a step beyond the minimiser along d may be accepted. In addition f must not be above the
    // lowest f of this line search. Both comparisons of f allow for twice the noise level, because two values of f are
    // compared. L-BFGS-B 3.0 does not accept steps with a large positive slope. The weak conditions are therefore used
    // only if the initial Hessian is a learned diagonal or an operator, or if f has a noise level.
    CUDA_OPT_HD_INLINE bool satisfies_weak_wolfe(const Settings &settings, double at, double f, double slope) const {
        const double level = noise_level(settings, f_base);
        const bool applies =
            level > 0 || settings.metric == Metric::learned || settings.metric == Metric::callers_operator;
        return applies && f <= f_base + settings.ftol * at * slope_base + 2 * level &&
               f <= line.lowest_phi() + 2 * level && slope >= settings.gtol * slope_base;
    }

    // Returns whether the approximate Wolfe conditions are satisfied (Hager and Zhang, SIAM J. Optim. 16 (2005) 170,
    // section 2). They apply if f differs by no more than its rounding errors and its noise, because slopes are then
    // still accurate. They are relative to the lowest f, so that f cannot increase steadily.
    CUDA_OPT_HD_INLINE bool satisfies_approximate_wolfe(const Settings &settings, double f, double slope) const {
        const double errors = rounding_level * std::fabs(f_best) + 2 * noise_level(settings, f_best);
        return settings.robust && f <= f_best + errors && slope >= settings.gtol * slope_base &&
               slope <= steepest_ascent_accepted * -slope_base;
    }

    // Returns whether f and the slope are bitwise equal to those at an end of the interval of uncertainty, and the
    // distance between the two points is tiny relative to x. Then x has not changed in floating-point arithmetic, and
    // shorter steps would evaluate the same point again.
    CUDA_OPT_HD_INLINE bool repeats_a_point(double f, double slope) const {
        constexpr double tiny = 1e-8;
        return line.repeats_an_end(f, slope, tiny * results.x_norm2 / std::sqrt(direction.d_squared));
    }

    // Returns whether f seems to have no lower bound. The evidence is two line searches that ended at MAXFEV while f
    // still decreased almost linearly. The step must have grown by many orders of magnitude, and the distance must be
    // large both absolutely and relative to x, because a first step may be too short by any factor. A failed line
    // search between the two is ignored: far away, the first step may be lost in the rounding of x. A direction along
    // which the box limits the step is no evidence, because f is finite in the box.
    CUDA_OPT_HD_CALL inline bool runs_away(const Settings &settings, double slope) {
        constexpr double large_extension = 1e6, large_distance = 1e6, large_share = 0.1, straight = 0.99;
        if (!settings.robust || settings.f_unbounded == -infinity || !(line.lowest_phi() < f_base)) return false;
        const double distance = step * std::sqrt(direction.d_squared);
        const bool box_ends_ray = boxed || (bounded && fresh_start) || line.step_max() < settings.step_max;
        const bool falls = !box_ends_ray && line.lowest_step() == step && step >= large_extension * first_step &&
                           distance >= greatest(large_distance, large_share * results.x_norm2) &&
                           slope <= straight * slope_base;
        const bool twice = ran_away && falls;
        ran_away = falls;
        return twice;
    }

    // Called if f or g is not finite. It proposes a shorter step, or ends the line search or the solve.
    CUDA_OPT_HD_CALL inline TrialVerdict backtrack(const Settings &settings) {
        if (returning) {
            failure = Event::lower_not_found_again;
            return TrialVerdict::fail;
        }
        if (cuts_in_a_row >= settings.max_cuts) {
            end(CUDA_OPT_NOT_FINITE, Event::not_finite_after_cuts);
            return TrialVerdict::end;
        }
        if (ends_at_limit(settings, false)) return TrialVerdict::end;
        results.cuts++;
        cuts_in_a_row++;
        line.cut();
        // The next step is shorter than the first one, so that the largest step is not needed.
        if (search_evaluations == 0) step_max_pending = false;
        return TrialVerdict::evaluate;
    }

    // Ends a line search that found no step satisfying both Wolfe conditions. A step with a warning is accepted if it
    // has decreased f (dcsrch ends with the best step that it knows). Otherwise the line search returns to the lowest
    // point that it evaluated, which L-BFGS-B 3.0 does not do. That version also accepts a step with a warning if f is
    // unchanged, and a positive FACTR of any size then ends the solve.
    CUDA_OPT_HD_CALL inline TrialVerdict exhaust_search(const Settings &settings, double f, bool warned) {
        exhausted = settings.robust && !warned;
        if (warned && f < f_base && (!settings.robust || f <= line.lowest_phi())) return TrialVerdict::accept;
        if (warned && f == f_base && !settings.robust && settings.factr > 0) return TrialVerdict::accept;
        if (!(line.lowest_phi() < f_base) || !settings.robust) {
            failure = line.lowest_phi() < f_base ? Event::lower_not_accepted : Event::nothing_lower;
            return TrialVerdict::fail;
        }
        if (f <= line.lowest_phi()) return TrialVerdict::accept;
        if (ends_at_limit(settings, false)) return TrialVerdict::end;
        returning = true;
        step = line.lowest_step();
        return TrialVerdict::evaluate;
    }
};

} // namespace cudaopt
