#include "lbfgsb/state_machine.hpp"

#include <new>

#include "lbfgsb/subspace.hpp"
#include "lbfgsb/termination.hpp"
#include "lbfgsb/trial.hpp"

namespace cudaopt {

int64_t state_bytes(int m) {
    StateMachine machine;
    dense::CountArrays count;
    machine.each_array(m, count);
    return static_cast<int64_t>(sizeof machine) + count.doubles * static_cast<int64_t>(sizeof(double));
}

StateMachine *make_state(void *block, int64_t n, int m) {
    auto *const machine = new (block) StateMachine;
    dense::PlaceArrays place{reinterpret_cast<double *>(machine + 1)};
    machine->each_array(m, place);
    machine->n = n;
    machine->matrix_.begin(false);
    return machine;
}

const Request &StateMachine::advance(const Reply &reply) {
    seconds = reply.seconds;
    request_.saves_trial = false;
    switch (state_) {
    case State::start: check_start(); break;
    case State::start_checked: judge_start(reply.start); break;
    case State::start_refused: report_invalid_start(reply.variable); break;
    case State::first_point: measure_start(); break;
    case State::unscaled_products:
        matrix_.load_unscaled(*reply.sums);
        measure_start();
        break;
    case State::first_products:
        if (removes_infinite_slopes(settings, *reply.sums)) {
            suspend(State::slopes_removed, Verb::remove_infinite_slopes);
            break;
        }
        products_valid_ = !uses_callers_diagonal(settings);
        measure_iterate(reply);
        break;
    case State::slopes_removed:
        suspend(first ? State::first_products : State::trial_products, Verb::inner_products);
        update_requested_ = {};
        break;
    case State::pg_norm_measured:
        results.pg_norm2 = least(reply.number, largest_finite);
        measure_x(reply);
        break;
    case State::x_norm_measured:
        results.x_norm2 = least(reply.number, largest_finite);
        log_iterate(reply);
        break;
    case State::iterate_logged: after_log(reply); break;
    case State::iterate: judge_iterate(reply, false); break;
    case State::decrease_verified:
        verify_decrease(reply.number);
        if (!relatively_flat && !uses_operator() && measures_curvature(settings, matrix_.pairs()))
            measure_curvature(State::decrease_explained);
        else judge_iterate(reply, true);
        break;
    case State::decrease_explained:
        if (note_change(reply.number, matrix_.curvature(matrix_.stiffest_pair()))) measure_curvature(state_);
        else judge_iterate(reply, true);
        break;
    case State::box_verified:
        verify_box(reply.number);
        judge_iterate(reply, false);
        break;
    case State::diagonal: accept_diagonal(reply); break;
    case State::diagonal_checked: report_bad_diagonal(reply.index); break;
    case State::model_products: begin_cauchy(reply); break;
    case State::cauchy: follow_cauchy(cauchy_.resume(matrix_, middle_, *reply.sums, reply.crossed), *reply.sums); break;
    case State::operator_formed:
        event = {EventKind::operator_wanted, {results.iterations}, {}};
        request_task(State::operator_applied, CUDA_OPT_APPLY_OPERATOR);
        break;
    case State::operator_applied: suspend(State::operator_measured, Verb::operator_products); break;
    case State::operator_measured: accept_operator(*reply.of_operator); break;
    case State::direction_taken: judge_direction(reply); break;
    case State::stepped: request_evaluation(State::trial_point); break;
    case State::trial_point: measure_trial_point(reply); break;
    case State::trial_products: judge_trial_products(reply); break;
    case State::step_max:
        set_step_max(settings, reply.number);
        advance_search(reply);
        break;
    case State::best_saved: append_pair(reply); break;
    case State::truncation_ready: prepare_truncation(); break;
    case State::operator_shortened: take_shorter_direction(); break;
    case State::operator_refused: replace_operator(); break;
    case State::truncated:
        direction_request_.alpha = reply.number;
        results.truncations++;
        take_direction(Verb::direction);
        break;
    case State::search_failed: recover(reply, false); break;
    case State::curvature_measured:
        if (note_change(reply.number, matrix_.curvature(matrix_.stiffest_pair()))) measure_curvature(state_);
        else recover(reply, false);
        break;
    case State::noise_stepped: request_evaluation(State::noise_point); break;
    case State::noise_point: request_products(State::noise_products, products_of_sample()); break;
    case State::noise_products: note_noise_sample(*reply.sums); break;
    case State::failure_verified:
        verify_decrease(reply.number);
        recover(reply, true);
        break;
    case State::ending:
        if (request_.verb == Verb::projected_gradient_norm) {
            results.pg_norm2 = least(reply.number, largest_finite);
            suspend(State::ending, Verb::x_norm);
            break;
        }
        if (request_.verb == Verb::x_norm) results.x_norm2 = least(reply.number, largest_finite);
        settle();
        break;
    case State::end_logged: request_task(State::ended, end_code); break;
    case State::ended:
        event = {EventKind::called_after_end, {}, {}};
        request_ = {};
        request_.task = CUDA_OPT_MISUSE; // task() remains the code with which the solve ended
    }
    return request_;
}

const Request &StateMachine::stop() {
    if (state_ == State::first_point || is_at_trial()) results.evaluations--; // the requested evaluation was not made
    end(CUDA_OPT_STOPPED, EventKind::stopped);
    settle();
    return request_;
}

// Ends the solve without waiting for the backend. The last requests to the backend restore the best iterate.
const Request &StateMachine::give_up(bool stop_requested, double seconds_passed) {
    Iteration::give_up(stop_requested, seconds_passed);
    settle();
    return request_;
}

void StateMachine::begin_anew(bool keep_pairs) {
    const bool clears = !keep_pairs || broken_; // after a failure of the backend the pairs are unknown
    if (clears) matrix_.clear();
    hessian_.reset(clears);
    operator_.reset(), free_gram_.forget();
    const int64_t variables = n;
    static_cast<Iteration &>(*this) = Iteration{};
    n = variables;
    state_ = State::start;
    noise_samples_ = 0;
    direction_request_.gradient_coefficient = 0;
    broken_ = pair_unfinished_ = products_valid_ = direction_sums_known_ = remakes_for_truncation_ = false;
}

int StateMachine::finish_pair() {
    if (!pair_unfinished_) return -1;
    pair_unfinished_ = products_valid_ = false;
    return matrix_.newest_slot();
}

// The request assumes that the trial point is accepted, which is nearly always the case.
PanelRequest StateMachine::products_at_trial() const {
    PanelRequest panel = matrix_.tentative_panel();
    panel.free_gram = needs_free_gram();
    // If the caller supplies another diagonal at this point, the products of the older pairs must be weighted with it.
    // They are therefore not requested here.
    if (uses_callers_diagonal(settings) && !hessian_.stays_valid(settings, results.iterations)) panel.pairs = 1;
    return panel;
}

double StateMachine::model_theta() const {
    if (!uses_callers_diagonal(settings)) return matrix_.theta();
    const double coefficient = direction_request_.gradient_coefficient;
    return coefficient < 0 ? -1 / coefficient : 1;
}

// ---- requests

void StateMachine::suspend(State next, Verb verb) {
    state_ = next;
    request_.verb = verb;
}

void StateMachine::request_products(State next, const PanelRequest &panel) {
    requested_ = panel;
    requested_.single = settings.product_bits == 32 && matrix_.plain() && matrix_.fits_single_precision(n);
    update_requested_ = {};
    suspend(next, Verb::inner_products);
}

// Requests the products of panel_. The sweep first updates the learned diagonal, if an update is due.
void StateMachine::request_products_with_scaling_update(State next) {
    const DiagonalUpdate update = hessian_.take_update();
    if (hessian_.has_learned() || hessian_.stays_valid(settings, results.iterations)) panel_ = model_panel();
    request_products(next, panel_);
    update_requested_ = update;
}

void StateMachine::measure_curvature(State next) {
    suspend(next, Verb::relative_change_norm);
    request_.slot = matrix_.slot(matrix_.stiffest_pair());
    request_.number = change_weight;
    request_.fresh = pair_unfinished_ && request_.slot == matrix_.newest_slot();
}

void StateMachine::request_task(State next, int task) {
    suspend(next, Verb::task);
    request_.task = task_ = task;
}

void StateMachine::request_evaluation(State next) {
    results.evaluations++;
    event.kind = EventKind::evaluation_wanted;
    event.integers[0] = results.evaluations;
    request_task(next, CUDA_OPT_EVALUATE_FG);
}

// ---- the start and each iterate

void StateMachine::check_start() {
    hessian_.begin(settings);
    suspend(State::start_checked, Verb::check_start);
}

void StateMachine::judge_start(const StartReport &report) {
    if (report.bound_nan < n) return refuse_start(EventKind::bound_is_nan, report.bound_nan);
    if (report.crossed < n) return refuse_start(EventKind::bounds_leave_no_x, report.crossed);
    if (report.x_nan < n) return refuse_start(EventKind::start_is_not_finite, report.x_nan);
    begin(report);
    request_evaluation(State::first_point);
}

void StateMachine::refuse_start(EventKind why, int64_t index) {
    event = {why, {index, n}, {}};
    suspend(State::start_refused, Verb::read_variable);
    request_.index = index;
}

// Returns to the state `start`, so that the caller may try again with corrected input.
void StateMachine::report_invalid_start(const Variable &variable) {
    event.numbers[0] = variable.l;
    event.numbers[1] = variable.x;
    event.numbers[2] = variable.u;
    request_task(State::start, CUDA_OPT_IMPROPER_INPUT);
}

void StateMachine::measure_start() {
    use_stored_pairs();
    if (!hessian_.exists(settings) && !matrix_.plain()) {
        PanelRequest all = panel_;
        all.threshold = -1;
        all.free_gram = true;
        return request_products(State::unscaled_products, all);
    }
    // If the caller supplies the diagonal, it is not known yet, and the products are unweighted.
    request_products(State::first_products, hessian_.has_learned() ? model_panel() : panel_);
}

void StateMachine::measure_iterate(const Reply &reply) {
    measure(*reply.sums, matrix_.theta());
    if (needs_projected_gradient_norm(*reply.sums))
        return suspend(State::pg_norm_measured, Verb::projected_gradient_norm);
    measure_x(reply);
}

void StateMachine::measure_x(const Reply &reply) {
    if (needs_x_norm(*reply.sums)) return suspend(State::x_norm_measured, Verb::x_norm);
    log_iterate(reply);
}

void StateMachine::log_iterate(const Reply &reply) {
    if (!first) note_progress(settings);
    if (logs()) return suspend(State::iterate_logged, first ? Verb::log_start : Verb::log_iterate);
    after_log(reply);
}

void StateMachine::after_log(const Reply &reply) {
    if (first) {
        if (!accept_start(*reply.sums, matrix_.pairs())) return settle();
        return judge_iterate(reply, false);
    }
    if (!settings.report_iterates) return judge_iterate(reply, false);
    event = {EventKind::iterate_reached, {results.iterations}, {results.f, results.pg_norm2}};
    request_task(State::iterate, CUDA_OPT_NEW_ITERATE);
}

void StateMachine::judge_iterate(const Reply &reply, bool verified) {
    switch (Iteration::judge_iterate(settings, verified)) {
    case IterateVerdict::verify: return suspend(State::decrease_verified, Verb::relative_gradient_norm);
    case IterateVerdict::verify_box:
        request_.number = settings.pgtol;
        return suspend(State::box_verified, Verb::narrow_gradient_norm);
    case IterateVerdict::end: return settle();
    case IterateVerdict::restart_anew: hessian_.forget_all(); [[fallthrough]];
    case IterateVerdict::restart:
        restart();
        refresh();
        operator_.forget_scale();
        break;
    case IterateVerdict::go_on: break;
    }
    if (hessian_.is_due(settings, results.iterations)) {
        event = {EventKind::diagonal_wanted, {results.iterations}, {}};
        return request_task(State::diagonal, CUDA_OPT_SUPPLY_DIAGONAL);
    }
    begin_direction(reply);
}

// ---- the direction

void StateMachine::accept_diagonal(const Reply &reply) {
    hessian_.accept_supplied(results.iterations);
    products_valid_ = false; // the existing products are not weighted with this diagonal
    begin_direction(reply);
}

void StateMachine::report_bad_diagonal(int64_t index) {
    end_numbers[0] = static_cast<double>(index);
    end(CUDA_OPT_BAD_DIAGONAL, EventKind::diagonal_is_bad);
    settle();
}

void StateMachine::begin_direction(const Reply &reply) {
    if (const double theta = Iteration::begin_direction(settings, matrix_.pairs()); theta > 0) matrix_.set_scale(theta);
    direction_request_.step = first_step;
    direction_request_.truncate = false;
    if (products_valid_) return begin_cauchy(reply);
    request_products(State::model_products, model_panel());
}

// Returns whether the products over the free variables are kept, to be updated at the next iterate. The caller may
// change a diagonal that it supplies, without notice.
bool StateMachine::keeps_free_gram(const Reply &reply) const {
    return reply.forms_free_changes && matrix_.capacity() > FreeGram::most_pairs_anew && bounded && !uses_operator() &&
           !uses_callers_diagonal(settings);
}

void StateMachine::begin_cauchy(const Reply &reply) {
    PanelProducts sums = *reply.sums;
    if (keeps_free_gram(reply)) {
        // If the products of this iterate are kept already, they were updated, or formed before a checkpoint was
        // loaded.
        const int64_t weights = hessian_.weights(settings);
        if (!free_gram_.serves(matrix_.pairs(), weights)) free_gram_.store(sums, matrix_.pairs(), weights);
        if (free_gram_.serves(matrix_.pairs(), weights)) sums.free_gram = free_gram_.data();
    }
    if (hessian_.exists(settings)) {
        if (sums.variable_sums[bad_weights] > 0) {
            if (!uses_callers_diagonal(settings)) return break_down();
            return suspend(State::diagonal_checked, Verb::check_diagonal);
        }
        if (sums.older_steps)
            matrix_.rescale_products(sums, hessian_.theta(settings, matrix_.pairs()), hessian_.weights(settings));
        if (bounded || sums.older_steps) matrix_.load_free_yy(sums);
    }
    if (bounded && !matrix_.factor(middle_)) return break_down();
    PanelRequest along_path = model_panel();
    along_path.older_steps = false;
    follow_cauchy(cauchy_.begin(matrix_, middle_, along_path, sums, bounded, settings.approximate_cauchy), sums);
}

void StateMachine::follow_cauchy(CauchyState found, const PanelProducts &sums) {
    switch (found) {
    case CauchyState::breakdown: return break_down();
    case CauchyState::found: return minimise_in_subspace(sums);
    case CauchyState::inner_products: return suspend(State::cauchy, Verb::inner_products);
    case CauchyState::window:
        request_.lo = cauchy_.window_begin();
        request_.hi = cauchy_.window_end();
        return suspend(State::cauchy, Verb::crossed);
    }
}

void StateMachine::minimise_in_subspace(const PanelProducts &sums) {
    const CauchySearch<0> &path = cauchy_;
    const CauchyPoint &point = path.point();
    operator_.leave();
    const bool all_free = !bounded || point.free_variables == static_cast<double>(n);
    const bool applies_operator =
        uses_operator() && operator_.is_usable() && !is_restarting() && (all_free || point.free_variables > 0);
    if (!applies_operator && (all_free || point.free_variables > 0) &&
        !minimise_subspace(matrix_, path.p(), point.crossed ? path.c() : nullptr, point.t,
                           all_free ? nullptr : path.free_gram(sums), system_, workspace_.data(), coefficients_.data()))
        return break_down();
    note_cauchy_point(point, !remakes_for_truncation_);
    direction_request_.panel = model_panel();
    direction_request_.panel.threshold = point.threshold;
    direction_request_.gradient_coefficient = -1 / matrix_.theta();
    direction_request_.spare_slot = matrix_.spare_slot();
    direction_request_.cauchy_t = point.t;
    direction_request_.alpha = 1;
    if (remakes_for_truncation_) return request_truncation();
    if (applies_operator) return begin_operator(sums);
    take_direction(Verb::direction);
}

// Discards the history after a factorisation has failed, and continues from the same point. With an empty history no
// factorisation can fail.
void StateMachine::break_down() {
    refresh();
    request_products(State::model_products, model_panel());
}

// Discards the history. With ROBUST the scalar theta is kept, because it reflects the scales of f and x.
void StateMachine::refresh() {
    matrix_.drop_pairs(settings.robust);
    hessian_.forget();
    pair_unfinished_ = products_valid_ = remakes_for_truncation_ = false;
    results.refreshes++;
    use_stored_pairs();
}

void StateMachine::use_stored_pairs() {
    panel_ = matrix_.stored_panel();
    panel_.free_gram = needs_free_gram();
}

// Requests the sweep that forms the direction d and the trial point, at which f and g are evaluated next. On a GPU the
// sums over d, among them the slope g'd, arrive with the reply to the following sweep, which saves one synchronisation.
// Whether d is a descent direction is then known only after the evaluation.
void StateMachine::take_direction(Verb verb) {
    products_valid_ = pair_unfinished_ = direction_sums_known_ = direction_judged_ = false;
    begin_search(matrix_.theta());
    suspend(State::direction_taken, verb);
}

void StateMachine::judge_direction(const Reply &reply) {
    if (reply.direction) {
        direction_judged_ = true;
        if (!descends(settings, *reply.direction, matrix_.pairs())) return replace_direction();
    }
    request_evaluation(State::trial_point);
}

// Replaces a direction that is not a sufficient descent direction because of the projection onto the box. The new
// direction truncates the step from the Cauchy point to the subspace minimiser at the box (Morales and Nocedal 2011,
// section 3).
void StateMachine::replace_direction() {
    if (operator_.is_used()) {
        if (can_shorten_direction()) {
            shortening_ = OperatorModel::without_descent;
            return restore(State::operator_shortened);
        }
        refuse_operator_direction(results.pg_norm2 * std::sqrt(direction.d_squared));
        return restore(State::operator_refused);
    }
    if (!can_truncate()) {
        failure = SearchFailure::no_descent;
        return restore(State::search_failed);
    }
    if (ends_at_limit(settings, false)) return settle();
    restore(State::truncation_ready);
}

// Prepares the truncation of a direction. On a GPU only the inner products at the trial point show that the direction
// is not a descent direction. The sweep that forms them may already have updated the learned diagonal, or an update may
// be due. If so, the model at the base point is formed again with the updated diagonal.
void StateMachine::prepare_truncation() {
    if (!hessian_.has_changed()) return request_truncation();
    remakes_for_truncation_ = true;
    use_stored_pairs();
    request_products_with_scaling_update(State::model_products);
}

void StateMachine::request_truncation() {
    remakes_for_truncation_ = false;
    direction_request_.panel.fresh = false; // the sweep of the direction has already formed y_new
    direction_request_.truncate = truncated = true;
    suspend(State::truncated, Verb::truncation);
}

// ---- the line search

void StateMachine::measure_trial_point(const Reply &reply) {
    panel_ = products_at_trial();
    request_products_with_scaling_update(State::trial_products);
    requested_.free_changes =
        keeps_free_gram(reply) && free_gram_.can_update(requested_, matrix_.pairs(), hessian_.weights(settings));
}

void StateMachine::judge_trial_products(const Reply &reply) {
    if (removes_infinite_slopes(settings, *reply.sums))
        return suspend(State::slopes_removed, Verb::remove_infinite_slopes);
    // If the caller's diagonal is valid for several iterates, its elements may have changed since they were checked.
    // Therefore they are checked again.
    if (uses_callers_diagonal(settings) && panel_.weighted && reply.sums->variable_sums[bad_weights] > 0)
        return suspend(State::diagonal_checked, Verb::check_diagonal);
    if (!direction_judged_) {
        direction_judged_ = true;
        results.slope = slope_at_trial(*reply.sums) / unit;
        if (!descends(settings, direction_sums_known_ ? direction : *reply.direction, matrix_.pairs()))
            return replace_direction();
    }
    measure_trial(settings, *reply.sums);
    if (shortens_direction(*reply.sums)) return restore(State::operator_shortened);
    if (step_max_matters(settings, *reply.sums, true)) {
        suspend(State::step_max, Verb::largest_step);
        request_.slot = direction_request_.spare_slot;
        return;
    }
    advance_search(reply);
}

void StateMachine::advance_search(const Reply &reply) {
    const TrialVerdict verdict = judge_trial(settings, *reply.sums);
    request_.saves_trial = saves_trial(settings, *reply.sums, verdict);
    switch (verdict) {
    case TrialVerdict::evaluate:
        suspend(State::stepped, Verb::step);
        request_.slot = direction_request_.spare_slot;
        request_.number = trial_step();
        return;
    case TrialVerdict::accept: return accept_trial(reply);
    case TrialVerdict::fail: return restore(State::search_failed);
    case TrialVerdict::end: return settle();
    }
}

void StateMachine::accept_trial(const Reply &reply) {
    if (!accept(settings, *reply.sums)) return append_pair(reply);
    suspend(State::best_saved, Verb::save_best);
    request_.slot = direction_request_.spare_slot;
}

void StateMachine::append_pair(const Reply &reply) {
    operator_.accept_step(step == first_step);
    const PanelProducts &sums = *reply.sums;
    const bool callers = uses_callers_diagonal(settings);
    const double sy = curvature(sums);
    if (sy > 0 && matrix_.usable(sums, step)) {
        matrix_.append(sums, step, panel_.weighted ? hessian_.weights(settings) : no_weights,
                       curvature_scale(settings, sums, sy), true);
        hessian_.observe(settings, sums, panel_.in_metric(), matrix_.newest_slot(), matrix_.capacity(), n);
        panel_.pairs = matrix_.pairs();
        pair_unfinished_ = true;
        products_valid_ = !callers || panel_.weighted;
        if (!requested_.free_changes) free_gram_.forget(); // the products were formed in full
        else if (!free_gram_.update(sums)) products_valid_ = false;
    } else {
        free_gram_.forget();
        results.skipped_updates++;
        if (matrix_.pairs() == 0)
            if (const double theta = scale_without_pair(settings, matrix_.theta()); theta != matrix_.theta())
                matrix_.set_scale(theta);
        use_stored_pairs();
        products_valid_ = matrix_.pairs() == 0 && !callers;
    }
    measure_iterate(reply);
}

// Restores x, f and g of the base point.
void StateMachine::restore(State next) {
    at_iterate = true;
    suspend(next, Verb::restore);
    request_.slot = direction_request_.spare_slot;
    request_.number = f_base;
}

void StateMachine::recover(const Reply &reply, bool verified) {
    if (noise_samples_ == 0 && wants_noise_estimate(settings)) return sample_noise();
    if (operator_.is_used()) { // its direction is to blame rather than f or g
        refuse_operator_direction(-first_step * slope_base);
        return replace_operator();
    }
    if (measures_curvature(settings, matrix_.pairs())) return measure_curvature(State::curvature_measured);
    switch (after_failure(settings, matrix_.pairs(), matrix_.theta(), verified)) {
    case FailureVerdict::verify: return suspend(State::failure_verified, Verb::relative_gradient_norm);
    case FailureVerdict::end: return settle();
    case FailureVerdict::refresh: refresh(); return begin_direction(reply);
    }
}

// Requests the next point at which f is sampled. These points lie along the direction of the failed line search.
void StateMachine::sample_noise() {
    if (ends_at_limit(settings, false)) return settle();
    noise_samples_++;
    at_iterate = false;
    suspend(State::noise_stepped, Verb::step);
    request_.slot = direction_request_.spare_slot;
    request_.number = noise_samples_ * noise_spacing();
}

// Returns the request for inner products at a sample of f. Only the value of f, which the backend returns with them, is
// used. The inner products are therefore requested without correction pairs.
PanelRequest StateMachine::products_of_sample() const {
    PanelRequest panel = matrix_.stored_panel();
    panel.pairs = 0;
    return panel;
}

// Stores a sample of f. The last sample yields an estimate of the noise level, unless f is undefined at one of the
// points. Errors of f that are no larger than rounding errors do not count as noise. The line search has then failed
// for another reason, such as a wrong gradient, and the solve must not end as converged.
void StateMachine::note_noise_sample(const PanelProducts &sums) {
    noise_values_[noise_samples_ - 1] = sums.f;
    if (is_finite(sums.f) && noise_samples_ < noise::samples) return sample_noise();
    const double level = is_finite(sums.f) ? noise::per_deviation * noise::deviation(noise_values_) : 0;
    const double rounding =
        settings.rounding * (machine_epsilon / 2) * (std::fabs(f_base) + results.pg_norm2 * results.x_norm2);
    if (level > rounding) results.noise_estimate = least(level, largest_finite);
    restore(State::search_failed);
}

// ---- the end

// Ends the solve at the best iterate. The vector y of the newest pair is normally formed by the sweep of the next
// direction. As there is no next direction, y is formed here, while g still exists. A later solve may use the pair.
void StateMachine::settle() {
    if (pair_unfinished_) {
        suspend(State::ending, Verb::finish_pair);
        request_.slot = finish_pair();
        return;
    }
    if (best_saved) {
        suspend(State::ending, Verb::restore_best);
        request_.number = take_best();
        return;
    }
    if (!at_iterate) return restore(State::ending);
    if (measures_best()) return suspend(State::ending, Verb::projected_gradient_norm);
    record_end(settings);
    if (logs()) return suspend(State::end_logged, Verb::log_end);
    request_task(State::ended, end_code);
}

} // namespace cudaopt
