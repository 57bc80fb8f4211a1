#include "lbfgsb/state_machine.hpp"

#include <cassert>
#include <new>
#include <utility>

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
    switch (state_) {
    case State::start: hessian_.begin(settings), suspend(State::start_checked, Verb::check_start); break;
    case State::start_checked: judge_start(reply.start); break;
    case State::start_refused: // the caller may try again with corrected input
        note_invalid(reply.variable);
        request_task(State::start, CUDA_OPT_IMPROPER_INPUT);
        break;
    case State::first_point: measure_start(); break;
    case State::unscaled_products: matrix_.load_unscaled(*reply.sums), measure_start(); break;
    case State::first_products:
        if (measures_again(*reply.sums)) break;
        products_valid_ = !uses_callers_diagonal(settings);
        measure(*reply.sums, matrix_.theta());
        measure_iterate(reply);
        break;
    case State::norm_measured: note_norm(reply.number), measure_iterate(reply); break;
    case State::iterate_logged: after_log(reply); break;
    case State::iterate: judge_iterate(reply); break;
    case State::test_measured: note_norm(reply.number), judge_iterate(reply); break;
    case State::diagonal:
        hessian_.accept_supplied(results.iterations);
        products_valid_ = false; // the existing products are not weighted with this diagonal
        begin_direction(reply);
        break;
    case State::diagonal_checked: end_by_bad_diagonal(reply.index), settle(); break;
    case State::model_products: begin_cauchy(reply); break;
    case State::cauchy: follow_cauchy(cauchy_.resume(matrix_, middle_, *reply.sums, reply.crossed), *reply.sums); break;
    case State::operator_used: resume_operator(reply); break;
    case State::direction_taken: judge_direction(reply); break;
    case State::stepped: request_evaluation(State::trial_point); break;
    case State::trial_point:
        panel_ = products_at_trial();
        request_products_with_update(State::trial_products);
        requested_.free_changes =
            keeps_free_gram(reply) && free_gram_.can_update(requested_, matrix_.pairs(), hessian_.weights(settings));
        break;
    case State::trial_products: judge_trial_products(reply); break;
    case State::step_max: set_step_max(settings, reply.number), advance_search(reply); break;
    case State::truncation_ready: prepare_truncation(); break;
    case State::truncated:
        direction_request_.alpha = reply.number;
        results.truncations++;
        request_direction(Verb::direction);
        break;
    case State::search_failed: recover(reply); break;
    case State::failure_measured: note_norm(reply.number), recover(reply); break;
    case State::noise_sampled: {
        const bool has_f = noise_samples_.state() == noise::Sampling::products;
        follow_noise_samples(noise_samples_.resume(has_f ? reply.sums->f : 0));
        break;
    }
    case State::ending:
        if (request_.verb == Verb::norm) note_norm(reply.number);
        settle();
        break;
    case State::end_logged: request_task(State::ended, end_code); break;
    case State::ended:
    case State::count:
        event = Event::called_after_end;
        request_ = {};
        request_.task = CUDA_OPT_MISUSE; // task() remains the code with which the solve ended
    }
    return request_;
}

const Request &StateMachine::stop(bool alone) {
    if (alone) skip_norms();
    if (state_ == State::first_point || is_at_trial()) results.evaluations--; // the requested evaluation was not made
    end(CUDA_OPT_STOPPED, Event::stopped);
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
    if (clears) matrix_.drop_pairs(false);
    hessian_.reset(clears);
    operator_.reset(), free_gram_.forget();
    const int64_t variables = n;
    static_cast<Iteration &>(*this) = Iteration{};
    n = variables;
    state_ = State::start;
    noise_samples_ = {};
    direction_request_.gradient_coefficient = 0;
    descent_ = Descent::unknown;
    preparation_ = Preparation::none;
    broken_ = pair_unfinished_ = products_valid_ = false;
}

// ---- requests

void StateMachine::suspend(State next, Verb verb) {
    assert(may_follow(state_, next));
    state_ = next;
    request_.verb = verb;
    request_.preparation = std::exchange(preparation_, Preparation::none);
}

void StateMachine::request_products(State next, const PanelRequest &panel) {
    requested_ = panel;
    requested_.single = settings.product_bits == 32 && matrix_.is_unscaled() && matrix_.fits_single_precision(n);
    update_requested_ = {};
    suspend(next, Verb::inner_products);
}

// Requests the products of panel_. The sweep first updates the learned diagonal, if an update is due.
void StateMachine::request_products_with_update(State next) {
    const DiagonalUpdate update = take_update(settings, *this, matrix_, hessian_, panel_, needs_free_gram());
    request_products(next, panel_);
    update_requested_ = update;
}

void StateMachine::request_norm(State next, Norm kind) {
    request_.norm = norm_request(settings, *this, matrix_, kind, pair_unfinished_);
    suspend(next, Verb::norm);
}

void StateMachine::request_at_base(State next, Verb verb, double number) {
    suspend(next, verb);
    request_.slot = direction_request_.spare_slot;
    request_.number = number;
}

void StateMachine::request_task(State next, int task) {
    suspend(next, Verb::task);
    request_.task = task_ = task;
}

void StateMachine::request_evaluation(State next) {
    count_evaluation();
    request_task(next, CUDA_OPT_EVALUATE_FG);
}

// ---- the start and each iterate

void StateMachine::judge_start(const StartReport &report) {
    if (!accept_input(report)) {
        suspend(State::start_refused, Verb::read_variable);
        request_.index = invalid_index();
        return;
    }
    begin(report);
    request_evaluation(State::first_point);
}

void StateMachine::measure_start() {
    use_stored_pairs();
    if (!hessian_.exists(settings) && !matrix_.is_unscaled()) {
        PanelRequest all = panel_;
        all.threshold = -1;
        all.free_gram = true;
        return request_products(State::unscaled_products, all);
    }
    // If the caller supplies the diagonal, it is not known yet, and the products are unweighted.
    request_products(State::first_products, hessian_.has_learned() ? model_panel() : panel_);
}

// Requests the products again if they contain infinite slopes that the projection removes.
bool StateMachine::measures_again(const PanelProducts &sums) {
    if (!removes_infinite_slopes(settings, sums)) return false;
    preparation_ = Preparation::remove_infinite_slopes;
    update_requested_ = {};
    suspend(state_, Verb::inner_products);
    return true;
}

// Called after measure(), and again when a norm is known.
void StateMachine::measure_iterate(const Reply &reply) {
    if (const Norm norm = unknown_norm(); norm != Norm::none) return request_norm(State::norm_measured, norm);
    if (!first) note_progress(settings);
    if (logs()) return suspend(State::iterate_logged, first ? Verb::log_start : Verb::log_iterate);
    after_log(reply);
}

void StateMachine::after_log(const Reply &reply) {
    if (first) {
        if (!accept_start(*reply.sums, matrix_.pairs())) return settle();
        return judge_iterate(reply);
    }
    if (!settings.report_iterates) return judge_iterate(reply);
    event = Event::iterate_reached;
    request_task(State::iterate, CUDA_OPT_NEW_ITERATE);
}

void StateMachine::judge_iterate(const Reply &reply) {
    IterateVerdict verdict{};
    if (const Norm norm = Iteration::judge_iterate(settings, matrix_.pairs(), verdict); norm != Norm::none)
        return request_norm(State::test_measured, norm);
    if (verdict == IterateVerdict::end) return settle();
    if (verdict == IterateVerdict::restart_anew) hessian_.clear();
    if (verdict != IterateVerdict::go_on) {
        restart();
        refresh();
        operator_.forget_scale();
    }
    if (hessian_.is_due(settings, results.iterations)) {
        event = Event::diagonal_wanted;
        return request_task(State::diagonal, CUDA_OPT_SUPPLY_DIAGONAL);
    }
    begin_direction(reply);
}

// ---- the direction

void StateMachine::begin_direction(const Reply &reply) {
    cudaopt::begin_direction(settings, *this, matrix_);
    if (products_valid_) return begin_cauchy(reply);
    if (hessian_.begins_from_sizes()) return request_products_with_update(State::model_products);
    request_products(State::model_products, model_panel());
}

// Returns whether the products over the free variables are kept for an update, which needs the same diagonal.
bool StateMachine::keeps_free_gram(const Reply &reply) const {
    return reply.forms_free_changes && matrix_.capacity() > FreeGram::most_pairs_anew && bounded && !uses_operator() &&
           !uses_callers_diagonal(settings);
}

void StateMachine::begin_cauchy(const Reply &reply) {
    PanelProducts sums = *reply.sums;
    if (keeps_free_gram(reply)) {
        // The kept products of this iterate were updated, or formed before a checkpoint was loaded.
        const int64_t weights = hessian_.weights(settings);
        if (!free_gram_.serves(matrix_.pairs(), weights)) free_gram_.store(sums, matrix_.pairs(), weights);
        if (free_gram_.serves(matrix_.pairs(), weights)) sums.free_gram = free_gram_.data();
    }
    if (!weigh_products(settings, matrix_, hessian_, sums, bounded)) {
        if (!uses_callers_diagonal(settings)) return break_down();
        return suspend(State::diagonal_checked, Verb::check_diagonal);
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
    const bool applies_operator =
        uses_operator() && operator_.is_usable() && !is_restarting() && (!bounded || point.free_variables > 0);
    if (!applies_operator &&
        !minimise_over_free(*this, matrix_, path, sums, system_, workspace_.data(), coefficients_.data()))
        return break_down();
    note_cauchy_point(point, !truncated);
    direction_request_.panel = model_panel();
    set_direction(direction_request_, point, *this, matrix_);
    if (truncated) return request_truncation();
    if (!applies_operator) return request_direction(Verb::direction);
    if (fresh_start) operator_.forget_scale();
    follow_operator(operator_.begin(matrix_, sums, path.free_gram(sums), path.p(), direction_request_.panel), nullptr);
}

// Discards the history after a factorisation has failed, which it cannot with an empty history.
void StateMachine::break_down() {
    refresh();
    request_products(State::model_products, model_panel());
}

void StateMachine::refresh() {
    discard_pairs(settings, *this, matrix_, hessian_);
    pair_unfinished_ = products_valid_ = false;
    use_stored_pairs();
}

// Requests the sweep that forms the direction d and the trial point, at which f and g are evaluated next. On a GPU the
// sums over d, among them the slope g'd, arrive with the reply to the following sweep, which saves one synchronisation.
// Whether d is a descent direction is then known only after the evaluation.
void StateMachine::request_direction(Verb verb) {
    products_valid_ = pair_unfinished_ = false;
    descent_ = Descent::unknown;
    begin_search(matrix_.theta());
    suspend(State::direction_taken, verb);
}

void StateMachine::judge_direction(const Reply &reply) {
    if (reply.direction) {
        descent_ = Descent::judged;
        if (!descends(settings, *reply.direction, matrix_.pairs())) return replace_direction();
    }
    request_evaluation(State::trial_point);
}

// Replaces a direction that does not descend because of the projection onto the box. The new direction truncates the
// step from the Cauchy point to the subspace minimiser at the box (Morales and Nocedal 2011, section 3).
void StateMachine::replace_direction() {
    if (operator_.is_used()) {
        // If the projection has changed x + d, the direction to P(x + t d) descends if t is small enough.
        const bool shortens = direction.projected > 0 && operator_.can_shorten();
        return follow_operator(shortens ? operator_.shorten(OperatorModel::without_descent)
                                        : refuse_operator_direction(results.pg_norm2 * std::sqrt(direction.d_squared)),
                               nullptr);
    }
    if (!can_truncate()) {
        failure = Event::no_descent;
        return restore(State::search_failed);
    }
    if (ends_at_limit(settings, false)) return settle();
    restore(State::truncation_ready);
}

// Prepares the truncation of a direction. On a GPU only the inner products at the trial point show that the direction
// is not a descent direction. The sweep that forms them may already have updated the learned diagonal, or an update may
// be due. If so, the model at the base point is formed again with the updated diagonal.
void StateMachine::prepare_truncation() {
    truncated = true;
    if (!hessian_.has_changed()) return request_truncation();
    use_stored_pairs();
    request_products_with_update(State::model_products);
}

void StateMachine::request_truncation() {
    direction_request_.panel.fresh = false; // the sweep of the direction has already formed y_new
    direction_request_.truncate = true;
    suspend(State::truncated, Verb::truncation);
}

// ---- the line search

void StateMachine::judge_trial_products(const Reply &reply) {
    if (measures_again(*reply.sums)) return;
    // A diagonal of the caller that is valid for several iterates may have changed, and is checked again.
    if (uses_callers_diagonal(settings) && panel_.weighted && reply.sums->variable_sums[bad_weights] > 0)
        return suspend(State::diagonal_checked, Verb::check_diagonal);
    if (descent_ != Descent::judged) {
        const DirectionSums &sums = descent_ == Descent::sums_known ? direction : *reply.direction;
        descent_ = Descent::judged;
        results.slope = slope_at_trial(*reply.sums) / unit;
        if (!descends(settings, sums, matrix_.pairs())) return replace_direction();
    }
    measure_trial(settings, *reply.sums);
    if (shortens_direction(*reply.sums)) return follow_operator(OperatorState::shortening, nullptr);
    if (step_max_matters(settings, *reply.sums, true)) return request_at_base(State::step_max, Verb::largest_step);
    advance_search(reply);
}

void StateMachine::advance_search(const Reply &reply) {
    const TrialVerdict verdict = judge_trial(settings, *reply.sums);
    if (saves_trial(settings, *reply.sums, verdict)) preparation_ = Preparation::save_trial;
    switch (verdict) {
    case TrialVerdict::evaluate: return request_at_base(State::stepped, Verb::step, trial_step());
    case TrialVerdict::accept: return accept_trial(reply);
    case TrialVerdict::fail: return restore(State::search_failed);
    case TrialVerdict::end: return settle();
    }
}

void StateMachine::accept_trial(const Reply &reply) {
    const PanelProducts &sums = *reply.sums;
    if (accept(settings, sums)) preparation_ = Preparation::save_base;
    request_.base_slot = direction_request_.spare_slot;
    operator_.accept_step(step == first_step);
    products_valid_ = append_pair(settings, *this, matrix_, hessian_, sums, panel_, true);
    pair_unfinished_ = panel_.fresh;                                        // otherwise the step has become no pair
    if (!pair_unfinished_ || !requested_.free_changes) free_gram_.forget(); // the products were formed in full
    else if (!free_gram_.update(sums)) products_valid_ = false;
    measure(sums, matrix_.theta());
    measure_iterate(reply);
}

// Restores x, f and g of the base point.
void StateMachine::restore(State next) {
    at_iterate = true;
    request_at_base(next, Verb::restore, f_base);
}

void StateMachine::recover(const Reply &reply) {
    if (noise_samples_.count() == 0 && wants_noise_estimate(settings))
        return follow_noise_samples(noise_samples_.begin());
    if (operator_.is_used()) { // its direction is to blame rather than f or g
        refuse_operator_direction(-first_step * slope_base);
        return resume_operator(reply);
    }
    note_failure(settings, matrix_.pairs(), matrix_.theta());
    if (const Norm norm = norm_after_failure(settings, matrix_.pairs()); norm != Norm::none)
        return request_norm(State::failure_measured, norm);
    if (after_failure(settings, matrix_.pairs()) == FailureVerdict::end) return settle();
    refresh();
    begin_direction(reply);
}

// Samples f along the direction of the failed line search. Only the value of f is used of the inner products at these
// points, so that they are requested without pairs. Errors of f that are no larger than rounding errors are not noise.
// The line search has then failed for another reason, such as a wrong gradient, and the end must not be convergence.
void StateMachine::follow_noise_samples(noise::Sampling next) {
    switch (next) {
    case noise::Sampling::step:
        if (ends_at_limit(settings, false)) return settle();
        at_iterate = false;
        return request_at_base(State::noise_sampled, Verb::step, noise_samples_.count() * noise_spacing());
    case noise::Sampling::evaluation: return request_evaluation(State::noise_sampled);
    case noise::Sampling::products: {
        PanelRequest panel = matrix_.stored_panel();
        panel.pairs = 0;
        return request_products(State::noise_sampled, panel);
    }
    case noise::Sampling::ended:
        const double level = noise_samples_.level(),
                     rounding = settings.rounding * (machine_epsilon / 2) *
                                (std::fabs(f_base) + results.pg_norm2 * results.x_norm2);
        if (level > rounding) results.noise_estimate = least(level, largest_finite);
        return restore(State::search_failed);
    }
}

// ---- the caller's operator

void StateMachine::follow_operator(OperatorState next, const OperatorProducts *products) {
    const auto end_with = [&](Event why, double a, double b) {
        numbers[0] = a, numbers[1] = b;
        end(CUDA_OPT_BAD_OPERATOR, why);
        settle();
    };
    switch (next) {
    case OperatorState::input: return suspend(State::operator_used, Verb::operator_input);
    case OperatorState::application:
        event = Event::operator_wanted;
        return request_task(State::operator_used, CUDA_OPT_APPLY_OPERATOR);
    case OperatorState::products: return suspend(State::operator_used, Verb::operator_products);
    case OperatorState::shortening:
    case OperatorState::replacing: return restore(State::operator_used);
    case OperatorState::found: return request_direction(Verb::operator_direction);
    case OperatorState::unsuitable: return request_products(State::model_products, model_panel());
    case OperatorState::breakdown: return break_down();
    case OperatorState::not_finite:
        return end_with(Event::operator_is_not_finite, static_cast<double>(products->not_finite), 0);
    case OperatorState::not_positive:
        return end_with(Event::operator_is_not_positive, products->in_out, std::sqrt(products->in_in));
    }
}

void StateMachine::resume_operator(const Reply &reply) {
    const bool replaces = operator_.state() == OperatorState::replacing;
    if (replaces || operator_.state() == OperatorState::shortening) { // x is the base point again
        if (ends_at_limit(settings, replaces)) return settle();
        if (replaces) use_stored_pairs();
        direction_request_.panel.fresh = false; // the first direction has stored y
    }
    follow_operator(operator_.resume(reply.of_operator), reply.of_operator);
}

// Returns whether f at the first trial point is too large and the projection has changed that point. A line search
// along the segment to it would move the variables that the projection has stopped away from their bounds.
bool StateMachine::shortens_direction(const PanelProducts &sums) {
    const bool is_first = search_evaluations == 0 && line.step() == first_step;
    if (!operator_.is_used() || direction.projected == 0 || !is_first || returning) return false;
    if (!are_finite(sums)) return false; // the line search cuts the step, and a longer one must not follow
    const double slope = first_step * slope_base,
                 errors = rounding_level * std::fabs(f_base) + 2 * noise_level(settings, f_base);
    const double factor = operator_.shorter(f_base, slope, f_base + settings.ftol * slope + errors, sums.f);
    if (factor < 1) operator_.shorten(factor);
    return factor < 1;
}

// The direction of the operator does not descend, or the line search found no step. This is no fault of the operator if
// the decrease that can be expected is below the rounding errors of f.
OperatorState StateMachine::refuse_operator_direction(double decrease) {
    return operator_.refuse(decrease > rounding_level * std::fabs(f_base) + noise_level(settings, f_base));
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
        request_.number = restore_best_results();
        return;
    }
    if (!at_iterate) return restore(State::ending);
    if (const Norm norm = norm_at_end(); norm != Norm::none) return request_norm(State::ending, norm);
    record_end(settings);
    if (logs()) return suspend(State::end_logged, Verb::log_end);
    request_task(State::ended, end_code);
}

} // namespace cudaopt
