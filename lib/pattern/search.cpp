#include "pattern/search.hpp"

#include <algorithm>
#include <new>

#include "cuda_opt.h"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

namespace {

double best_of(const pattern::Walk &walk) { return std::min(walk.best, walk.value); }

} // namespace

Search::Search(int n_, int64_t walks_, std::unique_ptr<SearchSweeps> sweeps)
    : n(n_), walks(walks_), sweeps_(std::move(sweeps)), active_(walks_) {}

void Search::reset() {
    phase_ = Phase::start;
    stop_requested = false;
    iterations_ = evaluations_ = batch_ = stop_test_ = 0;
    active_ = walks;
}

int Search::resume(double *points, const double *values) {
    if (phase_ == Phase::start) first_call_ = Clock::now();
    points_ = points;
    values_ = values;
    cancellation_.begin_call(first_call_, settings.max_seconds);
    int task;
    try {
        task = advance();
    } catch (const Interrupted &) {
        task = close(stop_requested ? CUDA_OPT_STOPPED : CUDA_OPT_TIME_LIMIT);
        message.set("%s while the call waited for the stream, after %lld iterations and %lld evaluations", reason(task),
                    shown(iterations_), shown(evaluations_));
    } catch (const BackendFailure &failure) {
        task = close(failure.code);
        message.set("%s", failure.what());
    } catch (const std::bad_alloc &) {
        task = close(CUDA_OPT_OUT_OF_MEMORY);
    }
    if (task == CUDA_OPT_OUT_OF_MEMORY)
        message.set("out of memory: the points of %lld walks of %d variables alone take n * walks * 8 = %lld bytes",
                    shown(walks), n, shown(8 * walks * n));
    cancellation_.end_call(); // the time limit does not apply to later waits, outside this call
    return task;
}

int Search::close(int code) {
    phase_ = Phase::ended;
    batch_ = 0;
    return code;
}

int Search::advance() {
    if (phase_ == Phase::start) return begin();
    if (phase_ == Phase::ended)
        return message.refuse_call(
            "cuda_opt_search_solve was called after the search had ended; call cuda_opt_reset to begin a new search");
    if (phase_ == Phase::starts) sweeps_->judge_starts(values_);
    else sweeps_->judge_trials(j_, values_);
    evaluations_ += batch_;
    summary_.reset();
    walks_are_current_ = false;
    if (phase_ == Phase::starts) return next_iteration();
    if (++j_ < n) return request_trials(false);
    iterations_++;
    const int64_t selected = sweeps_->end_iteration();
    if (settings.rule() == AtSmallestStep::new_point && selected > 0) return request_starts(selected);
    if (settings.rule() == AtSmallestStep::stop && selected < active_) {
        active_ = selected;
        j_ = -1;
    }
    return next_iteration();
}

// Checks the bounds and the settings. A random start needs a finite box. If something is rejected, the phase does not
// change, so that the caller may correct it and call again.
int Search::check_settings() {
    if (lower.empty() || upper.empty())
        return message.refuse_input(
            "cuda_opt_set_bounds has given no %s bounds, but the walks start anywhere in a finite box",
            lower.empty() ? "lower" : "upper");
    for (int j = 0; j < n; j++)
        if (const char *wrong = pattern::wrong_bounds(lower[j], upper[j], first_step(j)))
            return message.refuse_input(
                "variable %d (counted from 0) of %d has the bounds %g and %g and the step %g, but %s", j, n, lower[j],
                upper[j], first_step(j), wrong);
    if (const char *const wrong = pattern::wrong_rounds(settings.round_iterations, settings.rule()))
        return message.refuse_input("CUDA_OPT_AT_SMALLEST_STEP is %lld and CUDA_OPT_ROUND_ITERATIONS %lld, but %s",
                                    shown(settings.at_smallest), shown(settings.round_iterations), wrong);
    return 0;
}

int Search::begin() {
    if (const int code = check_settings()) return code;
    std::vector<double> box(lower);
    box.insert(box.end(), upper.begin(), upper.end());
    for (int j = 0; j < n; j++) box.push_back(first_step(j));
    sweeps_->begin(n, walks, settings, box.data(), {static_cast<int>(settings.threads), stream, cancellation_});
    // walk_ and order_ are allocated here, because nothing is allocated after the start.
    walk_.reserve(static_cast<std::size_t>(walks));
    order_.reserve(static_cast<std::size_t>(walks));
    round_end_ = settings.round_iterations;
    return request_starts(walks);
}

// Returns the task of evaluating f at the points of a batch, which have been written. Ends the search instead if a
// limit is reached or the caller requests a stop.
int Search::request(Phase phase, int64_t batch) {
    phase_ = phase;
    if (stop_requested) return end(CUDA_OPT_STOPPED);
    if (settings.max_evaluations > 0 && evaluations_ + batch > settings.max_evaluations)
        return end(CUDA_OPT_EVALUATION_LIMIT);
    if (settings.max_seconds > 0 && cancellation_.seconds_passed() > settings.max_seconds)
        return end(CUDA_OPT_TIME_LIMIT);
    batch_ = batch;
    return CUDA_OPT_EVALUATE_BATCH;
}

int Search::request_starts(int64_t count) {
    j_ = -1;
    sweeps_->draw(points_);
    return request(Phase::starts, count);
}

int Search::request_trials(bool all_rows) {
    sweeps_->write_trials(j_, all_rows, points_);
    return request(Phase::trials, 2 * active_);
}

int Search::next_iteration() {
    if (settings.f_target > -HUGE_VAL && summary().value <= settings.f_target) {
        stop_test_ = CUDA_OPT_F_TARGET;
        return end(CUDA_OPT_CONVERGED);
    }
    if (active_ == 0) return end(CUDA_OPT_CONVERGED);
    if (settings.max_iterations > 0 && iterations_ >= settings.max_iterations) return end(CUDA_OPT_ITERATION_LIMIT);
    if (settings.round_iterations > 0 && iterations_ == round_end_) {
        round_end_ += settings.round_iterations;
        sweeps_->begin_round();
        return request_starts(walks);
    }
    // After new random starts, the array of points does not contain the walks' previous trial points. All coordinates
    // are then written.
    const bool all_rows = j_ < 0;
    j_ = 0;
    return request_trials(all_rows);
}

const char *Search::reason(int code) const {
    switch (code) {
    case CUDA_OPT_CONVERGED:
        return stop_test_ ? "f has reached CUDA_OPT_F_TARGET" : "all walks have ended at their smallest steps";
    case CUDA_OPT_ITERATION_LIMIT: return "the limit of iterations was reached";
    case CUDA_OPT_EVALUATION_LIMIT: return "the next batch would exceed the limit of evaluations";
    case CUDA_OPT_TIME_LIMIT: return "the time limit was reached";
    default: return "stopped by the caller";
    }
}

int Search::end(int code) {
    close(code);
    if (evaluations_ > 0) {
        const SearchSummary &best = summary();
        if (!(best.value < HUGE_VAL) && code != CUDA_OPT_STOPPED) {
            message.set("f is NaN or Inf at all of the %lld points evaluated", shown(evaluations_));
            return CUDA_OPT_NOT_FINITE;
        }
        message.set("%s: f = %.10g in walk %lld, after %lld iterations and %lld evaluations", reason(code), best.value,
                    shown(best.walk), shown(iterations_), shown(evaluations_));
    } else if (code == CUDA_OPT_EVALUATION_LIMIT) {
        message.set("the first batch of %lld points would exceed the limit of %lld evaluations: there is no value",
                    shown(walks), shown(settings.max_evaluations));
    } else {
        message.set("%s before the first value", reason(code));
    }
    return code;
}

const SearchSummary &Search::summary() {
    if (!summary_) summary_ = sweeps_->summary();
    return *summary_;
}

void Search::read_all_walks() {
    if (walks_are_current_) return;
    walk_.resize(static_cast<std::size_t>(walks));
    order_.clear();
    sweeps_->read_walks(walk_.data());
    walks_are_current_ = true;
}

int64_t Search::best_walk(int64_t rank) {
    read_all_walks();
    if (order_.empty()) {
        for (const pattern::Walk &walk : walk_) order_.emplace_back(best_of(walk), order_.size());
        std::sort(order_.begin(), order_.end());
    }
    return order_[static_cast<std::size_t>(rank)].second;
}

double Search::read(int64_t walk, double *x) {
    read_all_walks();
    if (x) sweeps_->read_point(walk, x);
    return best_of(walk_[static_cast<std::size_t>(walk)]);
}

} // namespace cudaopt
