#include "solver/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cuda_opt.h"

namespace cudaopt {

namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();

// Whether the sum of squares is one from which the norm can be had.
bool in_range(double squares) {
    return squares >= std::numeric_limits<double>::min() / machine_epsilon && std::isfinite(squares);
}

} // namespace

Solver::Solver(int64_t n, int m, std::unique_ptr<Sweeps> sweeps)
    : n_(n), sweeps_(std::move(sweeps)), memory_(m), cauchy_(m), subspace_(m) {}

void Solver::reset() {
    memory_.clear();
    begin_anew();
}

void Solver::warm_start() {
    if (broken_) memory_.clear(); // what is in the workspace is unknown
    else finish_pair();
    begin_anew();
}

void Solver::begin_anew() {
    results_ = Results{};
    phase_ = Phase::start;
    host_seconds_ = 0;
    stop_requested = resumed_ = pair_unfinished_ = broken_ = false;
    gathered_ = nullptr;
    search_evaluations_ = cuts_in_a_row_ = 0;
    f_refreshed_ = pg_refreshed_ = f_best_ = infinity;
    best_is_aside_ = false;
    f_noted_ = pg_noted_ = infinity;
    refreshes_in_vain_ = postponed_ = reached_ = in_vain_ = 0;
    exhausted_ = returning_ = false;
    direction_sums_.reset();
}

int Solver::resume() {
    const Clock::time_point now = Clock::now();
    if (phase_ == Phase::start) first_call_ = now;
    patience_.begin_call(first_call_, settings.max_seconds);
    const bool ended = phase_ == Phase::ended;
    int task;
    try {
        task = call();
    } catch (...) { // what it was is said at the rim
        broken_ = true;
        phase_ = Phase::ended;
        throw;
    }
    host_seconds_ += std::chrono::duration<double>(Clock::now() - now).count();
    if (!ended) task_ = task; // a call too many does not change how the solve ended
    return task;
}

int Solver::call() {
    const int64_t iterations_before = results_.iterations;
    try {
        sweeps_->begin_call();
        int task = std::exchange(resumed_, false) ? task_ : dispatch();
        if (task > 0 && stop_requested) task = stop();
        sweeps_->end_call();
        return task;
    } catch (const Interrupted &) {
        return give_up(iterations_before);
    }
}

int Solver::dispatch() {
    switch (phase_) {
    case Phase::start: return begin();
    case Phase::first_point: return judge_start();
    case Phase::searching: return judge_trial();
    case Phase::reporting: return judge_iterate();
    case Phase::diagonal: return next_direction();
    case Phase::ended: break;
    }
    message_.set("cuda_opt_solve was called after the solve had ended; call cuda_opt_reset to start anew");
    return CUDA_OPT_MISUSE;
}

void Solver::allocate() {
    sweeps_->allocate(memory_.capacity(), {static_cast<int>(settings.threads), stream, settings.robust, &patience_});
    sweeps_->bind(arrays);
}

int Solver::begin() {
    allocate();
    const StartReport report = sweeps_->start();
    const auto refuse = [&](const char *what, int64_t index) {
        double x, l = -infinity, u = infinity;
        sweeps_->read(arrays.x, index, 1, &x);
        if (arrays.lower) sweeps_->read(arrays.lower, index, 1, &l);
        if (arrays.upper) sweeps_->read(arrays.upper, index, 1, &u);
        message_.set("%s at index %lld (counted from 0) of %lld: l = %g, x = %g, u = %g", what,
                     static_cast<long long>(index), static_cast<long long>(n_), l, x, u);
        return CUDA_OPT_IMPROPER_INPUT; // and stay at the start: a corrected call may follow
    };
    if (report.bound_nan < n_) return refuse("a bound is NaN", report.bound_nan);
    if (report.crossed < n_)
        return refuse("the bounds leave no finite x: the lower bound is greater than the upper "
                      "bound, or both are the same infinity,",
                      report.crossed);
    if (report.x_nan < n_) return refuse("the start x is NaN or infinite", report.x_nan);
    bounded_ = report.bounded > 0; // arrays of infinities are no bounds
    boxed_ = report.boxed == n_;
    results_.start_projected = report.projected;
    phase_ = Phase::first_point;
    return ask_evaluation();
}

// Every request for an evaluation goes through here.
int Solver::ask_evaluation() {
    results_.evaluations++;
    message_.set("evaluate f and g at x, evaluation %lld", static_cast<long long>(results_.evaluations));
    return CUDA_OPT_EVALUATE_FG;
}

int Solver::judge_start() {
    panel_ = memory_.stored_panel();
    panel_.masked = bounded_;
    gathered_ = &sweeps_->gather(panel_);
    if (!std::isfinite(gathered_->f) || gathered_->row_sums[not_finite] > 0) {
        note_iterate(*gathered_);
        log_header();
        message_.set("f and g cannot be evaluated at the start: f = %g, and %.0f of %lld components of g are NaN or "
                     "infinite",
                     gathered_->f, gathered_->row_sums[not_finite], static_cast<long long>(n_));
        return end(CUDA_OPT_NOT_FINITE);
    }
    f_previous_ = infinity;
    f_best_ = gathered_->f;
    fresh_start_ = memory_.pairs() == 0;
    note_iterate(*gathered_);
    log_header();
    return judge_iterate();
}

void Solver::note_iterate(const PanelSums &sums) {
    results_.f = sums.f;
    results_.pg_norm_max = sums.projected_gradient_max;
    const double pg_squares = sums.row_sums[projected_gradient_squared], x_squares = sums.row_sums[x_squared];
    const bool rescale = std::isfinite(results_.pg_norm_max) && results_.pg_norm_max > 0 && !in_range(pg_squares);
    constexpr double largest = std::numeric_limits<double>::max(); // a norm may be larger yet
    results_.pg_norm2 = rescale ? std::min(sweeps_->projected_gradient_norm(), largest) : std::sqrt(pg_squares);
    results_.x_norm2 = in_range(x_squares) ? std::sqrt(x_squares) : std::min(sweeps_->x_norm(), largest);
    results_.at_lower = static_cast<int64_t>(sums.row_sums[at_lower]);
    results_.at_upper = static_cast<int64_t>(sums.row_sums[at_upper]);
    results_.theta = memory_.theta();
}

// x, f, g are an accepted iterate: stop here, or go on.
int Solver::judge_iterate() {
    // Where rounding errors let f rise, a few iterations more mostly find it lower, with the test holding still. Else
    // the solve ends here all the same.
    constexpr int most_postponed = 10;
    constexpr int most_in_vain = 1000;
    const int test = stopping_test();
    if (test == 0) {
    } else if (best_is_aside_ && test != CUDA_OPT_FACTR && results_.pg_norm_max > 0 && postponed_ < most_postponed) {
        reached_ = test;
        postponed_++;
    } else {
        return converge(test);
    }
    if (settings.robust && in_vain_ >= most_in_vain) {
        if (reached_ != 0) return converge(reached_);
        settle(true);
        message_.set("neither f = %.16g nor ||P g|| = %g has fallen for %d iterations: f may be at its rounding level",
                     results_.f, results_.pg_norm2, in_vain_);
        return end(CUDA_OPT_LINE_SEARCH_FAILED);
    }
    if (const Ending code = end_at_limit(true)) return *code;
    if (settings.user_diagonal) {
        phase_ = Phase::diagonal;
        message_.set("supply the diagonal of the inverse Hessian's approximation at iterate %lld",
                     static_cast<long long>(results_.iterations));
        return CUDA_OPT_SUPPLY_DIAGONAL;
    }
    return next_direction();
}

int Solver::next_direction() {
    if (settings.user_diagonal) {
        const int64_t bad = sweeps_->bad_diagonal();
        if (bad < n_) {
            settle(true);
            message_.set("the diagonal's element at index %lld (counted from 0) is not positive and finite, at iterate "
                         "%lld",
                         static_cast<long long>(bad), static_cast<long long>(results_.iterations));
            return end(CUDA_OPT_BAD_DIAGONAL);
        }
    }
    const FirstStep first = fresh_start_ ? first_step() : FirstStep{1, 1};
    if (fresh_start_) memory_.set_scale(first.theta);
    else if (memory_.pairs() == 0 && !settings.robust) memory_.set_scale(1);
    // A breakdown drops the memory and goes on from the same point. Twice at most: without pairs nothing is left to
    // break down.
    while (!direction_from(gathered_)) refresh();
    unit_ = fresh_start_ ? 1 / memory_.theta() : 1;
    direction_.step = std::min(first.step, settings.step_max);
    direction_.truncate = false;
    f_base_ = results_.f;
    return search_again(direction_.step);
}

// VA15 and L-BFGS-B alike: the first trial point lies at x - t P g, t = 1 / ||P g||, with bounds t = 1 at most, and 1
// where every variable has two. Without bounds it is the step 1 along -g / theta, theta = ||g||: then d is not lost
// beside x, however f is scaled. Where the point would coincide with x for want of digits, or lie so far away that f
// there could not be interpolated, theta is such that it does not.
Solver::FirstStep Solver::first_step() const {
    constexpr double few_digits = 1 / 67108864.0, far = 67108864.0; // 2^26 either way
    const double norm = results_.pg_norm2, x = results_.x_norm2;
    const FirstStep classical{1, boxed_ ? 1 : bounded_ ? std::min(1 / norm, 1.0) : 1 / norm};
    if (settings.user_diagonal) return classical;
    const double length = !bounded_ ? 1 : boxed_ ? norm : std::min(norm, 1.0);
    const double wanted = std::max(few_digits * x, boxed_ || x == 0 ? length : std::min(length, far * x));
    const double theta = norm / wanted;
    const bool changed = settings.robust && wanted != length;
    return (changed || !bounded_) && std::isnormal(theta) && std::isnormal(1 / theta) ? FirstStep{theta, 1} : classical;
}

// The direction's coefficients from sums that stand (or are gathered here). False: breakdown.
bool Solver::direction_from(const PanelSums *sums) {
    GatherRequest request = panel_;
    const bool weighted = settings.user_diagonal;
    if (weighted) {
        request.weighted = request.masked = true;
        request.threshold = -1;
        if (!memory_.factor(true, &sweeps_->gather(request))) return false;
        request.threshold = 0;
        sums = &sweeps_->gather(request);
    } else {
        if (!sums) sums = &sweeps_->gather(request);
        if (bounded_ && !memory_.factor(false, nullptr)) return false; // the Cauchy point's alone
    }
    if (!cauchy_.find(memory_, *sweeps_, request, *sums, bounded_, settings.approximate_cauchy)) return false;
    const CauchyPoint &point = cauchy_.point();
    const bool all_free = !weighted && (!bounded_ || point.free_rows == static_cast<double>(n_));
    if (point.free_rows > 0 && !subspace_.minimise(memory_, point, all_free)) return false;

    results_.cauchy_segments += bounded_ ? point.segments : 0;
    results_.cauchy_crossings += point.crossed;
    results_.breakpoints_crossed += point.breakpoints_crossed;
    cauchy_free_ = bounded_ ? static_cast<int64_t>(point.free_rows) : n_;
    cauchy_breakpoints_ = point.breakpoints_crossed;
    results_.cauchy_t = point.t;
    results_.cauchy_t_first = point.t_first;
    request.threshold = point.threshold;
    direction_.panel = request;
    direction_.gradient_coefficient = -1 / memory_.theta();
    direction_.coefficients = subspace_.coefficients();
    direction_.spare_slot = memory_.spare_slot();
    direction_.cauchy_t = point.t;
    direction_.alpha = 1;
    return true;
}

// Drop the memory after a breakdown. What it learned of the scale of f and x stays, unless version 3.0 is followed.
void Solver::refresh() {
    memory_.drop_pairs(settings.robust);
    pair_unfinished_ = false;
    results_.refreshes++;
    panel_ = memory_.stored_panel();
    panel_.masked = bounded_;
    gathered_ = nullptr;
}

// Enqueue sweep 2 and ask for the trial point's f and g. On a GPU it is known when they are there whether d is a
// direction of descent: its sums come with the next sweep's, and save a wait of their own.
int Solver::search_again(double step) {
    direction_.step = step;
    sweeps_->direction(direction_);
    gathered_ = nullptr;
    pair_unfinished_ = false;
    search_evaluations_ = cuts_in_a_row_ = 0;
    direction_sums_.reset();
    search_started_ = direction_judged_ = returning_ = exhausted_ = false;
    phase_ = Phase::searching;
    if (sweeps_->direction_sums_at_hand())
        if (const Ending task = judge_direction()) return *task;
    return ask_evaluation();
}

} // namespace cudaopt
