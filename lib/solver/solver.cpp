#include "solver/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "cuda_opt.h"

namespace cudaopt {

namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();

} // namespace

Solver::Solver(int64_t n, int m, std::unique_ptr<Sweeps> sweeps)
    : n_(n), sweeps_(std::move(sweeps)), memory_(m), cauchy_(m), subspace_(m) {}

void Solver::reset() {
    results_ = Results{};
    phase_ = Phase::start;
    host_seconds_ = 0;
    stop_requested = false;
    memory_.clear();
    gathered_ = nullptr;
    search_evaluations_ = cuts_in_a_row_ = 0;
    f_refreshed_ = pg_refreshed_ = infinity;
}

int Solver::resume() {
    const Clock::time_point now = Clock::now();
    if (phase_ == Phase::start) first_call_ = now;
    int task;
    try {
        sweeps_->begin_call();
        task = dispatch();
        sweeps_->end_call();
    } catch (const ExecutorFailure &failure) {
        message_.set("%s", failure.what());
        phase_ = Phase::ended;
        task = failure.code;
    } catch (const std::bad_alloc &) {
        message_.set("out of memory on the host, besides the vectors");
        phase_ = Phase::ended;
        task = CUDA_OPT_OUT_OF_MEMORY;
    }
    host_seconds_ += std::chrono::duration<double>(Clock::now() - now).count();
    return task;
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

int Solver::begin() {
    sweeps_->allocate(memory_.capacity(), {static_cast<int>(settings.threads), stream});
    sweeps_->bind(arrays);
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
    if (const int code = end_at_limit(true)) return code; // a stop asked for before the first call
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
    f_previous_ = std::numeric_limits<double>::infinity();
    note_iterate(*gathered_);
    log_header();
    return judge_iterate();
}

void Solver::note_iterate(const PanelSums &sums) {
    results_.f = sums.f;
    results_.pg_norm2 = std::sqrt(sums.row_sums[projected_gradient_squared]);
    results_.pg_norm_max = sums.projected_gradient_max;
    results_.x_norm2 = std::sqrt(sums.row_sums[x_squared]);
    results_.at_lower = static_cast<int64_t>(sums.row_sums[at_lower]);
    results_.at_upper = static_cast<int64_t>(sums.row_sums[at_upper]);
    results_.theta = memory_.theta();
}

// x, f, g are an accepted iterate: stop here, or go on.
int Solver::judge_iterate() {
    const Results &r = results_;
    const Settings &s = settings;
    const double f_scale = std::max({std::fabs(f_previous_), std::fabs(r.f), 1.0});
    const auto converged = [&](int test) {
        results_.stop_test = test;
        return end(CUDA_OPT_CONVERGED);
    };
    if (r.f <= s.f_target) {
        message_.set("converged: f = %.16g is at or below its target %g", r.f, s.f_target);
        return converged(CUDA_OPT_F_TARGET);
    }
    if (r.pg_norm2 < s.eps * std::max(1.0, r.x_norm2)) {
        message_.set("converged: the projected gradient's norm %g is below eps max(1, ||x||) = %g", r.pg_norm2,
                     s.eps * std::max(1.0, r.x_norm2));
        return converged(CUDA_OPT_EPS);
    }
    if (r.pg_norm_max <= s.pgtol) { // also when pgtol is off and the projected gradient is 0: nothing is left to do
        message_.set("converged: the projected gradient's largest component %g is at or below pgtol = %g",
                     r.pg_norm_max, s.pgtol);
        return converged(CUDA_OPT_PGTOL);
    }
    if (s.factr > 0 && r.iterations > 0 && f_previous_ - r.f <= s.factr * machine_epsilon * f_scale) {
        message_.set("converged: f fell by %g, which is at or below factr 2.22e-16 max(|f|, 1) = %g", f_previous_ - r.f,
                     s.factr * machine_epsilon * f_scale);
        return converged(CUDA_OPT_FACTR);
    }
    if (const int code = end_at_limit(true)) return code;
    if (s.user_diagonal) {
        phase_ = Phase::diagonal;
        message_.set("supply the diagonal of the inverse Hessian's approximation at iterate %lld",
                     static_cast<long long>(r.iterations));
        return CUDA_OPT_SUPPLY_DIAGONAL;
    }
    return next_direction();
}

// 0, or the code of a limit that is reached. Between iterates the best one is put back.
int Solver::end_at_limit(bool at_iterate) {
    const Settings &s = settings;
    // Asked only where it matters: a GPU waits meanwhile.
    const double seconds = s.max_seconds > 0 ? std::chrono::duration<double>(Clock::now() - first_call_).count() : 0;
    int code = 0;
    if (stop_requested) {
        message_.set("stopped by the caller after %lld iterations and %lld evaluations, f = %.16g",
                     static_cast<long long>(results_.iterations), static_cast<long long>(results_.evaluations),
                     results_.f);
        code = CUDA_OPT_STOPPED;
    } else if (at_iterate && s.max_iterations > 0 && results_.iterations >= s.max_iterations) {
        message_.set("the limit of %lld iterations is reached, f = %.16g, ||P g|| = %g",
                     static_cast<long long>(s.max_iterations), results_.f, results_.pg_norm2);
        code = CUDA_OPT_ITERATION_LIMIT;
    } else if (s.max_evaluations > 0 && results_.evaluations >= s.max_evaluations) {
        message_.set("the limit of %lld evaluations is reached, f = %.16g, ||P g|| = %g",
                     static_cast<long long>(s.max_evaluations), results_.f, results_.pg_norm2);
        code = CUDA_OPT_EVALUATION_LIMIT;
    } else if (s.max_seconds > 0 && seconds >= s.max_seconds) {
        message_.set("the limit of %g seconds is reached after %g, f = %.16g, ||P g|| = %g", s.max_seconds, seconds,
                     results_.f, results_.pg_norm2);
        code = CUDA_OPT_TIME_LIMIT;
    }
    if (code == 0) return 0;
    if (!at_iterate) sweeps_->restore(direction_.spare_slot, f_base_);
    return end(code);
}

int Solver::next_direction() {
    if (settings.user_diagonal) {
        const int64_t bad = sweeps_->bad_diagonal();
        if (bad < n_) {
            message_.set("the diagonal's element at index %lld (counted from 0) is not positive and finite, at iterate "
                         "%lld",
                         static_cast<long long>(bad), static_cast<long long>(results_.iterations));
            return end(CUDA_OPT_BAD_DIAGONAL);
        }
    }
    // A breakdown of either factorisation drops the memory and goes on from the same point; without pairs there is
    // nothing left to break down.
    while (!direction_from(gathered_)) {
        memory_.clear();
        results_.refreshes++;
        panel_ = memory_.stored_panel();
        panel_.masked = bounded_;
        gathered_ = nullptr;
    }
    // VA15 and L-BFGS-B alike: the very first step has length at most 1; where every variable has two bounds, d itself.
    const bool first = results_.iterations == 0 && memory_.pairs() == 0;
    double step = first && !boxed_ ? 1 / results_.pg_norm2 : 1;
    if (first && bounded_) step = std::min(step, 1.0);
    direction_.step = std::min(std::max(step, settings.step_min), settings.step_max);
    direction_.truncate = false;
    f_base_ = results_.f;
    return search_again(direction_.step);
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
    const CauchyPoint &point = cauchy_.find(memory_, *sweeps_, request, *sums, bounded_, settings.approximate_cauchy);
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

// Enqueue sweep 2 and ask for the trial point's f and g. Whether d is a descent direction is known when they are there:
// its sums come with the next sweep's, and save a wait of their own.
int Solver::search_again(double step) {
    direction_.step = step;
    sweeps_->direction(direction_);
    gathered_ = nullptr;
    search_evaluations_ = cuts_in_a_row_ = 0;
    search_started_ = false;
    phase_ = Phase::searching;
    return ask_evaluation();
}

int Solver::end(int code) {
    phase_ = Phase::ended;
    if (logs()) log_end();
    return code;
}

} // namespace cudaopt
