// How a solve ends: by a stopping test, at a limit, at the caller's wish; and what x, f and g are then.
#pragma once

#include "cuda_opt.h"
#include "lbfgsb/state.hpp"

namespace cudaopt {

// The test that holds at the iterate, or 0.
template <class Kind> CUDA_OPT_HD_INLINE int StateOf<Kind>::stopping_test() const {
    const Results &r = results;
    if (r.f <= settings().f_target) return CUDA_OPT_F_TARGET;
    if (!exhausted_ && r.pg_norm2 < settings().eps * greatest(1.0, r.x_norm2)) return CUDA_OPT_EPS;
    // Also when pgtol is off and the projected gradient is 0: nothing is left to do.
    if (r.pg_norm_max <= settings().pgtol) return CUDA_OPT_PGTOL;
    if (settings().factr > 0 && r.iterations > 0 && fall_is_small()) return CUDA_OPT_FACTR;
    return 0;
}

// Whether FACTR's inequality holds. With ROBUST it does not hold if f has risen, because g may not be the gradient of
// f, or after a first step along -g, because the length of that step is a guess. Version 3.0 accepts both as
// convergence.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::fall_is_small() const {
    const double fall = f_previous_ - results.f;
    if (settings().robust && (fall < 0 || steps_since_gradient_ == 1)) return false;
    return fall <= least_decrease();
}

// Whether the norm of the relative gradient, with the components x_i (P g)_i / max(|f|, 1), is small (Dennis and
// Schnabel 1983, section 7.2). If it is, small relative changes of the variables change f by much less, relative to f.
// The norm does not depend on the units of x. Near a minimum, f - f* is of the order of the square of the gradient;
// therefore a larger FACTR allows a larger norm.
template <class Kind> CUDA_OPT_HD_INLINE bool StateOf<Kind>::is_relatively_flat(double relative_gradient) const {
    const double tolerance = greatest(settings().relative_gtol, 10 * std::sqrt(settings().factr * machine_epsilon));
    return relative_gradient <= tolerance * greatest(std::fabs(results.f), 1.0);
}

// An estimate of the error of f that rounding of f and of x causes. It is finite, so that it is less than the infinity
// that stands for an unknown expected decrease.
template <class Kind> CUDA_OPT_HD_CALL inline double StateOf<Kind>::rounding_errors() const {
    constexpr double unit = machine_epsilon / 2, single_unit = 1 / 16777216.0; // 2^-53, 2^-24
    const double of_f = (f_is_single_ ? single_unit : unit) * std::fabs(f_base_);
    const double of_x = (single_ ? single_unit : unit) * results.pg_norm2 * results.x_norm2;
    return least(settings().rounding * (of_f + of_x), largest_finite);
}

// The largest expected decrease of f for which no further line search is made.
template <class Kind> CUDA_OPT_HD_CALL inline double StateOf<Kind>::negligible_fall() const {
    const double by_factr = settings().factr * machine_epsilon * greatest(std::fabs(f_base_), 1.0);
    return least(greatest(by_factr, rounding_errors()), largest_finite);
}

template <class Kind> CUDA_OPT_HD_INLINE double StateOf<Kind>::least_decrease() const {
    return settings().factr * machine_epsilon * greatest(greatest(std::fabs(f_previous_), std::fabs(results.f)), 1.0);
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::converge(int test) {
    results.stop_test = test;
    told_early_.numbers[0] = f_previous_ - results.f;
    told_early_.numbers[1] = least_decrease();
    if (test == CUDA_OPT_EPS || test == CUDA_OPT_PGTOL) best_is_aside_ = false; // the test holds here, and not there
    return end(CUDA_OPT_CONVERGED, test == CUDA_OPT_F_TARGET ? EventKind::f_target_reached
                                   : test == CUDA_OPT_EPS    ? EventKind::eps_reached
                                   : test == CUDA_OPT_PGTOL  ? EventKind::pgtol_reached
                                   : test == CUDA_OPT_FACTR  ? EventKind::factr_reached
                                                             : EventKind::rounding_reached);
}

// The code of the limit that is reached, or 0.
template <class Kind> CUDA_OPT_HD_INLINE int StateOf<Kind>::limit_reached(bool at_iterate) const {
    const Settings &s = settings();
    if (at_iterate && s.max_iterations > 0 && results.iterations >= s.max_iterations) return CUDA_OPT_ITERATION_LIMIT;
    if (s.max_evaluations > 0 && results.evaluations >= s.max_evaluations) return CUDA_OPT_EVALUATION_LIMIT;
    if (s.max_seconds > 0 && seconds_ >= s.max_seconds) return CUDA_OPT_TIME_LIMIT;
    return 0;
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::end_at_limit(int code) {
    if (reached_ != 0) return converge(reached_);
    told_early_.numbers[0] = seconds_;
    return end(code, code == CUDA_OPT_ITERATION_LIMIT    ? EventKind::iteration_limit_reached
                     : code == CUDA_OPT_EVALUATION_LIMIT ? EventKind::evaluation_limit_reached
                                                         : EventKind::time_limit_reached);
}

template <class Kind> CUDA_OPT_HD_CALL inline const Request &StateOf<Kind>::stop() {
    if (stage_ == Stage::first_point || stage_ == Stage::trial_point) results.evaluations--; // asked for in vain
    end(CUDA_OPT_STOPPED, EventKind::stopped);
    return request_;
}

// Nothing is waited for here, either: that the best iterate be put back is the machine's last command.
template <class Kind>
CUDA_OPT_HD_CALL inline const Request &StateOf<Kind>::give_up(bool stop_requested, double seconds) {
    told_early_.numbers[0] = seconds;
    if (stop_requested) end(CUDA_OPT_STOPPED, EventKind::stopped_while_waiting);
    else end(CUDA_OPT_TIME_LIMIT, EventKind::time_limit_while_waiting);
    return request_;
}

template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::end(int code, EventKind why) {
    end_code_ = code;
    end_why_ = why;
    return settle();
}

// The solve ends: x, f, g become the best iterate, one command after the other. The newest pair's y is formed on the
// way by the next direction; where there will be none, it is formed here: g may not be there later, when the pairs
// serve another solve.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::settle() {
    if (pair_unfinished_) {
        ask(Stage::ending, Verb::finish_pair);
        request_.slot = finish_pair();
        return Turn::asks;
    }
    if (best_is_aside_) {
        best_is_aside_ = false;
        at_iterate_ = true;
        static_cast<IterateFacts &>(results) = best_;
        ask(Stage::ending, Verb::bring_back);
        request_.number = f_best_;
        return Turn::asks;
    }
    if (!at_iterate_) return restore(Stage::ending);
    tell_end();
    if (logs()) return ask(Stage::end_logged, Verb::log_end);
    return ask_caller(Stage::ended, end_code_);
}

// x, f, g are the base point again.
template <class Kind> CUDA_OPT_HD_CALL inline Turn StateOf<Kind>::restore(Stage next) {
    at_iterate_ = true;
    ask(next, Verb::restore);
    request_.slot = direction_.spare_slot;
    request_.number = f_base_;
    return Turn::asks;
}

// The numbers of the ending's sentence, once x, f and g are what they will be.
template <class Kind> CUDA_OPT_HD_CALL inline void StateOf<Kind>::tell_end() {
    const Results &r = results;
    const Event early = told_early_;
    told_early_ = {};
    event = {end_why_, {}, {}};
    const auto integers = [&](int64_t a, int64_t b) { event.integers[0] = a, event.integers[1] = b; };
    const auto numbers = [&](double a, double b, double c = 0, double d = 0) {
        event.numbers[0] = a, event.numbers[1] = b, event.numbers[2] = c, event.numbers[3] = d;
    };
    const double eps_bound = settings().eps * greatest(1.0, r.x_norm2);
    switch (end_why_) {
    case EventKind::f_target_reached: integers(r.iterations, 0); return numbers(r.f, settings().f_target);
    case EventKind::eps_reached: integers(r.iterations, 0); return numbers(r.pg_norm2, eps_bound);
    case EventKind::pgtol_reached: integers(r.iterations, 0); return numbers(r.pg_norm_max, settings().pgtol);
    case EventKind::factr_reached: return numbers(early.numbers[0], early.numbers[1]);
    case EventKind::rounding_reached: return numbers(r.f, expected_fall_, negligible_fall(), r.pg_norm2);
    case EventKind::below_any_bound: integers(r.evaluations, 0); return numbers(r.f, settings().f_unbounded);
    case EventKind::falls_without_end: integers(r.evaluations, 0); return numbers(r.f, slope_base_, step_ * unit_);
    case EventKind::iteration_limit_reached: integers(settings().max_iterations, 0); return numbers(r.f, r.pg_norm2);
    case EventKind::evaluation_limit_reached: integers(settings().max_evaluations, 0); return numbers(r.f, r.pg_norm2);
    case EventKind::time_limit_reached: return numbers(settings().max_seconds, early.numbers[0], r.f, r.pg_norm2);
    case EventKind::not_finite_at_start: integers(n_, 0); return numbers(r.f, early.numbers[1]);
    case EventKind::not_finite_after_cuts: integers(cuts_in_a_row_, 0); return numbers(line_.step(), r.f);
    case EventKind::nothing_has_fallen: integers(in_vain_, 0); return numbers(r.f, r.pg_norm2);
    case EventKind::diagonal_is_bad: return integers(early.integers[0], r.iterations);
    case EventKind::no_descent: return numbers(slope_base_, r.f, r.pg_norm2);
    case EventKind::nothing_lower:
    case EventKind::lower_not_accepted:
        integers(r.line_search_info, search_evaluations_);
        return numbers(slope_base_, r.f, line_.lowest_phi());
    case EventKind::lower_not_found_again: return numbers(line_.lowest_phi(), f_base_);
    case EventKind::stopped: integers(r.iterations, r.evaluations); return numbers(r.f, 0);
    case EventKind::stopped_while_waiting:
    case EventKind::time_limit_while_waiting:
        integers(r.iterations, r.evaluations);
        return numbers(settings().max_seconds, early.numbers[0]);
    default: return;
    }
}

} // namespace cudaopt
