// A solve on one of many ranks: as Solver::call(), but where a reply depends on the variables, it goes to all ranks,
// and theirs come here, before the state machine has it. What fails on a rank is told with its next exchange; until
// then it asks its caller for the same as the others do, so that no rank waits for one that is gone.
#include <utility>

#include "boundary/translate_exceptions.hpp"
#include "solver/solver.hpp"

namespace cudaopt {

// Nothing more is done here once something has failed.
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

// An exchange is a part of the call that asked for it: what the caller's time between two calls is spent on is the
// evaluation.
int Solver::call_as_rank() {
    if (!exchanging()) sweeps_->begin_call();
    const int task = continue_as_rank();
    if (!exchanging()) sweeps_->end_call();
    return task;
}

int Solver::continue_as_rank() {
    Ranks &ranks = *ranks_;
    if (ended() && !exchanging()) { // says so
        origin_ = -1;
        return run(state_->advance(reply_));
    }
    if (!exchanging()) {
        if (started()) return run_as_rank(state_->advance(reply_));
        origin_ = -1;
        ranks.request_set_up(settings(), memory(), bits_, pairs(), sweeps_->subtree_sums() != nullptr, 0);
        return CUDA_OPT_EXCHANGE;
    }
    const Ranks::Joined joined = ranks.join(reply_);
    if (joined.code < 0) return break_off_as_rank(joined.code, ranks.sentence());
    if (joined.again) return CUDA_OPT_EXCHANGE;
    if (joined.of == Exchange::end) {
        const Event &event = state_->event;
        const bool names_variable = end_code_ == CUDA_OPT_IMPROPER_INPUT || end_code_ == CUDA_OPT_BAD_DIAGONAL;
        origin_ = ranks.origin(end_code_, names_variable ? event.integers[0] : -1);
        ranks.begin_anew();
        return end_code_;
    }
    if (joined.wish >= give_up_stopped)
        return run_as_rank(state_->give_up(joined.wish == give_up_stopped, reply_.seconds));
    stop_agreed_ = stop_agreed_ || joined.wish == stop;
    if (joined.of == Exchange::set_up) attempt([this] { allocate_as_rank(); });
    else if (state_->state() == StateMachine::State::start_checked && own_dimension() > 0)
        attempt([this] { move_into_box(); });
    // What sums of single precision have lost, as one rank would see it.
    if (joined.in_double) return run_as_rank(state_->request_in_double());
    return run_as_rank(state_->advance(reply_));
}

// Until the caller is asked, be it for an exchange.
int Solver::run_as_rank(Request request) {
    for (;;) {
        if (request.verb == Verb::task) {
            if (request.task <= 0) return end_as_rank(request.task);
            // A stop holds where all ranks are asked: who does not report iterates would go on from there.
            if (!stop_agreed_ || request.task == CUDA_OPT_NEW_ITERATE) return request.task;
            request = state_->stop();
            continue;
        }
        attempt([&] { perform_own(request); });
        if (Ranks::shares(request.verb)) {
            ranks_->request_reply(request, state_->panel_requested(), reply_, sweeps_->subtree_sums(), own_f_,
                                  settings(), stop_requested, seconds_passed());
            return CUDA_OPT_EXCHANGE;
        }
        if (request.verb == Verb::direction) reply_.direction = nullptr; // this rank's own are not the sums
        request = state_->advance(reply_);
    }
}

// The sweeps of this rank's variables, of which there may be none.
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

// All ranks end with one code: one exchange more tells whether the last steps have failed anywhere.
int Solver::end_as_rank(int code) {
    if (ranks_->measured())
        attempt([this] { sweeps_->store({HeldVector::f}, &state_->results.f); }); // the whole, and not a share
    end_code_ = code;
    ranks_->request_end(code, settings(), seconds_passed());
    return CUDA_OPT_EXCHANGE;
}

// x, f and g become the best iterate where that can be done without the others.
int Solver::break_off_as_rank(int code, const Message &sentence) {
    if (state_->started()) {
        if (!ended()) { // also where nothing is performed any more: the results are of the same iterate on all
            Request request = state_->stop();
            for (; request.verb != Verb::task; request = state_->advance(reply_))
                if (own_dimension() > 0 && request.verb < Verb::log_start) attempt([&] { perform(request); });
            if (ranks_->measured()) attempt([this] { sweeps_->store({HeldVector::f}, &state_->results.f); });
        }
        state_->break_off();
    }
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
    } else {
        sweeps_->follow(stream, &cancellation_);
        sweeps_->bind(arrays);
    }
}

} // namespace cudaopt
