// The states of the state machine, and its transitions. In each state the machine waits for a reply from the backend or
// the caller. The comment at each state names what the reply contains. Most iterations use only direction_taken,
// trial_point, trial_products and, with bounds, cauchy. The base point is the iterate at which the line search began.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace cudaopt {

enum class State {
    start,             // no content; the solve begins
    start_checked,     // the report on x and the bounds
    start_refused,     // l, x and u of the invalid variable; `start` follows, because the caller may correct the input
    first_point,       // f and g at the starting point, from the caller
    unscaled_products, // unweighted products of pairs from an earlier solve that used a diagonal; this solve has none
    first_products,    // the products at the start
    norm_measured,     // ||x|| or ||P g||, if its square overflows or underflows
    iterate_logged,    // no content; the log of the start or of the iterate is written
    iterate,           // no content; the caller has seen the iterate (only if iterates are reported)
    test_measured,     // a norm that a stopping test requires
    diagonal,          // a diagonal, from the caller
    diagonal_checked,  // the index of the first bad element of the caller's diagonal, with which the solve ends
    model_products,    // the products of the next model, if those at the trial point cannot be used
    cauchy,            // crossed breakpoints, or products over the free variables (CauchyState)
    operator_used,     // what the use of the caller's operator requires (OperatorState)
    direction_taken,   // d and the first trial point are formed; g'd and d'd, unless they follow with trial_products
    stepped,           // no content; the trial point at a later step of the line search is formed
    trial_point,       // f and g at the trial point, from the caller
    trial_products,    // the products at the trial point
    step_max,          // the largest step within the box
    truncation_ready,  // x, f and g of the base point are restored, and d will be truncated
    truncated,         // the factor alpha that truncates d at the box; the direction is formed next
    search_failed,     // x, f and g of the base point are restored after a failed line search or without descent
    noise_sampled,     // what the sampling of f requires (noise::Sampling)
    failure_measured,  // a norm that is required after a failed line search
    ending,            // a final action is complete: the newest y is stored, a point restored, or a norm measured
    end_logged,        // the last lines of the log
    ended,             // no content; a further call is misuse
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

// Each set contains the states that may follow an event: the subspace minimiser is found; the stopping tests are
// passed; the log is written; the trial point is accepted; the direction or the line search is rejected; the products
// at a trial point are known. Later steps may need no request, so that their states are in the set as well.
constexpr uint64_t after_minimiser = any_of({State::direction_taken, State::truncated, State::operator_used}),
                   after_tests =
                       after_minimiser | any_of({State::cauchy, State::model_products, State::diagonal_checked}),
                   after_log = after_tests | any_of({State::test_measured, State::diagonal}),
                   after_acceptance = after_log | any_of({State::norm_measured, State::iterate_logged, State::iterate}),
                   after_rejection = any_of({State::search_failed, State::truncation_ready, State::operator_used}),
                   after_products = after_acceptance | after_rejection | any_of({State::stepped, State::step_max});

// The last three states may follow every earlier one, where the solve ends. `ending` and `ended` may also follow
// themselves (may_follow()). Products are requested again after infinite components of g were set to 0.
constexpr Transition transitions[] = {
    {State::start, "start", any_of({State::start_checked})},
    {State::start_checked, "start_checked", any_of({State::start_refused, State::first_point})},
    {State::start_refused, "start_refused", any_of({State::start})},
    {State::first_point, "first_point", any_of({State::unscaled_products, State::first_products})},
    {State::unscaled_products, "unscaled_products", any_of({State::first_products})},
    {State::first_products, "first_products", after_acceptance | any_of({State::first_products})},
    {State::norm_measured, "norm_measured", after_acceptance},
    {State::iterate_logged, "iterate_logged", after_log | any_of({State::iterate})},
    {State::iterate, "iterate", after_log},
    {State::test_measured, "test_measured", after_log},
    {State::diagonal, "diagonal", after_tests},
    {State::diagonal_checked, "diagonal_checked", 0},
    {State::model_products, "model_products", after_tests},
    {State::cauchy, "cauchy", after_tests},
    {State::operator_used, "operator_used", after_minimiser | any_of({State::model_products})},
    {State::direction_taken, "direction_taken", after_rejection | any_of({State::trial_point})},
    {State::stepped, "stepped", any_of({State::trial_point})},
    {State::trial_point, "trial_point", any_of({State::trial_products})},
    {State::trial_products, "trial_products", after_products | any_of({State::trial_products})},
    {State::step_max, "step_max", after_products},
    {State::truncation_ready, "truncation_ready", any_of({State::model_products, State::truncated})},
    {State::truncated, "truncated", any_of({State::direction_taken})},
    {State::search_failed, "search_failed", after_tests | any_of({State::failure_measured, State::noise_sampled})},
    {State::noise_sampled, "noise_sampled", any_of({State::noise_sampled, State::search_failed})},
    {State::failure_measured, "failure_measured", after_tests | any_of({State::failure_measured})},
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
