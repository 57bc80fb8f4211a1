// The states of the state machine, and its transitions. In each state the machine waits for the reply to a request.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace cudaopt {

enum class State {
    start,             // nothing: the solve begins
    start_checked,     // the report on x and the bounds
    start_refused,     // the variable that is invalid
    first_point,       // f and g, from the caller
    unscaled_products, // products without weights, of stored pairs that had weights
    first_products,    // the products at the start
    norm_measured,     // a norm of the results whose square is not representable
    iterate_logged,    // a line of the log
    iterate,           // the caller has seen the iterate
    test_measured,     // a norm that a stopping test requires
    diagonal,          // a diagonal, from the caller
    diagonal_checked,  // the index of its first bad element
    model_products,    // the products of the next model
    cauchy,            // the request of the Cauchy search (CauchyState)
    operator_used,     // the request of the operator's use (OperatorState)
    direction_taken,   // the direction, perhaps with its sums
    stepped,           // the point at another step
    trial_point,       // f and g, from the caller
    trial_products,    // the products at the trial point
    step_max,          // the largest step within the box
    truncation_ready,  // x is the base point again
    truncated,         // the truncation factor of the direction
    search_failed,     // x is the base point again
    noise_sampled,     // the request of the sampling of f (noise::Sampling)
    failure_measured,  // a norm that is required after a failed line search
    ending,            // x, f and g become the best iterate
    end_logged,        // the last lines of the log
    ended,             // nothing
    count
};

struct Transition {
    State from;
    const char *name;
    uint64_t to; // one bit for each state that may follow
};

constexpr uint64_t any_of(std::initializer_list<State> states) {
    uint64_t bits = 0;
    for (const State state : states) bits |= uint64_t{1} << static_cast<int>(state);
    return bits;
}

// Each of these sets contains the states that may follow when one step of the iteration is complete.
constexpr uint64_t to_direction = any_of({State::direction_taken, State::truncated, State::operator_used}),
                   to_model = to_direction | any_of({State::cauchy, State::model_products, State::diagonal_checked}),
                   to_test = to_model | any_of({State::test_measured, State::diagonal}),
                   to_iterate = to_test | any_of({State::norm_measured, State::iterate_logged, State::iterate}),
                   to_search = any_of({State::search_failed, State::truncation_ready, State::operator_used}),
                   to_trial = to_iterate | to_search | any_of({State::stepped, State::step_max});

// The last three states may follow every earlier one, because a solve may end in each state (may_follow()).
constexpr Transition transitions[] = {
    {State::start, "start", any_of({State::start_checked})},
    {State::start_checked, "start_checked", any_of({State::start_refused, State::first_point})},
    {State::start_refused, "start_refused", any_of({State::start})},
    {State::first_point, "first_point", any_of({State::unscaled_products, State::first_products})},
    {State::unscaled_products, "unscaled_products", any_of({State::first_products})},
    {State::first_products, "first_products", to_iterate | any_of({State::first_products})},
    {State::norm_measured, "norm_measured", to_iterate},
    {State::iterate_logged, "iterate_logged", to_test | any_of({State::iterate})},
    {State::iterate, "iterate", to_test},
    {State::test_measured, "test_measured", to_test},
    {State::diagonal, "diagonal", to_model},
    {State::diagonal_checked, "diagonal_checked", 0},
    {State::model_products, "model_products", to_model},
    {State::cauchy, "cauchy", to_model},
    {State::operator_used, "operator_used", to_direction | any_of({State::model_products})},
    {State::direction_taken, "direction_taken", to_search | any_of({State::trial_point})},
    {State::stepped, "stepped", any_of({State::trial_point})},
    {State::trial_point, "trial_point", any_of({State::trial_products})},
    {State::trial_products, "trial_products", to_trial | any_of({State::trial_products})},
    {State::step_max, "step_max", to_trial},
    {State::truncation_ready, "truncation_ready", any_of({State::model_products, State::truncated})},
    {State::truncated, "truncated", any_of({State::direction_taken})},
    {State::search_failed, "search_failed", to_model | any_of({State::failure_measured, State::noise_sampled})},
    {State::noise_sampled, "noise_sampled", any_of({State::noise_sampled, State::search_failed})},
    {State::failure_measured, "failure_measured", to_model | any_of({State::failure_measured, State::noise_sampled})},
    {State::ending, "ending", 0},
    {State::end_logged, "end_logged", 0},
    {State::ended, "ended", 0},
};

constexpr int state_count = static_cast<int>(State::count);
constexpr bool are_ordered(int k = 0) {
    return k == state_count || (static_cast<int>(transitions[k].from) == k && are_ordered(k + 1));
}
static_assert(sizeof transitions / sizeof *transitions == state_count && are_ordered(), "one row for each state");

constexpr const char *name_of(State state) { return transitions[static_cast<int>(state)].name; }
constexpr bool may_follow(State from, State to) {
    if (to >= State::ending) return to > from || (to == from && to != State::end_logged);
    return transitions[static_cast<int>(from)].to >> static_cast<int>(to) & 1;
}

} // namespace cudaopt
