// A solve on one rank, which stores a part of the variables. It works like Solver::call(), but a reply that depends on
// the variables of all ranks is first exchanged with them. A failure on a rank is reported with its next exchange.
// Until then the rank requests the same tasks as the others, so that no rank waits for a rank that has ended.

#include "boundary/translate_exceptions.hpp"
#include "solver/solver.hpp"

namespace cudaopt {

// Calls action() and records a failure of this rank. After a failure nothing more is executed on this rank.
template <class Action> void Solver::attempt(const Action &action) {
    if (ranks_->failed()) return;
    const auto guarded = [&] {
        try {
            action();
        } catch (const Interrupted &) {
            ranks_->give_up(stop_requested);
        }
        return 0;
    };
    translate_exceptions(guarded, [this](int code, const char *words) {
        ranks_->fail(code, words);
        return code;
    });
}

// Performs one call of the solver on a rank. An exchange is timed as a part of the call that requested it, so that the
// time between two calls contains only the evaluation.
int Solver::call_as_rank() {
    if (!exchanging()) {
        sweeps_->begin_call();
        attempt([this] { scale_input(); });
    }
    const int task = continue_as_rank();
    if (!exchanging()) {
        attempt([this] { unscale_output(); });
        sweeps_->end_call();
    }
    return task;
}

int Solver::continue_as_rank() {
    Ranks &ranks = *ranks_;
    // The code of an ended solve is returned again.
    if (ended() && !exchanging()) {
        origin_ = -1;
        return run(state_->advance(reply_));
    }
    if (!exchanging()) {
        if (started()) return run_as_rank(state_->advance(reply_));
        origin_ = -1;
        ranks.request_set_up(settings(), memory(), bits_, pairs(), *sweeps_);
        return CUDA_OPT_EXCHANGE;
    }
    const Ranks::Joined joined = ranks.join(reply_);
    if (joined.code < 0) return break_off_as_rank(joined.code, ranks.sentence());
    if (joined.again) return CUDA_OPT_EXCHANGE;
    if (joined.of == Exchange::end) {
        const bool names_variable = end_code_ == CUDA_OPT_IMPROPER_INPUT || end_code_ == CUDA_OPT_BAD_DIAGONAL;
        origin_ = ranks.origin(end_code_, names_variable ? state_->invalid_index() : -1);
        ranks.begin_anew();
        return end_code_;
    }
    if (joined.wish >= give_up_stopped)
        return run_as_rank(state_->give_up(joined.wish == give_up_stopped, reply_.seconds));
    stop_agreed_ = stop_agreed_ || joined.wish == stop;
    if (joined.of == Exchange::set_up) attempt([this] { allocate_as_rank(); });
    else if (state_->state() == State::start_checked && own_dimension() > 0) attempt([this] { move_into_box(); });
    // If single precision was not accurate enough for these sums, they are formed again in double precision. All ranks
    // base this decision on the sums over all ranks, so that they decide as a single rank would.
    if (joined.in_double) return run_as_rank(state_->request_in_double());
    return run_as_rank(state_->advance(reply_));
}

// Runs the state machine until the caller has to evaluate f or to gather packets.
int Solver::run_as_rank(Request request) {
    for (;;) {
        log_state();
        attempt([&] { perform_own(request); });
        if (request.verb == Verb::task) {
            if (request.task <= 0) return end_as_rank(request.task);
            // A stop request takes effect only at tasks that all ranks return. CUDA_OPT_NEW_ITERATE is returned only on
            // ranks that report iterates. If it stopped them, the other ranks would continue.
            if (!stop_agreed_ || request.task == CUDA_OPT_NEW_ITERATE) return request.task;
            request = state_->stop();
            continue;
        }
        if (Ranks::shares(request.verb)) {
            ranks_->request_reply(request, state_->panel_requested(), reply_, sweeps_->subtree_sums(), own_f_,
                                  settings(), stop_requested, seconds_passed());
            return CUDA_OPT_EXCHANGE;
        }
        // These are the sums over the direction on this rank, not yet those over the variables of all ranks.
        if (request.verb == Verb::direction) reply_.direction = nullptr;
        request = state_->advance(reply_);
    }
}

// Performs a request on the variables of this rank. The rank may have no variables.
void Solver::perform_own(const Request &request) {
    const Part &part = ranks_->part();
    if (request.verb == Verb::read_variable) {
        if (!part.holds(request.index)) return;
        Request here = request;
        here.index -= part.first;
        return perform(here);
    }
    if (part.n > 0 || request.verb >= Verb::log_start) perform(request);
    if (request.verb != Verb::inner_products) return;
    if (part.n > 0) own_f_ = reply_.sums->f;
    else sweeps_->fetch({HeldVector::f}, &own_f_);
}

// Ends the solve with the same code on all ranks. One more exchange reports whether the last steps failed on any rank.
int Solver::end_as_rank(int code) {
    // Stores the total f in the caller's array, not the contribution of this rank.
    if (ranks_->measured()) attempt([this] { sweeps_->store({HeldVector::f}, &state_->results.f); });
    end_code_ = code;
    ranks_->request_end(code, settings(), seconds_passed());
    return CUDA_OPT_EXCHANGE;
}

// Ends the solve because an exchange failed. Restores the best iterate as far as that is possible without the other
// ranks.
int Solver::break_off_as_rank(int code, const Message &sentence) {
    if (state_->started()) {
        // This also runs after a failure, so that the results describe the same iterate on all ranks.
        if (!ended()) {
            Request request = state_->stop(true);
            for (; request.verb != Verb::task; request = state_->advance(reply_))
                if (own_dimension() > 0 && request.verb < Verb::log_start) attempt([&] { perform(request); });
            if (ranks_->measured()) attempt([this] { sweeps_->store({HeldVector::f}, &state_->results.f); });
        }
        state_->break_off();
    }
    attempt([this] { unscale_output(); });
    new_message().set("%s", sentence.text());
    ranks_->begin_anew();
    return code;
}

int Solver::end_without_exchange(const char *why) {
    Message sentence;
    sentence.set("the exchange between the ranks failed: %s", why);
    return break_off_as_rank(CUDA_OPT_EXCHANGE_FAILED, sentence);
}

void Solver::allocate_as_rank() {
    ranks_->allocate(memory());
    if (own_dimension() > 0) {
        allocate(settings());
        if (const int code = prepare_scales(true)) throw BackendFailure(code, message_.text());
    } else {
        sweeps_->follow(stream, &cancellation_);
        sweeps_->bind(arrays);
    }
    reply_.forms_free_changes = ranks_->form_free_changes();
}

} // namespace cudaopt
