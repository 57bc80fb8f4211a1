// How a solve ends: by a stopping test, at a limit, at the caller's wish; and what x, f and g are then.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "cuda_opt.h"
#include "solver/solver.hpp"

namespace cudaopt {

namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();

} // namespace

// The test that holds at the iterate, or 0.
int Solver::stopping_test() const {
    const Results &r = results_;
    if (r.f <= settings.f_target) return CUDA_OPT_F_TARGET;
    if (!exhausted_ && r.pg_norm2 < settings.eps * std::max(1.0, r.x_norm2)) return CUDA_OPT_EPS;
    // Also when pgtol is off and the projected gradient is 0: nothing is left to do.
    if (r.pg_norm_max <= settings.pgtol) return CUDA_OPT_PGTOL;
    if (settings.factr > 0 && r.iterations > 0 && f_previous_ - r.f <= least_decrease()) return CUDA_OPT_FACTR;
    return 0;
}

double Solver::least_decrease() const {
    return settings.factr * machine_epsilon * std::max({std::fabs(f_previous_), std::fabs(results_.f), 1.0});
}

int Solver::converge(int test) {
    const Results &r = results_;
    results_.stop_test = test;
    if (test == CUDA_OPT_EPS || test == CUDA_OPT_PGTOL) best_is_aside_ = false; // the test holds here, and not there
    const double fallen_by = f_previous_ - r.f, least = least_decrease();
    settle(true);
    switch (test) {
    case CUDA_OPT_F_TARGET:
        message_.set("converged: f = %.16g is at or below its target %g", r.f, settings.f_target);
        break;
    case CUDA_OPT_EPS:
        message_.set("converged: the projected gradient's norm %g is below eps max(1, ||x||) = %g", r.pg_norm2,
                     settings.eps * std::max(1.0, r.x_norm2));
        break;
    case CUDA_OPT_PGTOL:
        message_.set("converged: the projected gradient's largest component %g is at or below pgtol = %g",
                     r.pg_norm_max, settings.pgtol);
        break;
    default:
        message_.set("converged: f fell by %g, which is at or below factr 2.22e-16 max(|f|, 1) = %g", fallen_by, least);
    }
    return end(CUDA_OPT_CONVERGED);
}

// The end where a limit is reached. Between iterates the best one is put back.
Solver::Ending Solver::end_at_limit(bool at_iterate) {
    const Settings &s = settings;
    // Asked only where it matters: a GPU waits meanwhile.
    const double seconds = s.max_seconds > 0 ? std::chrono::duration<double>(Clock::now() - first_call_).count() : 0;
    int code = 0;
    if (at_iterate && s.max_iterations > 0 && results_.iterations >= s.max_iterations) code = CUDA_OPT_ITERATION_LIMIT;
    else if (s.max_evaluations > 0 && results_.evaluations >= s.max_evaluations) code = CUDA_OPT_EVALUATION_LIMIT;
    else if (s.max_seconds > 0 && seconds >= s.max_seconds) code = CUDA_OPT_TIME_LIMIT;
    if (code == 0) return {};

    if (reached_ != 0) {
        if (!at_iterate) sweeps_->restore(direction_.spare_slot, f_base_);
        return converge(reached_);
    }
    settle(at_iterate);
    const double f = results_.f, norm = results_.pg_norm2;
    switch (code) {
    case CUDA_OPT_ITERATION_LIMIT:
        message_.set("the limit of %lld iterations is reached, f = %.16g, ||P g|| = %g",
                     static_cast<long long>(s.max_iterations), f, norm);
        break;
    case CUDA_OPT_EVALUATION_LIMIT:
        message_.set("the limit of %lld evaluations is reached, f = %.16g, ||P g|| = %g",
                     static_cast<long long>(s.max_evaluations), f, norm);
        break;
    default:
        message_.set("the limit of %g seconds is reached after %g, f = %.16g, ||P g|| = %g", s.max_seconds, seconds, f,
                     norm);
    }
    return end(code);
}

// The caller wishes no further task.
int Solver::stop() {
    if (phase_ == Phase::first_point || phase_ == Phase::searching) results_.evaluations--; // asked for in vain
    settle(phase_ != Phase::searching);
    message_.set("stopped by the caller after %lld iterations and %lld evaluations, f = %.16g",
                 static_cast<long long>(results_.iterations), static_cast<long long>(results_.evaluations), results_.f);
    return end(CUDA_OPT_STOPPED);
}

// The machine was waited for until the caller asked for a stop, or the time was used up. Nothing is waited for here,
// either: where x is a trial point, that the last iterate be put back is the machine's last command.
int Solver::give_up(int64_t iterations_before) {
    settle(phase_ != Phase::searching || results_.iterations > iterations_before);
    char why[80] = "stopped by the caller";
    if (!stop_requested)
        std::snprintf(why, sizeof why, "the limit of %g seconds is reached after %g", settings.max_seconds,
                      patience_.seconds_passed());
    message_.set("%s, while work on the stream was waited for, after %lld iterations and %lld evaluations%s", why,
                 static_cast<long long>(results_.iterations), static_cast<long long>(results_.evaluations),
                 results_.evaluations > 0 ? "; x, f and g are the best iterate's when the stream has come to its end"
                                          : "");
    return end(stop_requested ? CUDA_OPT_STOPPED : CUDA_OPT_TIME_LIMIT);
}

// The newest pair's y is formed on the way by the next direction. Where there will be none, it is formed here: g may
// not be there later, when the pairs serve another solve.
void Solver::finish_pair() {
    if (!pair_unfinished_) return;
    sweeps_->finish_pair(memory_.newest_slot());
    pair_unfinished_ = false;
    gathered_ = nullptr;
}

// The solve is about to end: x, f, g become the best iterate.
void Solver::settle(bool at_iterate) {
    finish_pair();
    if (best_is_aside_) {
        sweeps_->bring_back(f_best_);
        static_cast<IterateFacts &>(results_) = best_;
        best_is_aside_ = false;
    } else if (!at_iterate) {
        sweeps_->restore(direction_.spare_slot, f_base_);
    }
}

int Solver::end(int code) {
    phase_ = Phase::ended;
    if (logs()) log_end();
    return code;
}

} // namespace cudaopt
