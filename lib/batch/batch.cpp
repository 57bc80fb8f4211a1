#include "batch/batch.hpp"

#include <algorithm>

#include "cuda_opt.h"
#include "solver/solver.hpp"

namespace cudaopt {

Batch::Batch(int n_, int64_t count_, int m_, BatchMachines machines)
    : n(n_), m(m_), count(count_), machines_(std::move(machines)) {}

void Batch::reset() {
    phase_ = Phase::start;
    has_problems_ = false;
    stop_requested = false;
    active_ = rounds_ = 0;
}

int Batch::resume() {
    if (phase_ == Phase::start) first_call_ = Clock::now();
    cancellation_.begin_call(first_call_, settings.max_seconds);
    int task;
    try {
        task = call();
    } catch (const Interrupted &) {
        task = give_up();
    } catch (...) { // translate_exceptions() reports it
        cancellation_.end_call();
        phase_ = Phase::ended;
        active_ = 0;
        throw;
    }
    cancellation_.end_call(); // only waits during a call have a time limit
    return task;
}

int Batch::call() {
    switch (phase_) {
    case Phase::start: {
        const batch::Shape shape{n, m, settings.metric != Metric::one_number};
        machine_ = (shape.metric                                       ? machines_.in_metric
                    : machines_.unbounded && !arrays.may_have_bounds() ? machines_.unbounded
                                                                       : machines_.plain)
                       .get();
        machine_->allocate({shape, count, static_cast<int>(settings.threads), packed != 0}, stream, cancellation_);
        codes_.resize(static_cast<std::size_t>(count));
        phase_ = Phase::going;
        has_problems_ = true;
        active_ = machine_->advance(arrays, settings, Purpose::begin, stop_requested, 0);
        break;
    }
    case Phase::going:
        active_ = machine_->advance(arrays, settings, Purpose::resume, stop_requested, cancellation_.seconds_passed());
        break;
    case Phase::ended:
        return message.refuse_call(
            "cuda_opt_batch_solve was called after the batch had ended; call cuda_opt_reset to begin a new batch");
    }
    if (active_ == 0) return end();
    rounds_++;
    message.set("evaluate f and g of %lld of %lld problems, round %lld", shown(active_), shown(count), shown(rounds_));
    return CUDA_OPT_EVALUATE_BATCH;
}

// Ends the batch after all problems have ended. Returns the code of the first that has not converged, if any.
int Batch::end() {
    phase_ = Phase::ended;
    machine_->read_codes(codes_.data());
    const auto first = std::find_if(codes_.begin(), codes_.end(), [](int32_t code) { return code != 0; });
    if (first == codes_.end()) {
        message.set("converged: all %lld problems", shown(count));
        return CUDA_OPT_CONVERGED;
    }
    const auto converged = std::count(codes_.begin(), codes_.end(), 0);
    message.set("%lld of %lld problems have converged; the first that has not is problem %lld (counted from 0): %s",
                shown(converged), shown(count), shown(first - codes_.begin()), describe(first - codes_.begin()));
    return *first;
}

// Ends all problems without waiting for the device.
int Batch::give_up() {
    machine_->advance(arrays, settings, stop_requested ? Purpose::stop_waiting : Purpose::end_of_time, false,
                      cancellation_.seconds_passed());
    message.set("%s while the call waited for the stream, after %lld rounds; x, f and g are the best iterates "
                "once all work on the stream is complete",
                stop_requested ? "stopped by the caller" : "the time limit was reached", shown(rounds_));
    phase_ = Phase::ended;
    active_ = 0;
    return stop_requested ? CUDA_OPT_STOPPED : CUDA_OPT_TIME_LIMIT;
}

void Batch::read_codes(int64_t *to) {
    machine_->read_codes(codes_.data());
    std::copy(codes_.begin(), codes_.end(), to);
}

const char *Batch::describe(int64_t problem) {
    cudaopt::describe(machine_->record(problem), event_message_);
    return event_message_.text();
}

} // namespace cudaopt
