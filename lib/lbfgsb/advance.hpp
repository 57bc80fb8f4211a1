// The state machine's turns: from the start to the first direction, and the way of every iterate. direction.hpp,
// trial.hpp and ending.hpp hold the others.
#pragma once

#include <new>

#include "cuda_opt.h"
#include "lbfgsb/direction.hpp"
#include "lbfgsb/ending.hpp"
#include "lbfgsb/trial.hpp"

namespace cudaopt {

// A state in a block of state_bytes(m) zero bytes, aligned to 8. full: whether its memory is it from the start.
template <class Kind> CUDA_OPT_HD inline StateOf<Kind> *make_state(void *block, int64_t n, int m, bool full) {
    auto *const state = new (block) StateOf<Kind>;
    dense::PlaceArrays place{reinterpret_cast<double *>(state + 1)};
    state->each_array(m, place);
    state->n_ = n;
    state->memory_.begin(full);
    return state;
}

// Turns until one asks. They lead to later ones of the same iteration, without a loop.
template <class Kind>
template <class Rows>
CUDA_OPT_HD inline const Request &StateOf<Kind>::advance(const Answer &answer, const Rows &rows) {
    seconds_ = answer.seconds;
    Turn turn = begin_turn(answer, rows);
    if constexpr (!Kind::keeps_search) {
        take_in_order(turn, answer, rows, std::make_integer_sequence<int, static_cast<int>(Turn::asks)>());
    } else {
        while (turn != Turn::asks) turn = take(turn, answer, rows);
    }
    return request_;
}

// Each in its place: threads of a device side by side, each with a problem at a turn of its own, wait at a turn for
// those that are still to come to it, and take it together.
template <class Kind>
template <class Rows, int... turns>
CUDA_OPT_HD_INLINE void StateOf<Kind>::take_in_order(Turn &turn, const Answer &answer, const Rows &rows,
                                                     std::integer_sequence<int, turns...>) {
    const auto take_if = [&](Turn which) {
        if (threads_meet(turn) == which) turn = take(which, answer, rows);
    };
    (take_if(static_cast<Turn>(turns)), ...);
}

template <class Kind>
template <class Rows>
CUDA_OPT_HD_INLINE Turn StateOf<Kind>::take(Turn turn, const Answer &answer, const Rows &rows) {
    switch (turn) {
    case Turn::measure_trial: panel_ = products_at_trial(); return ask_and_learn(Stage::trial_products);
    case Turn::judge_trial: return judge_trial(products(answer, rows), answer.direction);
    case Turn::search: return advance_line_search(products(answer, rows), rows);
    case Turn::accept: return accept(products(answer, rows));
    case Turn::append_pair: return append_pair(products(answer, rows));
    case Turn::measure_iterate: return measure_iterate(products(answer, rows));
    case Turn::measure_x: return measure_x(products(answer, rows).row_sums[x_squared]);
    case Turn::log_iterate: return log_iterate(products(answer, rows));
    case Turn::judge_iterate: return judge_iterate();
    case Turn::begin_direction: return begin_direction();
    case Turn::begin_cauchy: return begin_cauchy(products(answer, rows), rows);
    case Turn::follow_cauchy:
    case Turn::minimise_subspace:
        if constexpr (asks_for_rows) {
            if (turn == Turn::minimise_subspace)
                return minimise_subspace(cauchy_, *answer.sums, subspace_.coefficients());
            return follow_cauchy(cauchy_.resume(memory_, memory_.middle(), *answer.sums, answer.crossed));
        }
        break;
    case Turn::take_direction: return take_direction();
    case Turn::judge_direction:
        if (answer.direction && !descends(*answer.direction)) return replace_direction();
        return ask_evaluation(Stage::trial_point);
    case Turn::asks: break;
    }
    return Turn::asks;
}

// What each stage begins with.
template <class Kind>
template <class Rows>
CUDA_OPT_HD_INLINE Turn StateOf<Kind>::begin_turn(const Answer &answer, const Rows &rows) {
    switch (stage_) {
    case Stage::start: return check_start();
    case Stage::start_checked: return judge_start(answer.start);
    case Stage::start_refused: return tell_refusal(answer.variable);
    case Stage::first_point: return measure_start();
    case Stage::plain_products:
        if constexpr (serves_metrics) memory_.take_plain(*answer.sums);
        return measure_start();
    case Stage::first_products: products_hold_ = !callers_metric(); return Turn::measure_iterate;
    case Stage::pg_norm_measured: results.pg_norm2 = least(answer.number, largest_finite); return Turn::measure_x;
    case Stage::x_norm_measured: results.x_norm2 = least(answer.number, largest_finite); return Turn::log_iterate;
    case Stage::iterate_logged: return go_on_logged(products(answer, rows));
    case Stage::iterate: return Turn::judge_iterate;
    case Stage::fall_verified: relatively_flat_ = is_relatively_flat(answer.number); return Turn::judge_iterate;
    case Stage::diagonal: return take_diagonal();
    case Stage::diagonal_checked: return judge_diagonal(answer.index);
    case Stage::model_products: return Turn::begin_cauchy;
    case Stage::direction_taken: return Turn::judge_direction;
    case Stage::stepped: return ask_evaluation(Stage::trial_point);
    case Stage::trial_point: return Turn::measure_trial;
    case Stage::trial_products: return Turn::judge_trial;
    case Stage::best_put_aside: return Turn::append_pair;
    case Stage::search_failed: return after_failure();
    case Stage::failure_verified: relatively_flat_ = is_relatively_flat(answer.number); return after_failure();
    case Stage::ending: return settle();
    case Stage::end_logged: stage_ = Stage::ended; return ask_caller(Stage::ended, end_code_);
    case Stage::cauchy:
    case Stage::longest_step:
    case Stage::truncation_ready:
    case Stage::truncated:
        if constexpr (Kind::bounds) return begin_turn_within_bounds(answer);
        break;
    case Stage::ended: break;
    }
    event = {EventKind::called_after_end, {}, {}};
    request_ = {};
    request_.task = CUDA_OPT_MISUSE; // task() stays how the solve ended
    return Turn::asks;
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::begin_turn_within_bounds(const Answer &answer) {
    if constexpr (asks_for_rows) {
        if (stage_ == Stage::cauchy) return Turn::follow_cauchy;
        if (stage_ == Stage::longest_step) {
            know_longest_step(answer.number);
            return Turn::search;
        }
    }
    if (stage_ == Stage::truncation_ready) return prepare_truncation();
    direction_.alpha = answer.number;
    results.truncations++;
    return Turn::take_direction;
}

template <class Kind> CUDA_OPT_HD inline Turn StateOf<Kind>::ask(Stage next, Verb verb) {
    stage_ = next;
    request_.verb = verb;
    return Turn::asks;
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::ask_products(Stage next, const PanelRequest &panel) {
    asked_ = panel;
    metric_.ask({});
    if constexpr (serves_metrics)
        asked_.single = settings().product_bits == 32 && memory_.plain() && memory_.fits_single_precision(n_);
    return ask(next, Verb::inner_products);
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::ask_caller(Stage next, int task) {
    ask(next, Verb::task);
    request_.task = task_ = task;
    return Turn::asks;
}

// Every request for an evaluation goes through here.
template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::ask_evaluation(Stage next) {
    results.evaluations++;
    event.kind = EventKind::evaluation_wanted;
    event.integers[0] = results.evaluations;
    return ask_caller(next, CUDA_OPT_EVALUATE_FG);
}

template <class Kind> CUDA_OPT_HD_CALL inline void StateOf<Kind>::begin_anew(bool keep_pairs) {
    if (!keep_pairs || broken_) { // where the machine has failed, what the pairs are is unknown
        memory_.clear();
        metric_.clear();
    }
    remakes_for_truncation_ = false;
    diagonal_supplied_at_ = -1;
    direction_.gradient_coefficient = 0;
    results = Results{};
    stage_ = Stage::start;
    broken_ = pair_unfinished_ = products_hold_ = direction_sums_known_ = false;
    at_iterate_ = first_ = true;
    search_evaluations_ = cuts_in_a_row_ = 0;
    f_refreshed_ = pg_refreshed_ = f_best_ = infinity;
    best_is_aside_ = false;
    f_noted_ = pg_noted_ = infinity;
    refreshes_in_vain_ = postponed_ = reached_ = in_vain_ = steps_since_gradient_ = 0;
    exhausted_ = returning_ = ran_away_ = relatively_flat_ = false;
    f_is_single_ = true;
    expected_fall_ = f_restarted_ = infinity;
    told_early_ = {};
}

template <class Kind> CUDA_OPT_HD_CALL inline int StateOf<Kind>::finish_pair() {
    if (!pair_unfinished_) return -1;
    pair_unfinished_ = products_hold_ = false;
    return memory_.newest_slot();
}

// Pairs that a warm start brings may be of another metric, whose diagonal is there no longer.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::check_start() {
    if (metric_at_work_ != settings().metric) metric_.clear();
    metric_at_work_ = settings().metric;
    return ask(Stage::start_checked, Verb::check_start);
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::judge_start(StartReport report) {
    if (report.bound_nan < n_) return refuse_start(EventKind::bound_is_nan, report.bound_nan);
    if (report.crossed < n_) return refuse_start(EventKind::bounds_leave_no_x, report.crossed);
    if (report.x_nan < n_) return refuse_start(EventKind::start_is_not_finite, report.x_nan);
    bounded_ = report.bounded > 0; // arrays of infinities are no bounds
    boxed_ = report.boxed == n_;
    single_ = report.digits < 53;
    results.start_projected = report.projected;
    return ask_evaluation(Stage::first_point);
}

// f and g are there.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::measure_start() {
    use_stored_pairs();
    if (!in_metric() && !memory_.plain()) {
        PanelRequest all = panel_;
        all.threshold = -1;
        all.free_gram = true;
        return ask_products(Stage::plain_products, all);
    }
    // The caller's diagonal is still to come.
    return ask_products(Stage::first_products, metric_.exists() ? model_panel() : panel_);
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::refuse_start(EventKind why, int64_t index) {
    event = {why, {index, n_}, {}};
    ask(Stage::start_refused, Verb::read_variable);
    request_.index = index;
    return Turn::asks;
}

// And stay at the start: a corrected call may follow.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::tell_refusal(Variable variable) {
    event.numbers[0] = variable.l;
    event.numbers[1] = variable.x;
    event.numbers[2] = variable.u;
    return ask_caller(Stage::start, CUDA_OPT_IMPROPER_INPUT);
}

// The facts of an iterate from the sums there; norms from sweeps of their own where their squares leave the range of
// numbers.
template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::measure_iterate(const PanelProducts &sums) {
    results.f = sums.f;
    results.pg_norm_max = sums.projected_gradient_max;
    results.at_lower = static_cast<int64_t>(sums.row_sums[at_lower]);
    results.at_upper = static_cast<int64_t>(sums.row_sums[at_upper]);
    results.theta = memory_.theta();
    const double squares = sums.row_sums[projected_gradient_squared];
    results.pg_norm2 = std::sqrt(squares);
    if (is_finite(results.pg_norm_max) && results.pg_norm_max > 0 && !has_root(squares))
        return ask(Stage::pg_norm_measured, Verb::projected_gradient_norm);
    return Turn::measure_x;
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::measure_x(double x_squares) {
    if (!has_root(x_squares)) return ask(Stage::x_norm_measured, Verb::x_norm);
    results.x_norm2 = std::sqrt(x_squares);
    return Turn::log_iterate;
}

// Whether the sum of squares is one from which the norm can be had.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::has_root(double squares) {
    return squares >= smallest_normal / machine_epsilon && is_finite(squares);
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::log_iterate(const PanelProducts &sums) {
    if (!first_) note_progress();
    if (logs()) return ask(Stage::iterate_logged, first_ ? Verb::log_start : Verb::log_iterate);
    return go_on_logged(sums);
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::go_on_logged(const PanelProducts &sums) {
    return first_ ? judge_first(sums.f, sums.row_sums[not_finite]) : report_iterate();
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::judge_first(double f, double rows_not_finite) {
    first_ = false;
    if (!is_finite(f) || rows_not_finite > 0) {
        told_early_.numbers[1] = rows_not_finite;
        return end(CUDA_OPT_NOT_FINITE, EventKind::not_finite_at_start);
    }
    f_previous_ = infinity;
    f_best_ = f;
    f_is_single_ = is_single(f);
    fresh_start_ = memory_.pairs() == 0;
    return Turn::judge_iterate;
}

template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::report_iterate() {
    if (!settings().report_iterates) return Turn::judge_iterate;
    event = {EventKind::iterate_reached, {results.iterations}, {results.f, results.pg_norm2}};
    return ask_caller(Stage::iterate, CUDA_OPT_NEW_ITERATE);
}

// x, f, g are an accepted iterate: stop here, or go on.
template <class Kind> CUDA_OPT_HD_INLINE Turn StateOf<Kind>::judge_iterate() {
    // Where rounding errors let f rise, a few iterations more mostly find it lower, with the test holding still. Else
    // the solve ends here all the same.
    constexpr int most_postponed = 10;
    constexpr int most_in_vain = 1000;
    const bool nothing_falls = settings().robust && in_vain_ >= most_in_vain;
    bool restarts = false;
    if (const int test = stopping_test()) {
        if (test == CUDA_OPT_FACTR && settings().robust && stage_ != Stage::fall_verified)
            return ask(Stage::fall_verified, Verb::relative_gradient_norm);
        const bool postpones = best_is_aside_ && test != CUDA_OPT_FACTR && results.pg_norm_max > 0 &&
                               postponed_ < most_postponed && !nothing_falls;
        const bool verified = test != CUDA_OPT_FACTR || factr_is_verified();
        if (!postpones && verified) return converge(test);
        restarts = !verified && !restart_is_recent();
        if (postpones) {
            reached_ = test;
            postponed_++;
        }
    }
    if (results.f <= settings().f_unbounded) return end(CUDA_OPT_UNBOUNDED, EventKind::below_any_bound);
    if (nothing_falls) return end(CUDA_OPT_LINE_SEARCH_FAILED, EventKind::nothing_has_fallen);
    if (const int code = limit_reached(true)) return end_at_limit(code);
    if (restarts) restart();
    if (diagonal_is_due(results.iterations)) {
        event = {EventKind::diagonal_wanted, {results.iterations}, {}};
        return ask_caller(Stage::diagonal, CUDA_OPT_SUPPLY_DIAGONAL);
    }
    return Turn::begin_direction;
}

// Whether FACTR may end the solve. A small decrease of f does not show that x is near a minimum if the model is poor,
// as in a long valley whose curvature along the valley is not yet known. The solve ends if the relative gradient is
// small, or if f has hardly decreased since the last restart. Otherwise it restarts along -g, with an empty history and
// a new scale.
template <class Kind> CUDA_OPT_HD_CALL inline bool StateOf<Kind>::factr_is_verified() const {
    constexpr double significant_gain = 1e-4;
    if (!settings().robust || relatively_flat_) return true;
    if (restart_is_recent()) return false;
    const double gain = greatest(significant_gain, settings().factr * machine_epsilon);
    return f_restarted_ - results.f <= gain * greatest(std::fabs(results.f), 1.0);
}

// Whether so few steps have followed the last restart that a small decrease of f says nothing: the first steps along -g
// reduce f along the directions of the largest curvature only, and the scale that they leave makes the next ones short.
template <class Kind> CUDA_OPT_HD_CALL inline bool StateOf<Kind>::restart_is_recent() const {
    return f_restarted_ < infinity && steps_since_gradient_ < steps_before_verdict;
}

template <class Kind> CUDA_OPT_HD_CALL inline void StateOf<Kind>::restart() {
    f_restarted_ = results.f;
    fresh_start_ = true;
    refresh();
}

// Approximate conditions accept steps for ever where nothing but rounding errors is left, and no test is on.
template <class Kind> CUDA_OPT_HD_INLINE void StateOf<Kind>::note_progress() {
    const bool progress = f_noted_ == infinity || results.f < f_noted_ - 10 * machine_epsilon * std::fabs(f_noted_) ||
                          results.pg_norm2 < (1 - progress_share) * pg_noted_;
    if (progress) {
        f_noted_ = least(f_noted_, results.f);
        pg_noted_ = least(pg_noted_, results.pg_norm2);
    }
    in_vain_ = progress ? 0 : in_vain_ + 1;
}

} // namespace cudaopt
