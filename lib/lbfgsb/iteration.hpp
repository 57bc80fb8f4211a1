// The record of one solve, and the decisions about it: whether a trial point is accepted, whether an iterate ends the
// solve, and how a failed line search is followed up. A decision returns a verdict and changes only this record. It
// requests no work and does not depend on where the variables are stored. The state machine of one large problem
// (state_machine.hpp) and the loop of many small ones (batch/next_trial.hpp) perform the actions that the verdicts
// require.
//
// trial.hpp defines the decisions at trial points, and termination.hpp the decisions that end a solve. noise.hpp
// defines the decisions that take a noise level of f into account. slow_progress.hpp decides when a slow solve
// restarts.
#pragma once

#include <cmath>

#include "cuda_opt.h"
#include "lbfgsb/cauchy_point.hpp"
#include "lbfgsb/event.hpp"
#include "lbfgsb/settings.hpp"
#include "line_search/more_thuente.hpp"

namespace cudaopt {

// The action that follows an evaluation of f and g at a trial point.
enum class TrialVerdict {
    evaluate, // evaluate f and g at the step trial_step()
    accept,   // the trial point is the next iterate
    fail,     // the line search has failed; `failure` says how
    end       // the solve ends
};

// The actions that may follow at an iterate, and those that may follow a failed line search. `restart`: discard the
// history and continue along -g, with a new first step. `restart_anew`: discard the learned diagonal as well.
// `refresh`: discard the history after a failed line search.
enum class IterateVerdict { go_on, restart, restart_anew, end };
enum class FailureVerdict { refresh, end };

// The reasons for which a line search fails. no_descent: the direction is not a descent direction. nothing_lower: no
// lower f was found. lower_not_accepted: a lower f was found, but L-BFGS-B 3.0 does not return to that point.
// lower_not_found_again: f at the lowest point was higher when it was evaluated again.
enum class SearchFailure { no_descent, nothing_lower, lower_not_accepted, lower_not_found_again };

// The factor theta of B_0 = theta I, and the first step of the line search along the direction -B_0^-1 g.
struct FirstStep {
    double theta, step;
};

struct Iteration {
    Results results;
    Event event = Event::nothing; // the last task that the caller received, or the end of the solve

    int64_t n = 0;
    // bounded: at least one variable has a finite bound. boxed: every variable has two finite bounds.
    bool bounded = false, boxed = false;
    double narrowest = infinity; // the least positive u_i - l_i
    // single_x: x is stored in single precision. single_f: single precision represents all values of f so far exactly.
    bool single_x = false, single_f = true;

    // The base point of the line search, and the state of the line search.
    double f_base = 0, slope_base = 0; // f and the slope along d at the base point
    double first_step = 1;             // first step of the line search, as a multiple of d
    double step = 0;                   // step to the trial point, as a multiple of d
    double unit = 1;                   // reported steps are step * unit, as L-BFGS-B 3.0 reports them
    DirectionSums direction{};
    // The numbers of free variables and of crossed breakpoints at the Cauchy point of this direction.
    int64_t cauchy_free = 0, cauchy_breakpoints = 0;
    MoreThuente line;
    int64_t search_evaluations = 0, cuts_in_a_row = 0;
    double lowest_trial = infinity; // the lowest f of a trial point of this line search
    bool truncated = false;         // whether the direction was truncated at the box
    bool fresh_start = false;       // the next line search is along -g, with an estimated first step
    bool search_started = false;
    bool step_max_pending = false; // whether the largest step within the box must still be computed
    bool exhausted = false;        // the line search ended without a step that satisfies both Wolfe conditions
    bool returning = false;        // the line search evaluates its lowest point again, to accept that point
    bool at_iterate = true;        // whether x, f and g are those of an iterate, not of a trial point
    bool first = true;             // the current iterate is the starting point
    // Iterations since the most recent step along -g, including that one. The count stops at steps_before_verdict,
    // because a larger number has the same effect.
    int steps_since_gradient = 0;
    SearchFailure failure = SearchFailure::no_descent;

    // Progress.
    double f_previous = 0, f_best = infinity;
    IterateFacts best; // data of the saved point: the best iterate, or a trial point with a lower f
    bool best_saved = false;
    bool lags = false;     // whether an earlier iterate is better than the current one
    bool ran_away = false; // in the last line search f decreased almost linearly up to the last step
    // f and ||P g|| when the history was last discarded after a failed line search.
    double f_refreshed = infinity, pg_refreshed = infinity;
    int refreshes_in_vain = 0;
    // in_vain counts the iterations since note_progress() last saw progress, or the evaluations if f has a noise level.
    // f_noted and pg_noted are f and ||P g|| at the last progress.
    int in_vain = 0;
    double f_noted = infinity, pg_noted = infinity;
    // reached is the stopping test that is satisfied while the solve nevertheless continues, in search of a lower f.
    // postponed counts the iterations for which it has continued.
    Test reached = Test::none;
    int postponed = 0;
    // The decrease of f that the model predicts along the direction of a failed line search. Inf: unknown.
    double expected_decrease = infinity;
    double f_restarted = infinity; // f when the solve last restarted
    // The norms that are measured only if a decision needs them (note_norm()), or `unmeasured`. hidden_gradient: that
    // of the components of g above PGTOL that boxes no wider than PGTOL truncate in P g. relative_curvature: the
    // curvature of f in the variables x_i / |x_i|, along the stored pair of the largest curvature. Rounding x explains
    // up to change_weight |x_i y_i| of component i of the relative gradient; unexplained is the norm of the rest.
    static constexpr double unmeasured = -1;
    double relative_gradient = unmeasured, hidden_gradient = unmeasured;
    double relative_curvature = unmeasured, change_weight = 0, unexplained = unmeasured;
    bool slopes_removed = false; // whether infinite slopes were removed from g at this point

    // Data of slow_progress.hpp. f_start is f at the start. f_slow and pg_slow are the least f and the least
    // ||P g||_inf at the last progress. evaluations_slow is the number of evaluations at the last progress or restart.
    int slow_restarts = 0;
    double f_start = infinity, f_slow = infinity, pg_slow = infinity;
    int64_t evaluations_slow = 0;

    // The termination.
    int end_code = 0;
    Event end_why = Event::nothing;
    Test end_test = Test::none; // the stopping test, if the solve has converged
    // Numbers for the message that are not stored elsewhere or change before it is written. Invalid input: its index,
    // l, x and u. Convergence by FACTR: the decrease of f and its bound. Others: as `solver/sentence.cpp` says.
    double numbers[4] = {};
    double seconds = 0; // time since the solve began, measured only if it is limited

    static constexpr double unit_roundoff = machine_epsilon / 2, single_unit_roundoff = 1 / 16777216.0; // 2^-53, 2^-24
    CUDA_OPT_HD double unit_of_x() const { return single_x ? single_unit_roundoff : unit_roundoff; }
    CUDA_OPT_HD double unit_of_f() const { return single_f ? single_unit_roundoff : unit_roundoff; }
    static constexpr double progress_share = 0.1;  // a decrease by this fraction counts as progress
    static constexpr int steps_before_verdict = 5; // steps after a restart before the FACTR test may end the solve
    // A difference of f below this fraction of |f| counts as a rounding error if the slopes satisfy the approximate
    // Wolfe conditions.
    static constexpr double rounding_level = 1e5 * machine_epsilon;

    // ---- the start and each iterate

    CUDA_OPT_HD void begin(const StartReport &report);
    // Returns whether x and the bounds are valid. Otherwise it sets the event and the index of the invalid variable;
    // note_invalid() then adds the variable's values.
    CUDA_OPT_HD bool accept_input(const StartReport &report);
    CUDA_OPT_HD int64_t invalid_index() const { return static_cast<int64_t>(numbers[0]); }
    CUDA_OPT_HD void note_invalid(const Variable &at) { numbers[1] = at.l, numbers[2] = at.x, numbers[3] = at.u; }
    CUDA_OPT_HD void count_evaluation() {
        results.evaluations++;
        event = Event::evaluation_wanted;
    }
    // Sets the results at an iterate from the sums there.
    CUDA_OPT_HD void measure(const PanelProducts &sums, double theta);
    CUDA_OPT_HD static IterateFacts facts_of(const PanelProducts &sums);
    // Returns the norm of the results that has to be measured because its square overflows or underflows.
    CUDA_OPT_HD Norm unknown_norm() const {
        return results.pg_norm2 == unmeasured  ? Norm::projected_gradient
               : results.x_norm2 == unmeasured ? Norm::x
                                               : Norm::none;
    }
    // Stores a norm. curvature: s'y of the pair with which the last two kinds of norm were measured.
    CUDA_OPT_HD void note_norm(Norm kind, double norm, double curvature);
    // Returns whether infinite components of g that the projection removes have to be set to 0, and the inner products
    // have to be formed again. This is tried once at each point at which a component is not finite.
    CUDA_OPT_HD bool removes_infinite_slopes(const Settings &settings, const PanelProducts &sums) {
        slopes_removed = !slopes_removed && settings.robust && bounded && sums.variable_sums[not_finite] > 0;
        return slopes_removed;
    }
    CUDA_OPT_HD bool accept_start(const PanelProducts &sums, int pairs); // returns false if f or g is not finite
    CUDA_OPT_HD void note_progress(const Settings &settings);
    CUDA_OPT_HD FirstStep steepest_descent_step(const Settings &settings) const;
    // Sets the first step of the next line search. Returns theta of B_0, or 0 if it does not change.
    CUDA_OPT_HD double begin_direction(const Settings &settings, int pairs);
    CUDA_OPT_HD void restart() {
        f_restarted = results.f, fresh_start = true;
        expected_decrease = f_previous - results.f; // the history, which could predict a decrease, is discarded
    }
    // Returns whether fewer steps have followed the last restart than the FACTR test requires. These steps do not use
    // an operator. Otherwise a poor operator could make f decrease slowly far from a minimum, and the test would hold.
    CUDA_OPT_HD bool is_restarting() const {
        return f_restarted < infinity && (fresh_start || steps_since_gradient < steps_before_verdict);
    }

    // ---- trial.hpp

    CUDA_OPT_HD void note_cauchy_point(const CauchyPoint &point, bool counts);
    CUDA_OPT_HD void begin_search(double theta); // the current x becomes the base point of the line search
    CUDA_OPT_HD bool descends(const Settings &settings, const DirectionSums &sums, int pairs);
    // Returns whether a direction that does not descend may be replaced by a truncated one, whose step from the Cauchy
    // point to the subspace minimiser ends at the boundary of the box.
    CUDA_OPT_HD bool can_truncate() const { return bounded && direction.projected > 0 && !truncated; }
    // Called before judge_trial(). At the first trial point it starts the line search.
    CUDA_OPT_HD void measure_trial(const Settings &settings, const PanelProducts &sums);
    CUDA_OPT_HD bool step_max_matters(const Settings &settings, const PanelProducts &sums, bool is_costly) const;
    CUDA_OPT_HD void set_step_max(const Settings &settings, double largest);
    CUDA_OPT_HD TrialVerdict judge_trial(const Settings &settings, const PanelProducts &sums);
    CUDA_OPT_HD double trial_step() const { return returning ? step : line.step(); }
    // Makes the trial point the next iterate. Because f has rounding errors and may have noise, this point may be worse
    // than the base point, at which the line search began. Returns whether the base point is the best iterate so far
    // and therefore has to be saved.
    CUDA_OPT_HD bool accept(const Settings &settings, const PanelProducts &sums);
    // Called after judge_trial(). Returns whether the trial point does not become an iterate, but has the lowest f so
    // far. It is then saved, and the solve returns it unless a lower f follows.
    CUDA_OPT_HD bool saves_trial(const Settings &settings, const PanelProducts &sums, TrialVerdict verdict);
    // Returns s'y of the new correction pair, or 0 if the pair is unusable.
    CUDA_OPT_HD double curvature(const PanelProducts &sums) const;
    CUDA_OPT_HD double curvature_scale(const Settings &settings, const PanelProducts &sums, double curvature) const;
    CUDA_OPT_HD double scale_without_pair(const Settings &settings, double theta) const;
    // Called after each failure of a line search, then norm_after_failure() until it returns Norm::none, and then
    // after_failure(). norm_after_failure() returns the norm that the verdict requires.
    CUDA_OPT_HD void note_failure(const Settings &settings, int pairs, double theta);
    CUDA_OPT_HD Norm norm_after_failure(const Settings &settings, int pairs) const;
    CUDA_OPT_HD FailureVerdict after_failure(const Settings &settings, int pairs);

    // ---- noise.hpp

    CUDA_OPT_HD double noise_level(const Settings &settings, double f) const; // 0 if f counts as free of noise
    CUDA_OPT_HD bool wants_noise_estimate(const Settings &settings) const;
    CUDA_OPT_HD double noise_spacing() const;

    // ---- defined in slow_progress.hpp

    CUDA_OPT_HD bool restarts_slow_solve(const Settings &settings);

    // ---- defined in termination.hpp

    // Returns the norm that has to be measured before judge_iterate(), or Norm::none.
    CUDA_OPT_HD Norm norm_at_iterate(const Settings &settings, int pairs) const;
    CUDA_OPT_HD IterateVerdict judge_iterate(const Settings &settings);
    CUDA_OPT_HD double significant_decrease(const Settings &settings) const;
    CUDA_OPT_HD void end(int code, Event why) { end_code = code, end_why = why; }
    CUDA_OPT_HD bool ends_at_limit(const Settings &settings, bool at_iterate);
    CUDA_OPT_HD void give_up(bool stop_requested, double seconds_passed);
    // Sets the results to those of the saved point, with which the solve ends. Returns f there.
    CUDA_OPT_HD double take_best();
    CUDA_OPT_HD void record_end();
    CUDA_OPT_HD double rounding_bound(const Settings &settings) const;

  private:
    CUDA_OPT_HD void note_direction(int pairs);
    CUDA_OPT_HD void start_search(const Settings &settings);
    CUDA_OPT_HD bool satisfies_weak_wolfe(const Settings &settings, double at, double f, double slope) const;
    CUDA_OPT_HD bool satisfies_approximate_wolfe(const Settings &settings, double f, double slope) const;
    CUDA_OPT_HD bool repeats_a_point(double f, double slope) const;
    CUDA_OPT_HD bool runs_away(const Settings &settings, double slope);
    CUDA_OPT_HD TrialVerdict backtrack(const Settings &settings);
    CUDA_OPT_HD TrialVerdict exhaust_search(const Settings &settings, double f, bool warned);
    CUDA_OPT_HD bool is_best(const Settings &settings, const PanelProducts &sums) const;
    CUDA_OPT_HD void note_progress_beyond_noise(double level);
    CUDA_OPT_HD FailureVerdict after_noisy_failure(const Settings &settings, int pairs);
    CUDA_OPT_HD Test stopping_test(const Settings &settings) const;
    CUDA_OPT_HD bool decrease_is_small(const Settings &settings) const;
    CUDA_OPT_HD double least_decrease(const Settings &settings) const;
    CUDA_OPT_HD double rounding_errors(const Settings &settings) const;
    CUDA_OPT_HD bool tests_rounding(const Settings &settings) const;
    CUDA_OPT_HD Norm norm_for_curvature(const Settings &settings, int pairs) const;
    CUDA_OPT_HD double flat_gradient(const Settings &settings) const;
    CUDA_OPT_HD bool is_relatively_flat(const Settings &settings) const;
    CUDA_OPT_HD double change_by_rounding() const;
    CUDA_OPT_HD bool is_rounding(const Settings &settings) const;
    CUDA_OPT_HD double negligible_decrease(const Settings &settings) const;
    CUDA_OPT_HD bool factr_is_verified(const Settings &settings) const;
    CUDA_OPT_HD bool restart_is_recent() const;
    CUDA_OPT_HD bool holds(Test test, const Settings &settings) const;
    CUDA_OPT_HD void converge(const Settings &settings, Test test);
};

CUDA_OPT_HD_INLINE void Iteration::begin(const StartReport &report) {
    bounded = report.bounded > 0; // an infinite bound does not count as a bound
    boxed = report.boxed == n;
    narrowest = report.narrowest;
    single_x = report.digits < 53;
    results.start_projected = report.projected;
}

CUDA_OPT_HD_INLINE bool Iteration::accept_input(const StartReport &report) {
    if (report.usable(n)) return true;
    const bool is_nan = report.bound_nan < n, is_crossed = report.crossed < n;
    event = is_nan ? Event::bound_is_nan : is_crossed ? Event::bounds_leave_no_x : Event::start_is_not_finite;
    numbers[0] = static_cast<double>(is_nan ? report.bound_nan : is_crossed ? report.crossed : report.x_nan);
    return false;
}

CUDA_OPT_HD_INLINE void Iteration::measure(const PanelProducts &sums, double theta) {
    static_cast<IterateFacts &>(results) = facts_of(sums);
    results.theta = theta;
    relative_gradient = hidden_gradient = relative_curvature = unexplained = unmeasured;
}

// A norm whose square overflows or underflows is not measured yet.
CUDA_OPT_HD_INLINE IterateFacts Iteration::facts_of(const PanelProducts &sums) {
    const double *const of = sums.variable_sums;
    const auto is_representable = [](double squares) {
        return squares >= smallest_normal / machine_epsilon && is_finite(squares);
    };
    const double largest = sums.projected_gradient_max, pg_squared = of[projected_gradient_squared];
    const bool has_pg = is_representable(pg_squared) || !(is_finite(largest) && largest > 0);
    return {sums.f,
            has_pg ? std::sqrt(pg_squared) : unmeasured,
            largest,
            is_representable(of[x_squared]) ? std::sqrt(of[x_squared]) : unmeasured,
            static_cast<int64_t>(of[at_lower]),
            static_cast<int64_t>(of[at_upper])};
}

// In the variables x_i / |x_i|, let y be the change of the gradient along the stored pair s. Rounding x to the next
// number, by r with ||r|| of about u, changes the gradient by about y (y'r) / s'y, where |y'r| <= u ||y||.
CUDA_OPT_HD_CALL inline void Iteration::note_norm(Norm kind, double norm, double curvature) {
    constexpr double most_units = 40;
    const auto positive = [](double v) { return least(greatest(v, smallest_normal), largest_finite); };
    switch (kind) {
    case Norm::none: return;
    case Norm::x: results.x_norm2 = least(norm, largest_finite); return;
    case Norm::projected_gradient: results.pg_norm2 = least(norm, largest_finite); return;
    case Norm::relative_gradient: relative_gradient = norm; return;
    case Norm::narrow_gradient: hidden_gradient = norm; return;
    case Norm::relative_change:
        relative_curvature = positive(norm * (norm / curvature));
        change_weight = positive(most_units * unit_of_x() * (norm / curvature));
        return;
    case Norm::unexplained_gradient: unexplained = norm; return;
    }
}

CUDA_OPT_HD_INLINE bool Iteration::accept_start(const PanelProducts &sums, int pairs) {
    first = false;
    const double not_finite_components = sums.variable_sums[not_finite];
    if (!is_finite(sums.f) || not_finite_components > 0) {
        numbers[0] = not_finite_components;
        end(CUDA_OPT_NOT_FINITE, Event::not_finite_at_start);
        return false;
    }
    f_previous = infinity;
    f_best = sums.f;
    single_f = is_single(sums.f);
    fresh_start = pairs == 0;
    return true;
}

// Counts the iterations without progress. The count is needed because the approximate Wolfe conditions would accept
// steps for ever if no stopping test is set and f changes only by rounding errors.
CUDA_OPT_HD_INLINE void Iteration::note_progress(const Settings &settings) {
    if (const double level = noise_level(settings, results.f); level > 0) return note_progress_beyond_noise(level);
    const bool progress = f_noted == infinity || results.f < f_noted - 10 * machine_epsilon * std::fabs(f_noted) ||
                          results.pg_norm2 < (1 - progress_share) * pg_noted;
    if (progress) {
        f_noted = least(f_noted, results.f);
        pg_noted = least(pg_noted, results.pg_norm2);
    }
    in_vain = progress ? 0 : in_vain + 1;
}

CUDA_OPT_HD_INLINE double Iteration::begin_direction(const Settings &settings, int pairs) {
    FirstStep chosen{pairs == 0 && !settings.robust ? 1.0 : 0.0, 1};
    if (fresh_start) chosen = steepest_descent_step(settings);
    first_step = least(chosen.step, settings.step_max);
    truncated = false;
    return chosen.theta;
}

// Returns the first step along -g. As in VA15 and L-BFGS-B 3.0, the first trial point is x - t P g with t = 1 / ||P
// g||. With bounds t is at most 1, and it is 1 if every variable has two bounds. Without bounds the direction is -g /
// theta with theta = ||g|| and the step is 1, so that d is not lost in the rounding of x, whatever the scale of f is.
// With bounds the direction is -P g and theta is 1, unless the distance exceeds ||P g||. With another theta the trial
// point P(x - g / theta) could be much farther away, because bounds make P g shorter than g. The distance is changed in
// four cases:
// - The trial point would round to x. The distance is increased.
// - According to its slope, f would change by less than its rounding errors. The distance is increased, up to 1.
// - The distance exceeds 2^26 ||x||, so that f could not be interpolated there. It is reduced to that, unless every
//   variable has two bounds, or x is 0 or so small that no pair could be formed from such a step.
// - The diagonal is learned. The distance is then at most 2 |f| / ||P g||, at which a parabola with this f and slope
//   and the minimum 0 has its minimiser. Because f may be small by chance, this shortens the step at most 1000 times.
CUDA_OPT_HD_CALL inline FirstStep Iteration::steepest_descent_step(const Settings &settings) const {
    constexpr double far = 67108864.0;                                  // 2^26
    const double few_digits = single_x ? 1 / 262144.0 : 1 / 67108864.0; // 2^-18, 2^-26
    constexpr double shortest = 1e-3;
    const bool learns = settings.metric == Metric::learned;
    const double norm = results.pg_norm2, x = results.x_norm2, f = std::fabs(results.f);
    const FirstStep classical{1, boxed ? 1 : bounded ? least(1 / norm, 1.0) : 1 / norm};
    if (settings.metric == Metric::callers) return classical;
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

} // namespace cudaopt
