// The state machine's turns: from the start to the first direction, and the way of every iterate. direction.hpp,
// trial.hpp and ending.hpp hold the others.
#pragma once

#include <new>

#include "cuda_opt.h"
#include "lbfgsb/direction.hpp"
#include "lbfgsb/ending.hpp"
#include "lbfgsb/trial.hpp"

namespace cudaopt {

// A state in a block of state_bytes(m) zero bytes, aligned to 8.
CUDA_OPT_HD inline State *make_state(void *block, int64_t n, int m) {
    State *const state = new (block) State;
    dense::PlaceArrays place{reinterpret_cast<double *>(state + 1)};
    state->each_array(m, place);
    state->n_ = n;
    return state;
}

// Each stage's turn. It ends: a turn either asks, or goes on to a later stage of the same iteration without a loop.
CUDA_OPT_HD_CALL inline const Request &State::advance(const Answer &answer) {
    seconds_ = answer.seconds;
    switch (stage_) {
    case Stage::start: return check_start();
    case Stage::start_checked: return judge_start(answer.start);
    case Stage::start_refused: return tell_refusal(answer.variable);
    case Stage::first_point: return measure_start();
    case Stage::plain_products: memory_.take_plain(*answer.sums); return measure_start();
    case Stage::first_products: products_hold_ = !callers_metric(); return measure_iterate(answer);
    case Stage::pg_norm_measured: results.pg_norm2 = least(answer.number, largest_finite); return measure_x(answer);
    case Stage::x_norm_measured: results.x_norm2 = least(answer.number, largest_finite); return log_iterate(answer);
    case Stage::iterate_logged: return first_ ? judge_first(answer) : report_iterate(answer);
    case Stage::iterate: return judge_iterate(answer);
    case Stage::diagonal: return take_diagonal(answer);
    case Stage::diagonal_checked: return judge_diagonal(answer);
    case Stage::model_products: return begin_cauchy(answer);
    case Stage::cauchy: return follow_cauchy(cauchy_.resume(memory_, answer), answer);
    case Stage::direction_taken:
        if (answer.direction && !descends(*answer.direction)) return replace_direction();
        return ask_evaluation(Stage::trial_point);
    case Stage::stepped: return ask_evaluation(Stage::trial_point);
    case Stage::trial_point: panel_ = products_at_trial(); return ask_and_learn(Stage::trial_products);
    case Stage::trial_products: return judge_trial(answer);
    case Stage::longest_step: know_longest_step(answer.number); return advance_line_search(answer);
    case Stage::best_put_aside: return append_pair(answer);
    case Stage::truncation_ready: return prepare_truncation();
    case Stage::truncated:
        direction_.alpha = answer.number;
        results.truncations++;
        return take_direction();
    case Stage::search_failed: return after_failure(answer);
    case Stage::ending: return settle();
    case Stage::end_logged: stage_ = Stage::ended; return ask_caller(Stage::ended, end_code_);
    case Stage::ended: break;
    }
    event = {EventKind::called_after_end, {}, {}};
    request_ = {};
    request_.task = CUDA_OPT_MISUSE; // task() stays how the solve ended
    return request_;
}

CUDA_OPT_HD_CALL inline Request &State::ask(Stage next, Verb verb) {
    stage_ = next;
    request_ = {};
    request_.verb = verb;
    return request_;
}

CUDA_OPT_HD_CALL inline const Request &State::ask_products(Stage next, const PanelRequest &panel) {
    asked_ = panel;
    asked_.single = settings.product_bits == 32 && memory_.plain() && memory_.fits_single_precision(n_);
    return ask(next, Verb::inner_products);
}

CUDA_OPT_HD_CALL inline const Request &State::ask_caller(Stage next, int task) {
    Request &request = ask(next, Verb::task);
    request.task = task_ = task;
    return request;
}

// Every request for an evaluation goes through here.
CUDA_OPT_HD_CALL inline const Request &State::ask_evaluation(Stage next) {
    results.evaluations++;
    event = {EventKind::evaluation_wanted, {results.evaluations}, {}};
    return ask_caller(next, CUDA_OPT_EVALUATE_FG);
}

CUDA_OPT_HD_CALL inline void State::begin_anew(bool keep_pairs) {
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
    refreshes_in_vain_ = postponed_ = reached_ = in_vain_ = 0;
    exhausted_ = returning_ = false;
    told_early_ = {};
}

CUDA_OPT_HD_CALL inline int State::finish_pair() {
    if (!pair_unfinished_) return -1;
    pair_unfinished_ = products_hold_ = false;
    return memory_.newest_slot();
}

// Pairs that a warm start brings may be of another metric, whose diagonal is there no longer.
CUDA_OPT_HD_CALL inline const Request &State::check_start() {
    if (metric_at_work_ != settings.metric) metric_.clear();
    metric_at_work_ = settings.metric;
    return ask(Stage::start_checked, Verb::check_start);
}

CUDA_OPT_HD_CALL inline const Request &State::judge_start(const StartReport &report) {
    if (report.bound_nan < n_) return refuse_start(EventKind::bound_is_nan, report.bound_nan);
    if (report.crossed < n_) return refuse_start(EventKind::bounds_leave_no_x, report.crossed);
    if (report.x_nan < n_) return refuse_start(EventKind::start_is_not_finite, report.x_nan);
    bounded_ = report.bounded > 0; // arrays of infinities are no bounds
    boxed_ = report.boxed == n_;
    results.start_projected = report.projected;
    return ask_evaluation(Stage::first_point);
}

// f and g are there.
CUDA_OPT_HD_CALL inline const Request &State::measure_start() {
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

CUDA_OPT_HD_CALL inline const Request &State::refuse_start(EventKind why, int64_t index) {
    event = {why, {index, n_}, {}};
    Request &request = ask(Stage::start_refused, Verb::read_variable);
    request.index = index;
    return request;
}

// And stay at the start: a corrected call may follow.
CUDA_OPT_HD_CALL inline const Request &State::tell_refusal(const Variable &variable) {
    event.numbers[0] = variable.l;
    event.numbers[1] = variable.x;
    event.numbers[2] = variable.u;
    return ask_caller(Stage::start, CUDA_OPT_IMPROPER_INPUT);
}

// The facts of an iterate from the sums there; norms from sweeps of their own where their squares leave the range of
// numbers.
CUDA_OPT_HD_CALL inline const Request &State::measure_iterate(const Answer &answer) {
    const PanelProducts &sums = *answer.sums;
    results.f = sums.f;
    results.pg_norm_max = sums.projected_gradient_max;
    results.at_lower = static_cast<int64_t>(sums.row_sums[at_lower]);
    results.at_upper = static_cast<int64_t>(sums.row_sums[at_upper]);
    results.theta = memory_.theta();
    const double squares = sums.row_sums[projected_gradient_squared];
    results.pg_norm2 = std::sqrt(squares);
    if (is_finite(results.pg_norm_max) && results.pg_norm_max > 0 && !has_root(squares))
        return ask(Stage::pg_norm_measured, Verb::projected_gradient_norm);
    return measure_x(answer);
}

CUDA_OPT_HD_CALL inline const Request &State::measure_x(const Answer &answer) {
    const double squares = answer.sums->row_sums[x_squared];
    if (!has_root(squares)) return ask(Stage::x_norm_measured, Verb::x_norm);
    results.x_norm2 = std::sqrt(squares);
    return log_iterate(answer);
}

// Whether the sum of squares is one from which the norm can be had.
CUDA_OPT_HD_CALL inline bool State::has_root(double squares) {
    return squares >= smallest_normal / machine_epsilon && is_finite(squares);
}

CUDA_OPT_HD_CALL inline const Request &State::log_iterate(const Answer &answer) {
    if (!first_) note_progress();
    if (logs()) return ask(Stage::iterate_logged, first_ ? Verb::log_start : Verb::log_iterate);
    return first_ ? judge_first(answer) : report_iterate(answer);
}

CUDA_OPT_HD_CALL inline const Request &State::judge_first(const Answer &answer) {
    const PanelProducts &sums = *answer.sums;
    first_ = false;
    if (!is_finite(sums.f) || sums.row_sums[not_finite] > 0) {
        told_early_.numbers[1] = sums.row_sums[not_finite];
        return end(CUDA_OPT_NOT_FINITE, EventKind::not_finite_at_start);
    }
    f_previous_ = infinity;
    f_best_ = sums.f;
    fresh_start_ = memory_.pairs() == 0;
    return judge_iterate(answer);
}

CUDA_OPT_HD_CALL inline const Request &State::report_iterate(const Answer &answer) {
    if (!settings.report_iterates) return judge_iterate(answer);
    event = {EventKind::iterate_reached, {results.iterations}, {results.f, results.pg_norm2}};
    return ask_caller(Stage::iterate, CUDA_OPT_NEW_ITERATE);
}

// x, f, g are an accepted iterate: stop here, or go on.
CUDA_OPT_HD_CALL inline const Request &State::judge_iterate(const Answer &answer) {
    // Where rounding errors let f rise, a few iterations more mostly find it lower, with the test holding still. Else
    // the solve ends here all the same.
    constexpr int most_postponed = 10;
    constexpr int most_in_vain = 1000;
    const bool nothing_falls = settings.robust && in_vain_ >= most_in_vain;
    if (const int test = stopping_test()) {
        const bool postpones = best_is_aside_ && test != CUDA_OPT_FACTR && results.pg_norm_max > 0 &&
                               postponed_ < most_postponed && !nothing_falls;
        if (!postpones) return converge(test);
        reached_ = test;
        postponed_++;
    }
    if (nothing_falls) return end(CUDA_OPT_LINE_SEARCH_FAILED, EventKind::nothing_has_fallen);
    if (const int code = limit_reached(true)) return end_at_limit(code);
    if (diagonal_is_due(results.iterations)) {
        event = {EventKind::diagonal_wanted, {results.iterations}, {}};
        return ask_caller(Stage::diagonal, CUDA_OPT_SUPPLY_DIAGONAL);
    }
    return begin_direction(answer);
}

// Approximate conditions accept steps for ever where nothing but rounding errors is left, and no test is on.
CUDA_OPT_HD_CALL inline void State::note_progress() {
    const bool progress = f_noted_ == infinity || results.f < f_noted_ - 10 * machine_epsilon * std::fabs(f_noted_) ||
                          results.pg_norm2 < (1 - progress_share) * pg_noted_;
    if (progress) {
        f_noted_ = least(f_noted_, results.f);
        pg_noted_ = least(pg_noted_, results.pg_norm2);
    }
    in_vain_ = progress ? 0 : in_vain_ + 1;
}

} // namespace cudaopt
