// The decisions that end a solve, by stopping tests, limits or the caller, and the record of the termination.
#pragma once

#include "lbfgsb/progress.hpp"

namespace cudaopt {

// The actions that may follow at an iterate. `restart`: discard the history and continue along -g, with a new first
// step. `restart_anew`: discard the learned diagonal as well.
enum class IterateVerdict { go_on, restart, restart_anew, end };

struct Termination : Progress {
    // relative_gradient: the norm of the vector x_i (P g)_i. hidden_gradient: the norm of those g_i above PGTOL whose
    // box is no wider than PGTOL, so that (P g)_i cannot exceed PGTOL.
    double relative_gradient = unmeasured, hidden_gradient = unmeasured;
    // relative_curvature: ||X y||^2 / s'y with X = diag(|x_i|), for the stored pair of the largest y'y / s'y.
    // largest_curvature: the largest of these quotients for the pairs that were measured, that pair first. Rounding x
    // explains at most change_weight |x_i y_i| of component i of the relative gradient; change_weight is 0 until ||X
    // y|| is known for the next pair. unexplained: the norm of what remains, the least of these pairs.
    double relative_curvature = unmeasured, largest_curvature = 0, change_weight = 0, unexplained = infinity;
    double model_theta = 1; // theta of the present model
    int pairs_measured = 0, end_code = 0;
    Event end_why = Event::nothing;
    Test end_test = Test::none; // the stopping test, if the solve has converged
    double seconds = 0;         // time since the solve began, measured only if it is limited

    // Sets the results at an iterate from the sums there.
    CUDA_OPT_HD_INLINE void measure(const PanelProducts &sums, double theta) {
        const double *const of = sums.variable_sums;
        static_cast<IterateFacts &>(results) = facts_of(sums);
        pg_norm_unknown = is_finite(results.pg_norm_max) && results.pg_norm_max > 0 &&
                          !norm_is_representable(of[projected_gradient_squared]);
        x_norm_unknown = !norm_is_representable(of[x_squared]);
        results.theta = model_theta = theta;
        relative_gradient = hidden_gradient = relative_curvature = unmeasured;
        largest_curvature = change_weight = 0, unexplained = infinity;
        pairs_measured = 0;
    }

    // Stores a norm. curvature: s'y of the pair with which the last two kinds of norm were measured.
    // In the variables x_i / |x_i|, let y be the change of the gradient along the stored pair s. Rounding x to the next
    // number, by r with ||r|| of about u, changes the gradient by about y (y'r) / s'y, where |y'r| <= u ||y||.
    CUDA_OPT_HD_CALL inline void note_norm(Norm kind, double norm, double curvature) {
        constexpr double most_units = 10;
        const auto positive = [](double v) { return least(greatest(v, smallest_normal), largest_finite); };
        switch (kind) {
        case Norm::none: return;
        case Norm::x: results.x_norm2 = least(norm, largest_finite), x_norm_unknown = false; return;
        case Norm::projected_gradient: results.pg_norm2 = least(norm, largest_finite), pg_norm_unknown = false; return;
        case Norm::relative_gradient: relative_gradient = norm; return;
        case Norm::narrow_gradient: hidden_gradient = norm; return;
        case Norm::relative_change:
            largest_curvature = greatest(largest_curvature, positive(norm * (norm / curvature)));
            if (pairs_measured == 0) relative_curvature = largest_curvature;
            change_weight = positive(most_units * unit_of_x() * (norm / curvature));
            return;
        case Norm::unexplained_gradient:
            unexplained = least(unexplained, norm), change_weight = 0, pairs_measured++;
            return;
        }
    }

    CUDA_OPT_HD_INLINE bool accept_start(const PanelProducts &sums, int pairs) {
        first = false;
        const double not_finite_components = sums.variable_sums[not_finite];
        if (!is_finite(sums.f) || not_finite_components > 0) {
            numbers[0] = not_finite_components;
            end(CUDA_OPT_NOT_FINITE, Event::not_finite_at_start);
            return false;
        }
        f_previous = infinity;
        f_best = f_start = sums.f;
        pg_start = results.pg_norm_max;
        single_f = is_single(sums.f);
        fresh_start = pairs == 0;
        return true;
    }

    // Decides at an accepted iterate whether the solve ends. Returns the norm on which the decision depends, if it is
    // not measured yet, or Norm::none and the verdict.
    CUDA_OPT_HD_INLINE Norm judge_iterate(const Settings &settings, int pairs, IterateVerdict &verdict) {
        const Test test = stopping_test(settings);
        const Norm missing = settings.robust ? norm_to_verify(settings, test, pairs) : Norm::none;
        if (missing == Norm::none) verdict = verdict_on(settings, test);
        return missing;
    }

    CUDA_OPT_HD void end(int code, Event why) { end_code = code, end_why = why; }
    CUDA_OPT_HD void end_by_bad_diagonal(int64_t index) {
        numbers[0] = static_cast<double>(index);
        end(CUDA_OPT_BAD_DIAGONAL, Event::diagonal_is_bad);
    }

    // The solve ends without further sweeps that return a number.
    CUDA_OPT_HD void skip_norms() { best_norms_unknown = pg_norm_unknown = x_norm_unknown = false; }

    // Returns whether the solve ends at a limit. at_iterate_: whether the limit of iterations is tested as well.
    CUDA_OPT_HD_CALL inline bool ends_at_limit(const Settings &settings, bool at_iterate_) {
        const auto reaches = [](int64_t limit, int64_t count) { return limit > 0 && count >= limit; };
        Event why = Event::nothing;
        int code = 0;
        if (at_iterate_ && reaches(settings.max_iterations, results.iterations))
            code = CUDA_OPT_ITERATION_LIMIT, why = Event::iteration_limit_reached;
        else if (reaches(settings.max_evaluations, results.evaluations))
            code = CUDA_OPT_EVALUATION_LIMIT, why = Event::evaluation_limit_reached;
        else if (settings.max_seconds > 0 && seconds >= settings.max_seconds)
            code = CUDA_OPT_TIME_LIMIT, why = Event::time_limit_reached;
        if (code == 0) return false;
        numbers[0] = seconds;
        end(code, why);
        return true;
    }

    CUDA_OPT_HD_CALL inline void give_up(bool stop_requested, double seconds_passed) {
        numbers[0] = seconds_passed;
        skip_norms();
        if (stop_requested) end(CUDA_OPT_STOPPED, Event::stopped_while_waiting);
        else end(CUDA_OPT_TIME_LIMIT, Event::time_limit_while_waiting);
    }

    // Returns the norm that is required at the end of the solve, where x and g are final.
    CUDA_OPT_HD Norm norm_at_end() const {
        return ends_by_noise() && relative_gradient == unmeasured ? Norm::relative_gradient : unknown_norm();
    }

    // Records the event that ended the solve, with the bound that its message names. x, f and g must be final.
    // Errors of g may hide that f could decrease by much more than its noise level, in particular along variables whose
    // components of g are small because of their units. By NOISE a solve therefore converges only if relative changes
    // of the variables by 1 % change f by no more than the noise level. It must also have made progress since its
    // start: otherwise the noise may hide every decrease.
    CUDA_OPT_HD_CALL inline void record_end(const Settings &settings) {
        const bool is_noisy = ends_by_noise();
        const double level = noise_level(settings, results.f);
        if (is_noisy && !(results.f < f_start - 2 * level || results.pg_norm_max < noise::pg_progress * pg_start)) {
            results.stop_test = 0;
            end(CUDA_OPT_LINE_SEARCH_FAILED, Event::nothing_has_fallen);
        } else if (is_noisy && noise::relative_change * relative_gradient > level) {
            results.stop_test = 0;
            end(CUDA_OPT_LINE_SEARCH_FAILED, Event::noise_hides_descent);
        }
        event = end_why;
        numbers[2] = is_noisy || end_why == Event::converged      ? bound_of(end_test, settings)
                     : end_why == Event::below_any_bound          ? settings.f_unbounded
                     : end_why == Event::iteration_limit_reached  ? static_cast<double>(settings.max_iterations)
                     : end_why == Event::evaluation_limit_reached ? static_cast<double>(settings.max_evaluations)
                                                                  : settings.max_seconds;
    }

  protected:
    CUDA_OPT_HD bool ends_by_noise() const { return end_why == Event::converged && end_test == Test::noise; }

    // Returns the bound that the message on a stopping test names. That of FACTR is stored by converge().
    CUDA_OPT_HD_INLINE double bound_of(Test test, const Settings &settings) const {
        switch (test) {
        case Test::f_target: return settings.f_target;
        case Test::eps: return settings.eps * greatest(1.0, results.x_norm2);
        case Test::pgtol: return settings.pgtol;
        case Test::rounding: {
            const double by_x = change_by_rounding() + unit_of_f() * std::fabs(f_base);
            return greatest(negligible_decrease(settings), is_rounding(settings) ? settings.rounding * by_x : 0);
        }
        case Test::noise: return noise_level(settings, results.f);
        case Test::factr:
        case Test::none: break;
        }
        return 0;
    }

    // Returns the first stopping test that is satisfied at the iterate. ROUNDING is tested after a failed line search,
    // and NOISE in verdict_on().
    CUDA_OPT_HD_INLINE Test stopping_test(const Settings &settings) const {
        const Results &r = results;
        if (r.f <= settings.f_target) return Test::f_target;
        if (!exhausted && r.pg_norm2 < settings.eps * greatest(1.0, r.x_norm2)) return Test::eps;
        // If P g is 0, the test is satisfied even if pgtol is 0, because x is then a stationary point.
        if (r.pg_norm_max <= settings.pgtol && !(hidden_gradient > 0)) return Test::pgtol;
        return settings.factr > 0 && r.iterations > 0 && decrease_is_small(settings) ? Test::factr : Test::none;
    }

    // Returns the norm that is required to verify the stopping test, if it is not measured yet.
    CUDA_OPT_HD_INLINE Norm norm_to_verify(const Settings &settings, Test test, int pairs) const {
        // P g is no larger than the box is wide.
        if (test == Test::pgtol && narrowest <= settings.pgtol && hidden_gradient == unmeasured)
            return Norm::narrow_gradient;
        if (test != Test::factr || is_relatively_flat(settings)) return Norm::none;
        if (relative_gradient == unmeasured) return Norm::relative_gradient;
        // A restart discards the pairs, so that the curvature could not be measured later.
        return norm_for_curvature(settings, pairs);
    }

    CUDA_OPT_HD_INLINE IterateVerdict verdict_on(const Settings &settings, Test test) {
        constexpr int most_in_vain = 1000;
        const bool is_noisy = noise_level(settings, results.f) > 0;
        const bool nothing_decreases = settings.robust && in_vain >= (is_noisy ? noise::most_in_vain : most_in_vain);
        bool restarts = false;
        if (test != Test::none) {
            if (test != Test::factr || factr_is_verified(settings)) {
                converge(settings, test);
                return IterateVerdict::end;
            }
            restarts = !is_restarting();
            if (restarts && restart_is_unpromising(settings)) {
                end(CUDA_OPT_LINE_SEARCH_FAILED, Event::restart_gained_little);
                return IterateVerdict::end;
            }
        }
        if (results.f <= settings.f_unbounded) end(CUDA_OPT_UNBOUNDED, Event::below_any_bound);
        else if (nothing_decreases && is_noisy) converge(settings, Test::noise);
        else if (nothing_decreases) end(CUDA_OPT_LINE_SEARCH_FAILED, Event::nothing_has_fallen);
        else if (!ends_at_limit(settings, true)) {
            const bool is_slow = !is_noisy && restarts_slow_solve(settings);
            return is_slow ? IterateVerdict::restart_anew : restarts ? IterateVerdict::restart : IterateVerdict::go_on;
        }
        return IterateVerdict::end;
    }

    // Returns whether f has decreased by no more than FACTR allows. With ROBUST this does not count if f has increased,
    // because g may then not be the gradient of f, or after a first step along -g, whose length is an estimate. Version
    // 3.0 accepts both. It does not count either if the bound is below the noise in the difference of two values of f.
    CUDA_OPT_HD_INLINE bool decrease_is_small(const Settings &settings) const {
        const double decrease = f_previous - results.f;
        if (settings.robust && (decrease < 0 || steps_since_gradient == 1)) return false;
        const double bound = least_decrease(settings);
        return decrease <= bound && 2 * noise_level(settings, results.f) <= bound;
    }

    // Returns the largest norm of the relative gradient, with the components x_i (P g)_i, that is small relative to
    // max(|f|, 1) (Dennis and Schnabel 1983, section 7.2). If it is small, small relative changes of the variables
    // change f by much less, relative to f. The norm does not depend on the units of x. Near a minimum, f - f* is of
    // the order of the square of the gradient; therefore a larger FACTR allows a larger norm.
    CUDA_OPT_HD_INLINE double flat_gradient(const Settings &settings) const {
        const double tolerance = greatest(settings.relative_gtol, 10 * std::sqrt(settings.factr * machine_epsilon));
        return tolerance * greatest(std::fabs(results.f), 1.0);
    }

    // Returns whether the relative gradient was measured and is small. A badly conditioned operator may move few
    // variables only. Where the others are 0, the relative gradient is small although f is not near a minimum. With an
    // operator, the model with B_0 = theta I and without pairs must therefore predict a small decrease along -P g as
    // well. An infinite RELATIVE_GTOL disables both conditions.
    CUDA_OPT_HD_INLINE bool is_relatively_flat(const Settings &settings) const {
        const bool is_small = relative_gradient >= 0 && relative_gradient <= flat_gradient(settings);
        if (settings.metric != Metric::callers_operator || !is_finite(settings.relative_gtol)) return is_small;
        return is_small && results.pg_norm2 * results.pg_norm2 / (2 * model_theta) <= significant_decrease(settings);
    }

    // Returns whether ROUNDING may end the solve. With noise, a failed line search does not confirm the model.
    CUDA_OPT_HD_INLINE bool tests_rounding(const Settings &settings) const {
        return settings.robust && settings.rounding > 0 && !(noise_level(settings, results.f) > 0);
    }

    // Returns the norm that is required to explain the relative gradient by rounding x, until a pair explains it.
    CUDA_OPT_HD_INLINE Norm norm_for_curvature(const Settings &settings, int pairs) const {
        const bool all_measured = pairs == 0 || pairs_measured > pairs;
        if (all_measured || !tests_rounding(settings) || explains_gradient_by_rounding(settings)) return Norm::none;
        return change_weight > 0 ? Norm::unexplained_gradient : Norm::relative_change;
    }

    // Returns an estimate of the error of f that is caused by rounding f and x. The estimate is finite. It is therefore
    // less than expected_decrease if that is unknown, because an unknown decrease is represented by Inf.
    CUDA_OPT_HD_CALL inline double rounding_errors(const Settings &settings) const {
        const double of_x = unit_of_x() * results.pg_norm2 * results.x_norm2;
        return least(settings.rounding * (unit_of_f() * std::fabs(f_base) + of_x), largest_finite);
    }

    // Returns an estimate of the change of f that is caused by rounding x. In the variables x_i / |x_i|, rounding moves
    // x by about u, and changes f by u times the norm of the relative gradient, plus k u^2 / 2 with their curvature k.
    CUDA_OPT_HD_CALL inline double change_by_rounding() const {
        const double u = unit_of_x();
        return u * (relative_gradient + u * largest_curvature / 2);
    }

    // Returns the decrease of f along the relative gradient: half its square over the curvature there.
    CUDA_OPT_HD double decrease_along_gradient(double curvature) const {
        return relative_gradient * (relative_gradient / curvature) / 2;
    }

    // Returns whether rounding x and f explains the relative gradient, although it is not small. What the change of the
    // gradient along one of the pairs does not explain must be small: along a single pair, a component of the change
    // may be small by chance. f must decrease along the relative gradient, with the largest curvature, by no more than
    // rounding causes. If f has single precision, the first condition is omitted: errors of f allow larger gradients.
    CUDA_OPT_HD_CALL inline bool explains_gradient_by_rounding(const Settings &settings) const {
        constexpr double most_along_gradient = 2;
        return relative_curvature != unmeasured && (single_f || unexplained <= flat_gradient(settings)) &&
               decrease_along_gradient(largest_curvature) <=
                   most_along_gradient * change_by_rounding() + rounding_of_f(settings);
    }

    CUDA_OPT_HD double rounding_of_f(const Settings &settings) const {
        return settings.rounding * unit_of_f() * std::fabs(f_base);
    }

    // Returns whether rounding explains that a line search failed, although the relative gradient is not small: it
    // explains the gradient, the decrease that the model predicts, and the rise of f at the lowest point.
    CUDA_OPT_HD_CALL inline bool is_rounding(const Settings &settings) const {
        constexpr double largest_rise = 10;
        const double by_x = change_by_rounding(), by_f = rounding_of_f(settings);
        return failure != Event::lower_not_found_again && explains_gradient_by_rounding(settings) &&
               expected_decrease <= settings.rounding * by_x + by_f &&
               !(lowest_trial - f_base > largest_rise * by_x + by_f);
    }

    // Returns whether the measured decrease of f along the relative gradient is too small to be significant.
    CUDA_OPT_HD_CALL inline bool can_decrease_little(const Settings &settings) const {
        return relative_curvature != unmeasured &&
               decrease_along_gradient(relative_curvature) <= significant_decrease(settings);
    }

    // Returns whether restarts begin from the sizes of the variables (Iteration::begins_from_sizes()). If a solve
    // restarts so often, its variables may differ in size by orders of magnitude, and a step along -g moves few of
    // them. A restart that gained little is then no evidence of a minimum. docs/notes/restarts.md shows how the number
    // of restarts was chosen.
    CUDA_OPT_HD bool uses_sizes(const Settings &settings) const {
        constexpr int64_t restarts_before = 8;
        return settings.metric == Metric::learned && settings.robust && results.refreshes >= restarts_before;
    }

    // Returns whether another restart is unlikely to be worth its cost, because the last one gained little and the
    // relative gradient is not large. Where it is large, restarts that gain little may alternate with better ones.
    CUDA_OPT_HD_CALL inline bool restart_is_unpromising(const Settings &settings) const {
        constexpr double large_gradient = 2e-2;
        return settings.robust && settings.factr > 0 && settings.metric != Metric::callers_operator &&
               relative_gradient != unmeasured &&
               relative_gradient <= large_gradient * greatest(std::fabs(results.f), 1.0) && gained_little(settings);
    }

    // Returns whether the model predicts a negligible decrease of f where the relative gradient is small, or where
    // neither another restart nor a step along the relative gradient promises a significant decrease. The latter is no
    // evidence if f has single precision, because its rounding errors decide where the line searches fail.
    CUDA_OPT_HD_CALL inline bool is_negligible(const Settings &settings) const {
        return expected_decrease <= negligible_decrease(settings) &&
               (is_relatively_flat(settings) || (!single_f && !uses_sizes(settings) &&
                                                 restart_is_unpromising(settings) && can_decrease_little(settings)));
    }

    // Returns a decrease of f that counts as negligible in the test ROUNDING if the model predicts no more than this.
    CUDA_OPT_HD_CALL inline double negligible_decrease(const Settings &settings) const {
        const double by_factr = settings.factr * machine_epsilon * greatest(std::fabs(f_base), 1.0);
        return least(greatest(by_factr, rounding_errors(settings)), largest_finite);
    }

    CUDA_OPT_HD_CALL inline void converge(const Settings &settings, Test test) {
        results.stop_test = static_cast<int64_t>(test);
        numbers[0] = f_previous - results.f;
        numbers[1] = least_decrease(settings);
        const bool holds_here =
            test == Test::eps || test == Test::pgtol || (test == Test::f_target && noise_level(settings, f_best) > 0);
        if (holds_here) best_saved = best_norms_unknown = false; // the saved iterate need not satisfy the test
        if (test == Test::noise) relative_gradient = unmeasured; // see norm_at_end()
        end_test = test;
        end(CUDA_OPT_CONVERGED, Event::converged);
    }

    // Returns whether FACTR may end the solve. A small decrease of f does not show that x is near a minimum if the
    // model is poor, as in a long valley whose curvature along the valley is not yet known. The solve ends if the
    // relative gradient is small; if rounding x explains it and changes f by more than FACTR allows; or if the last
    // restart gained little and f can decrease little along the relative gradient. Otherwise it restarts along -g, with
    // an empty history and a new scale, unless restart_is_unpromising().
    CUDA_OPT_HD_CALL inline bool factr_is_verified(const Settings &settings) const {
        if (!settings.robust || is_relatively_flat(settings)) return true;
        if (is_restarting()) return false;
        if (least_decrease(settings) <= settings.rounding * change_by_rounding() &&
            explains_gradient_by_rounding(settings))
            return true;
        return gained_little(settings) && !uses_sizes(settings) &&
               (relative_curvature == unmeasured || can_decrease_little(settings));
    }
};

} // namespace cudaopt
