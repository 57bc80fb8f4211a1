// The record of one solve, and the decisions about it: whether a trial point is accepted, whether an iterate ends the
// solve, and what follows a failed line search. A decision returns a verdict and changes only this record. The state
// machine of one large problem (state_machine.hpp) and the loop of many small ones (batch/next_trial.hpp) perform the
// actions that the verdicts require.
//
// Each part of the record has a file with its decisions, and derives from the part before it:
//
//     Record         the results, and the facts of the problem (this file)
//     SearchRecord   the state of the current line search (this file)
//     Progress       f and ||P g|| at earlier points, and the best point (progress.hpp)
//     Termination    the stopping tests, and the end of the solve (termination.hpp)
//     Trials         the decisions at trial points (trial.hpp)
//     Iteration      the first step along a direction, and what follows a failed line search (iteration.hpp)
//
// P g = x - P(x - g) is the projected gradient, where P(z) projects z onto the box.
#pragma once

#include <cmath>

#include "lbfgsb/cauchy_point.hpp"
#include "lbfgsb/settings.hpp"
#include "line_search/more_thuente.hpp"

namespace cudaopt {

// The last event of a solve: the task that the caller has received, or the reason why the solve ended. On request,
// solver/sentence.cpp forms a message from the event and the record of the solve.
enum class Event {
    nothing,
    // Tasks for the caller.
    evaluation_wanted,
    diagonal_wanted,
    operator_wanted,
    iterate_reached,
    // Invalid input at the start.
    bound_is_nan,
    bounds_leave_no_x,
    start_is_not_finite,
    converged, // by the stopping test Iteration::end_test
    // Limits.
    iteration_limit_reached,
    evaluation_limit_reached,
    time_limit_reached,
    // The solve cannot continue.
    not_finite_at_start,
    not_finite_after_cuts,
    nothing_has_fallen,
    restart_gained_little,
    noise_hides_descent,
    diagonal_is_bad,
    operator_is_not_finite,
    operator_is_not_positive,
    // The reasons for which a line search fails.
    no_descent,            // the direction is not a descent direction
    nothing_lower,         // no lower f was found
    lower_not_accepted,    // without ROBUST: a lower f was found, but L-BFGS-B 3.0 does not return to that point
    lower_not_found_again, // f at the lowest point was higher when it was evaluated again
    below_any_bound,
    falls_without_end,
    // Requested by the caller.
    stopped,
    stopped_while_waiting,
    time_limit_while_waiting,
    called_after_end
};

struct Record {
    static constexpr double unmeasured = -1; // a norm that is measured only if a decision needs it
    static constexpr double unit_roundoff = machine_epsilon / 2, single_unit_roundoff = 1 / 16777216.0; // 2^-53, 2^-24
    // Below this fraction of |f| a difference of f counts as a rounding error (approximate Wolfe conditions).
    static constexpr double rounding_level = 1e5 * machine_epsilon;

    Results results;
    // Numbers for the message that are not stored elsewhere or change before it is written. Invalid input: its index,
    // l, x and u. Convergence by FACTR: the decrease of f and its bound. Others: as `solver/sentence.cpp` says.
    double numbers[4] = {};

    int64_t n = 0;
    double narrowest = infinity;  // the least positive u_i - l_i
    Event event = Event::nothing; // the last task that the caller received, or the end of the solve
    // bounded: at least one variable has a finite bound. boxed: every variable has two finite bounds.
    bool bounded = false, boxed = false;
    // single_x: x is stored in single precision. single_f: single precision represents all values of f so far exactly.
    bool single_x = false, single_f = true;
    bool first = true;           // true until accept_start() has accepted f and g at the starting point
    bool slopes_removed = false; // infinite components of g were set to 0, and the products are being formed again
    // Whether ||P g|| and ||x|| of the results have to be measured, because their squares overflow or underflow.
    bool pg_norm_unknown = false, x_norm_unknown = false;

    // Return the unit roundoff of the precision in which x is stored, and of that of all values of f so far.
    CUDA_OPT_HD double unit_of_x() const { return single_x ? single_unit_roundoff : unit_roundoff; }
    CUDA_OPT_HD double unit_of_f() const { return single_f ? single_unit_roundoff : unit_roundoff; }

    CUDA_OPT_HD_INLINE void begin(const StartReport &report) {
        bounded = report.bounded > 0; // an infinite bound does not count as a bound
        boxed = report.boxed == n;
        narrowest = report.narrowest;
        single_x = report.digits < 53;
        results.start_projected = report.projected;
    }

    // Returns whether x and the bounds are valid. Otherwise it sets the event and the index of the invalid variable;
    // note_invalid() then adds the variable's values.
    CUDA_OPT_HD_INLINE bool accept_input(const StartReport &report) {
        if (report.usable(n)) return true;
        const bool is_nan = report.bound_nan < n, is_crossed = report.crossed < n;
        event = is_nan ? Event::bound_is_nan : is_crossed ? Event::bounds_leave_no_x : Event::start_is_not_finite;
        numbers[0] = static_cast<double>(is_nan ? report.bound_nan : is_crossed ? report.crossed : report.x_nan);
        return false;
    }
    CUDA_OPT_HD int64_t invalid_index() const { return static_cast<int64_t>(numbers[0]); }
    CUDA_OPT_HD void note_invalid(const Variable &at) { numbers[1] = at.l, numbers[2] = at.x, numbers[3] = at.u; }

    CUDA_OPT_HD void count_evaluation() {
        results.evaluations++;
        event = Event::evaluation_wanted;
    }

    CUDA_OPT_HD static bool norm_is_representable(double squares) {
        return squares >= smallest_normal / machine_epsilon && is_finite(squares);
    }
    // The norms are those whose squares are representable.
    CUDA_OPT_HD_INLINE static IterateFacts facts_of(const PanelProducts &sums) {
        const double *const of = sums.variable_sums;
        return {sums.f,
                std::sqrt(of[projected_gradient_squared]),
                sums.projected_gradient_max,
                std::sqrt(of[x_squared]),
                static_cast<int64_t>(of[at_lower]),
                static_cast<int64_t>(of[at_upper])};
    }
    // Returns the norm of the results that has to be measured.
    CUDA_OPT_HD Norm unknown_norm() const {
        return pg_norm_unknown ? Norm::projected_gradient : x_norm_unknown ? Norm::x : Norm::none;
    }

    // Returns whether infinite components of g that the projection removes have to be set to 0, and the inner products
    // have to be formed again. This is tried once at each point at which a component is not finite.
    CUDA_OPT_HD bool removes_infinite_slopes(const Settings &settings, const PanelProducts &sums) {
        slopes_removed = !slopes_removed && settings.robust && bounded && sums.variable_sums[not_finite] > 0;
        return slopes_removed;
    }

    // Returns the noise level eps_f = max(NOISE_ABS + NOISE |f|, the estimate). Without the option ROBUST it returns 0,
    // because the iterates are then those of L-BFGS-B 3.0, which does not allow for noise.
    CUDA_OPT_HD_INLINE double noise_level(const Settings &settings, double f) const {
        if (!settings.robust) return 0;
        return greatest(settings.noise_abs + settings.noise * std::fabs(f), results.noise_estimate);
    }
};

// The state of the current line search, from its base point on.
struct SearchRecord : Record {
    double f_base = 0, slope_base = 0; // f and the slope along d at the base point
    double first_step = 1;             // first step of the line search, as a multiple of d
    double step = 0;                   // step to the trial point, as a multiple of d
    double unit = 1;           // 1 / theta for a first step along -g; reported steps are step * unit, as in version 3.0
    DirectionSums direction{}; // the sums over d, among them g'd and d'd
    // The numbers of free variables and of crossed breakpoints at the Cauchy point of this direction.
    int64_t cauchy_free = 0, cauchy_breakpoints = 0;
    MoreThuente line;
    int64_t search_evaluations = 0; // finite trial points, without a repeated evaluation of the lowest one
    int64_t cuts_in_a_row = 0;
    double lowest_trial = infinity;    // the lowest f of a trial point of this line search
    bool truncated = false;            // whether the direction was truncated at the box
    bool fresh_start = false;          // the next line search is along -g, with an estimated first step
    bool from_sizes = false;           // it is along -h g with h_i = x_i^2 instead (begins_from_sizes())
    bool search_started = false;       // the first trial point was measured
    bool step_max_pending = false;     // whether the largest step within the box must still be computed
    bool exhausted = false;            // with ROBUST: the limit of evaluations was reached, without an acceptable step
    bool returning = false;            // the line search evaluates its lowest point again, to accept that point
    bool at_iterate = true;            // whether x, f and g are those of an iterate, not of a trial point
    bool ran_away = false;             // in the last line search f decreased almost linearly up to the last step
    Event failure = Event::no_descent; // why the last line search failed

    // Returns whether a direction that does not descend may be replaced by a truncated one, whose step from the Cauchy
    // point to the subspace minimiser ends at the boundary of the box.
    CUDA_OPT_HD bool can_truncate() const { return bounded && direction.projected > 0 && !truncated; }

    CUDA_OPT_HD double trial_step() const { return returning ? step : line.step(); }

    // counts: whether the totals of the results are increased; false when a direction is truncated.
    CUDA_OPT_HD_INLINE void note_cauchy_point(const CauchyPoint &point, bool counts) {
        if (counts && bounded) results.cauchy_segments += point.segments;
        if (counts) {
            results.cauchy_crossings += point.crossed;
            results.breakpoints_crossed += point.breakpoints_crossed;
        }
        cauchy_free = bounded ? static_cast<int64_t>(point.free_variables) : n;
        cauchy_breakpoints = point.breakpoints_crossed;
        results.cauchy_t = point.t;
        results.cauchy_t_first = point.t_first;
    }

    // Returns whether the noise level has to be estimated after the failed line search.
    CUDA_OPT_HD_INLINE bool wants_noise_estimate(const Settings &settings) const {
        return settings.noise_auto && settings.robust && failure != Event::no_descent && direction.d_squared > 0;
    }

    // Returns the spacing, as a multiple of d, of the points at which f is sampled. The points must still be different
    // after rounding to the precision of x, and must be so close together that f is smooth between them. No point is
    // farther away than the first trial point, so that all points are in the box.
    CUDA_OPT_HD_CALL inline double noise_spacing() const {
        const double share = single_x ? 1e-4 : 1e-7, smallest_x = 1e-3;
        const double distance = share * greatest(smallest_x, results.x_norm2);
        return least(distance / std::sqrt(direction.d_squared), first_step / noise::samples);
    }

  protected:
    CUDA_OPT_HD_INLINE void note_direction(int pairs) {
        results.direction_norm2 = std::sqrt(direction.d_squared) / unit;
        results.slope_start = direction.slope / unit;
        // Without pairs the model is separable: the projection stops the variables whose breakpoints are crossed.
        const auto projected = static_cast<int64_t>(direction.projected);
        const int64_t stopped = pairs == 0 ? least(projected, cauchy_free) : 0;
        results.cauchy_free = cauchy_free - stopped;
        results.cauchy_breakpoints = cauchy_breakpoints + stopped;
        results.subspace_projected = projected - stopped;
    }
};

} // namespace cudaopt
