#include <cmath>

#include "solver/solver.hpp"

namespace cudaopt {

namespace {

void describe_convergence(const Iteration &it, Message &message) {
    const Results &r = it.results;
    const double bound = it.numbers[2];
    const char *const where = r.iterations == 0 ? "converged at the start" : "converged";
    switch (it.end_test) {
    case Test::f_target: return message.set("%s: f = %.16g is at or below its target %g", where, r.f, bound);
    case Test::eps:
        return message.set("%s: the projected gradient's norm %g is below eps * max(1, ||x||) = %g", where, r.pg_norm2,
                           bound);
    case Test::pgtol:
        return message.set("%s: the projected gradient's largest component %g is at or below pgtol = %g", where,
                           r.pg_norm_max, bound);
    case Test::factr:
        return message.set("converged: f fell by %g, which is at or below factr * 2.22e-16 * max(|f|, 1) = %g",
                           it.numbers[0], it.numbers[1]);
    case Test::rounding:
        return message.set(
            "converged: no lower f than %.16g was found; the model predicts that f falls by %g, which is "
            "at or below %g, the larger of its rounding errors and the bound of factr; ||P g|| = %g",
            r.f, it.expected_decrease, bound, r.pg_norm2);
    case Test::noise:
        return message.set(
            "converged: in %lld evaluations neither f fell by more than twice its noise level %g nor the "
            "projected gradient's largest component by a factor of 0.7; f = %.16g, ||P g||_inf = %g",
            shown(it.in_vain), bound, r.f, r.pg_norm_max);
    case Test::none: return;
    }
}

} // namespace

void describe(const Iteration &it, Message &message) {
    if (it.hidden_gradient > 0 && it.end_code != CUDA_OPT_CONVERGED && it.event == it.end_why) {
        Iteration rest = it;
        rest.hidden_gradient = 0;
        Message sentence;
        describe(rest, sentence);
        return message.set(
            "%s; pgtol did not end the solve, because the box of a variable is no wider than pgtol: scale "
            "the variables (x_scale)",
            sentence.text());
    }
    const Results &r = it.results;
    const double f = r.f, pg = r.pg_norm2, first = it.numbers[0], second = it.numbers[1], bound = it.numbers[2];
    const auto iterations = shown(r.iterations), evaluations = shown(r.evaluations);
    const auto refuse = [&](const char *what) {
        message.set("%s at index %lld (counted from 0) of %lld: l = %g, x = %g, u = %g", what,
                    shown(it.invalid_index()), shown(it.n), it.numbers[1], it.numbers[2], it.numbers[3]);
    };
    switch (it.event) {
    case Event::nothing: return;
    case Event::evaluation_wanted: return message.set("evaluate f and g at x, evaluation %lld", evaluations);
    case Event::diagonal_wanted:
        return message.set("supply the diagonal of the approximate inverse Hessian at iterate %lld", iterations);
    case Event::operator_wanted:
        return message.set("apply the operator H0 to the vector in the array of cuda_opt_set_operator, at iterate %lld",
                           iterations);
    case Event::iterate_reached: return message.set("iterate %lld: f = %.16g, ||P g|| = %g", iterations, f, pg);
    case Event::bound_is_nan: return refuse("a bound is NaN");
    case Event::bounds_leave_no_x:
        return refuse("the bounds leave no finite x: the lower bound is greater than the upper bound, or both are the "
                      "same infinity,");
    case Event::start_is_not_finite: return refuse("the start x is NaN or infinite");
    case Event::converged: return describe_convergence(it, message);
    case Event::iteration_limit_reached:
        return message.set("the limit of %lld iterations is reached, f = %.16g, ||P g|| = %g",
                           shown(static_cast<int64_t>(bound)), f, pg);
    case Event::evaluation_limit_reached:
        return message.set("the limit of %lld evaluations is reached, f = %.16g, ||P g|| = %g",
                           shown(static_cast<int64_t>(bound)), f, pg);
    case Event::time_limit_reached:
        return message.set("the limit of %g seconds is reached after %g, f = %.16g, ||P g|| = %g", bound, first, f, pg);
    case Event::not_finite_at_start:
        return message.set("f and g cannot be evaluated at the start: f = %g, and %.0f of %lld components of g are NaN "
                           "or infinite",
                           std::isnan(f) ? std::fabs(f) : f, first, shown(it.n)); // std::fabs() avoids the text "-nan"
    case Event::not_finite_after_cuts:
        return message.set("f, g or the slope g'd is still NaN or infinite after %lld reductions of the step in a row, "
                           "the last one to %g; the best iterate has f = %.16g",
                           shown(it.cuts_in_a_row), it.line.step(), f);
    case Event::nothing_has_fallen:
        if (it.end_test == Test::noise)
            return message.set("since the start, in %lld evaluations, neither f = %.16g fell by more than twice its "
                               "noise level %g nor the projected gradient's largest component by a factor of 0.7",
                               evaluations, f, bound);
        return message.set(
            "neither f = %.16g nor ||P g|| = %g has fallen for %lld iterations: f may be at its rounding "
            "level",
            f, pg, shown(it.in_vain));
    case Event::restart_gained_little:
        return message.set("the last restart along -g lowered f by only %g in %lld evaluations; f = %.16g may not be a "
                           "minimum, ||P g|| = %g; g may not be the gradient of f, or the variables may differ in size "
                           "by orders of magnitude: then scale them (cuda_opt_set_scales, x_scale)",
                           it.f_restarted - f, shown(it.evaluations_since_restart()), f, pg);
    case Event::noise_hides_descent:
        return message.set(
            "in %lld evaluations neither f = %.16g nor the projected gradient fell by more than noise, but relative "
            "changes of the variables by 1 %% change f by %g, which exceeds its noise level %g: g is not accurate "
            "enough, or the variables have different scales (x_scale)",
            shown(it.in_vain), f, noise::relative_change * it.relative_gradient, bound);
    case Event::diagonal_is_bad:
        return message.set("the diagonal's element at index %lld (counted from 0) is not positive and finite, at "
                           "iterate %lld",
                           shown(it.invalid_index()), iterations);
    case Event::operator_is_not_finite:
        return message.set("the operator has returned %lld elements that are NaN or infinite, at iterate %lld",
                           shown(it.invalid_index()), iterations);
    case Event::operator_is_not_positive:
        return message.set("the operator H0 is not positive definite: the inner product v'H0 v is %g for a vector v of "
                           "norm %g, at iterate %lld",
                           first, second, iterations);
    case Event::no_descent:
        return message.set("no descent direction is left: the slope along the last direction is %g, at f = %.16g with "
                           "||P g|| = %g; g may not be the gradient of f, or its products overflow or vanish",
                           it.slope_base, f, pg);
    case Event::nothing_lower:
        return message.set("the line search failed (info %lld): none of %lld evaluations along a direction of slope %g "
                           "was below f = %.16g; g may not be the gradient of f, or f may have errors larger than "
                           "rounding errors",
                           shown(r.line_search_info), shown(it.search_evaluations), it.slope_base, f);
    case Event::lower_not_accepted:
        return message.set("the line search failed (info %lld): none of %lld evaluations along a direction of slope %g "
                           "from f = %.16g satisfied both of its conditions; a point with f = %.16g was found, but not "
                           "accepted",
                           shown(r.line_search_info), shown(it.search_evaluations), it.slope_base, f,
                           it.line.lowest_phi());
    case Event::lower_not_found_again:
        return message.set("the line search returned to its lowest point, where f was %.16g, but this time f was not "
                           "below %.16g; f is not the same in each evaluation",
                           it.line.lowest_phi(), it.f_base);
    case Event::below_any_bound:
        return message.set("f seems to have no lower bound: after %lld evaluations f = %g is at or below %g",
                           evaluations, f, bound);
    case Event::falls_without_end:
        return message.set("f seems to have no lower bound: after %lld evaluations f = %g still falls along an almost "
                           "straight line, with slope %g and a step of %g",
                           evaluations, f, it.slope_base, it.step * it.unit);
    case Event::stopped:
        if (r.evaluations == 0) return message.set("stopped by the caller before the first evaluation");
        return message.set("stopped by the caller after %lld iterations and %lld evaluations, f = %.16g", iterations,
                           evaluations, f);
    case Event::stopped_while_waiting:
    case Event::time_limit_while_waiting: {
        Message why;
        if (it.event == Event::stopped_while_waiting) why.set("stopped by the caller");
        else why.set("the limit of %g seconds is reached after %g", bound, first);
        return message.set(
            "%s while the call waited for the stream, after %lld iterations and %lld evaluations%s", why.text(),
            iterations, evaluations,
            r.evaluations > 0 ? "; x, f and g are the best iterate when the work on the stream is complete" : "");
    }
    case Event::called_after_end:
        return message.set(
            "cuda_opt_solve was called after the solve had ended; call cuda_opt_reset to begin a new solve");
    }
}

} // namespace cudaopt
