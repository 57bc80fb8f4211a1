// The last event of a solve: the task that the caller has received, or the reason why the solve ended. On request,
// solver/sentence.cpp forms a message from the event and the record of the solve.
#pragma once

namespace cudaopt {

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
    diagonal_is_bad,
    operator_is_not_finite,
    operator_is_not_positive,
    no_descent,
    nothing_lower,
    lower_not_accepted,
    lower_not_found_again,
    below_any_bound,
    falls_without_end,
    // Requested by the caller.
    stopped,
    stopped_while_waiting,
    time_limit_while_waiting,
    called_after_end
};

} // namespace cudaopt
