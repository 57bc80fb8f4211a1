#include "solver/solver.hpp"

#include <new>
#include <utility>

#include "backend/makers.hpp"

namespace cudaopt {

Solver::StateBlock Solver::zero_bytes(int64_t count) {
    StateBlock memory(std::calloc(static_cast<std::size_t>(count), 1));
    if (!memory) throw std::bad_alloc();
    return memory;
}

Solver::Solver(int64_t n, int m, int bits, int backend, int device, MakeSweeps make_sweeps)
    : block_(zero_bytes(state_bytes(m))), state_(make_state(block_.get(), n, m)), backend_(backend), device_(device),
      make_sweeps_(make_sweeps), bits_(bits), history_bits_(bits), own_n_(n),
      sweeps_(make_sweeps(backend, n, bits, device)) {
    settings().history_bits = bits;
}

const Message &Solver::message() const {
    if (!std::exchange(message_pending_, false)) return message_;
    if (exchanging()) {
        message_.set("gather %lld bytes of each of the %d ranks, where cuda_opt_gather() says",
                     shown(ranks_->packets().bytes()), ranks_->part().ranks);
    } else if (origin_ < 0) {
        describe(*state_, message_);
        const Message sentence = message_;
        const int refusals = state_->has_ended() ? state_->operator_model().refusals() : 0;
        if (refusals > 0)
            message_.set("%s; the operator was refused at %d iterate%s, where the scalar initial Hessian was used",
                         sentence.text(), refusals, refusals == 1 ? "" : "s");
        const bool is_undefined = state_->event == Event::not_finite_at_start && state_->numbers[0] > 0;
        if (scaled_ && (is_undefined || state_->event == Event::not_finite_after_cuts))
            message_.set("%s; this g is yours times the scales of the variables (x_scale)", sentence.text());
    } else {
        Message sentence;
        describe(*state_, sentence);
        message_.set("rank %d: %s", origin_, sentence.text());
    }
    return message_;
}

void Solver::begin_anew(bool keep_pairs) {
    state_->begin_anew(keep_pairs);
    host_seconds_ = 0;
    stop_requested = resumed_ = stop_agreed_ = false;
    origin_ = -1;
    if (ranks_) ranks_->begin_anew();
}

void Solver::warm_start() {
    const int unfinished = state_->broken() ? -1 : state_->finish_pair();
    if (unfinished >= 0 && own_dimension() > 0) sweeps_->finish_pair(unfinished);
    begin_anew(true);
}

int Solver::resume() {
    const Clock::time_point now = Clock::now();
    if (!started()) first_call_ = now;
    cancellation_.begin_call(first_call_, settings().max_seconds);
    message_pending_ = true;
    int task;
    try {
        task = ranks_ ? call_as_rank() : call();
    } catch (...) { // translate_exceptions() reports the exception
        cancellation_.end_call();
        state_->break_off();
        throw;
    }
    cancellation_.end_call();
    host_seconds_ += std::chrono::duration<double>(Clock::now() - now).count();
    return task;
}

int Solver::call() {
    try {
        if (!started()) {
            allocate(settings());
            if (const int code = prepare_scales(true)) return code; // the solve has not begun
        }
        sweeps_->begin_call();
        scale_input();
        int task = state_->task();
        if (!std::exchange(resumed_, false)) {
            reply_.seconds = settings().max_seconds > 0 ? seconds_passed() : 0;
            task = run(state_->advance(reply_));
        }
        if (task > 0 && stop_requested) task = run(state_->stop());
        unscale_output();
        sweeps_->end_call();
        return task;
    } catch (const Interrupted &) {
        const int task = run(state_->give_up(stop_requested, cancellation_.seconds_passed()));
        unscale_output();
        return task;
    }
}

// Runs the state machine until it returns a task to the caller.
int Solver::run(Request request) {
    for (;; request = state_->advance(reply_)) {
        log_state();
        perform(request);
        if (request.verb == Verb::task) return request.task;
        if (settings().max_seconds > 0) reply_.seconds = seconds_passed();
    }
}

void Solver::prepare(const Request &request) {
    switch (request.preparation) {
    case Preparation::none: break;
    case Preparation::save_trial: sweeps_->save_trial(); break;
    case Preparation::save_base: sweeps_->save_best(request.base_slot); break;
    case Preparation::remove_infinite_slopes:
        sweeps_->remove_infinite_slopes();
        if (scaled_) scaled_->remove_infinite_slopes();
        break;
    }
}

void Solver::perform(const Request &request) {
    Sweeps &sweeps = *sweeps_;
    reply_.direction = nullptr;
    // Record which of z and s g the request changes.
    const bool restores = request.verb == Verb::restore || request.verb == Verb::restore_best;
    g_is_restored_ = g_is_restored_ || restores;
    x_is_new_ = x_is_new_ || restores || request.verb == Verb::direction || request.verb == Verb::step;
    if (own_dimension() > 0) prepare(request);
    switch (request.verb) {
    case Verb::check_start:
        reply_.start = sweeps.check_start();
        if (!ranks_) move_into_box();
        break;
    case Verb::read_variable: {
        Variable &variable = reply_.variable = {0, arrays.lower_all, arrays.upper_all};
        sweeps.read(arrays.x, request.index, 1, &variable.x);
        if (arrays.lower) sweeps.read(arrays.lower, request.index, 1, &variable.l);
        if (arrays.upper) sweeps.read(arrays.upper, request.index, 1, &variable.u);
        break;
    }
    case Verb::inner_products:
        reply_.sums = &sweeps.inner_products(state_->products_requested());
        direction_sums_ = sweeps.direction_sums();
        reply_.direction = &direction_sums_;
        break;
    case Verb::direction:
        sweeps.direction(state_->direction_requested());
        if (!sweeps.direction_sums_at_hand()) break;
        direction_sums_ = sweeps.direction_sums();
        reply_.direction = &direction_sums_;
        break;
    case Verb::truncation: reply_.number = sweeps.truncation(state_->direction_requested()); break;
    case Verb::crossed: reply_.crossed = sweeps.crossed(state_->panel_requested(), request.lo, request.hi); break;
    case Verb::step: sweeps.step(request.slot, request.number); break;
    case Verb::largest_step: reply_.number = sweeps.largest_step(request.slot); break;
    case Verb::restore: sweeps.restore(request.slot, request.number); break;
    case Verb::restore_best: sweeps.restore_best(request.number); break;
    case Verb::finish_pair: sweeps.finish_pair(request.slot); break;
    case Verb::norm: reply_.number = sweeps.norm(request.norm); break;
    case Verb::check_diagonal: reply_.index = sweeps.bad_diagonal(); break;
    case Verb::operator_input: operator_->form_input(state_->operator_model().request()); break;
    case Verb::operator_products:
        reply_.of_operator = &operator_->multiply_output(state_->operator_model().request());
        break;
    case Verb::operator_direction:
        sweeps.history(); // columns are written
        direction_sums_ = operator_->direction(state_->operator_model().request(), state_->direction_requested());
        reply_.direction = &direction_sums_;
        break;
    case Verb::log_start: log_start(); break;
    case Verb::log_iterate: log_iterate(); break;
    case Verb::log_end: log_end(); break;
    case Verb::task: break;
    }
}

// Projects x only if the start is valid on all ranks, so that improper input changes nothing on any rank.
void Solver::move_into_box() {
    if (!reply_.start.usable(dimension())) return;
    if (reply_.start.projected > 0) sweeps_->move_into_box();
    x_is_new_ = true;
}

void Solver::allocate(const Settings &settings) {
    const bool by_segments = ranks_ && ranks_->by_segments();
    if (settings.history_bits != history_bits_ || own_dimension() != own_n_ || by_segments != by_segments_) {
        // The old sweeps are destroyed before the new ones allocate, so that two workspaces never exist at the same
        // time.
        sweeps_ = make_sweeps_(backend_, own_dimension(), static_cast<int>(settings.history_bits), device_);
        reply_.sums = nullptr; // they belonged to the old sweeps
        operator_.reset();     // it has the old history precision
        history_bits_ = settings.history_bits;
        own_n_ = own_dimension();
        by_segments_ = by_segments;
    }
    if (by_segments)
        sweeps_->subtree_sums()->take_part(ranks_->part().first, dimension(),
                                           settings.f_part == CUDA_OPT_F_OF_SEGMENTS);
    sweeps_->allocate(memory(), {static_cast<int>(settings.threads), stream, settings.robust, settings.metric,
                                 &cancellation_, settings.timed});
    reply_.forms_free_changes = sweeps_->forms_free_changes();
    bind_arrays();
    if (!uses_operator()) return operator_.reset();
    if (!operator_)
        operator_ = makers_of(backend_).operator_sweeps(dimension(), bits_, static_cast<int>(history_bits_), device_);
    operator_->bind(arrays, sweeps_->history(), resources());
}

} // namespace cudaopt
