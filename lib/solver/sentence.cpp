#include "solver/sentence.hpp"

#include <cmath>

namespace cudaopt {

void describe(const Event &event, Message &message) {
    if (event.box_is_narrow) {
        Event rest = event;
        rest.box_is_narrow = false;
        Message sentence;
        describe(rest, sentence);
        return message.set(
            "%s; pgtol did not end the solve, because the box of a variable is no wider than pgtol: scale "
            "the variables (x_scale)",
            sentence.text());
    }
    const auto i = static_cast<long long>(event.integers[0]), j = static_cast<long long>(event.integers[1]);
    const double a = event.numbers[0], b = event.numbers[1], c = event.numbers[2], d = event.numbers[3];
    // The variable i is the number of iterations.
    const char *const where = i == 0 ? "converged at the start" : "converged";
    const auto refuse = [&](const char *what) {
        message.set("%s at index %lld (counted from 0) of %lld: l = %g, x = %g, u = %g", what, i, j, a, b, c);
    };
    switch (event.kind) {
    case EventKind::nothing: return;
    case EventKind::evaluation_wanted: return message.set("evaluate f and g at x, evaluation %lld", i);
    case EventKind::diagonal_wanted:
        return message.set("supply the diagonal of the approximate inverse Hessian at iterate %lld", i);
    case EventKind::operator_wanted:
        return message.set("apply the operator H0 to the vector in the array of cuda_opt_set_operator, at iterate %lld",
                           i);
    case EventKind::iterate_reached: return message.set("iterate %lld: f = %.16g, ||P g|| = %g", i, a, b);
    case EventKind::bound_is_nan: return refuse("a bound is NaN");
    case EventKind::bounds_leave_no_x:
        return refuse("the bounds leave no finite x: the lower bound is greater than the upper bound, or both are the "
                      "same infinity,");
    case EventKind::start_is_not_finite: return refuse("the start x is NaN or infinite");
    case EventKind::f_target_reached: return message.set("%s: f = %.16g is at or below its target %g", where, a, b);
    case EventKind::eps_reached:
        return message.set("%s: the projected gradient's norm %g is below eps * max(1, ||x||) = %g", where, a, b);
    case EventKind::pgtol_reached:
        return message.set("%s: the projected gradient's largest component %g is at or below pgtol = %g", where, a, b);
    case EventKind::factr_reached:
        return message.set("converged: f fell by %g, which is at or below factr * 2.22e-16 * max(|f|, 1) = %g", a, b);
    case EventKind::rounding_reached:
        return message.set(
            "converged: no lower f than %.16g was found; the model predicts that f falls by %g, which is "
            "at or below %g, the larger of its rounding errors and the bound of factr; ||P g|| = %g",
            a, b, c, d);
    case EventKind::noise_reached:
        return message.set(
            "converged: in %lld evaluations neither f fell by more than twice its noise level %g nor the "
            "projected gradient's largest component by a factor of 0.7; f = %.16g, ||P g||_inf = %g",
            i, c, a, b);
    case EventKind::iteration_limit_reached:
        return message.set("the limit of %lld iterations is reached, f = %.16g, ||P g|| = %g", i, a, b);
    case EventKind::evaluation_limit_reached:
        return message.set("the limit of %lld evaluations is reached, f = %.16g, ||P g|| = %g", i, a, b);
    case EventKind::time_limit_reached:
        return message.set("the limit of %g seconds is reached after %g, f = %.16g, ||P g|| = %g", a, b, c, d);
    case EventKind::not_finite_at_start:
        return message.set("f and g cannot be evaluated at the start: f = %g, and %.0f of %lld components of g are NaN "
                           "or infinite",
                           std::isnan(a) ? std::fabs(a) : a, b, i); // std::fabs() avoids the text "-nan"
    case EventKind::not_finite_after_cuts:
        return message.set("f, g or the slope g'd is still NaN or infinite after %lld reductions of the step in a row, "
                           "the last one to %g; the best iterate has f = %.16g",
                           i, a, b);
    case EventKind::nothing_has_fallen:
        return message.set(
            "neither f = %.16g nor ||P g|| = %g has fallen for %lld iterations: f may be at its rounding "
            "level",
            a, b, i);
    case EventKind::diagonal_is_bad:
        return message.set("the diagonal's element at index %lld (counted from 0) is not positive and finite, at "
                           "iterate %lld",
                           i, j);
    case EventKind::operator_is_not_finite:
        return message.set("the operator has returned %lld elements that are NaN or infinite, at iterate %lld", i, j);
    case EventKind::operator_is_not_positive:
        return message.set("the operator H0 is not positive definite: the inner product v'H0 v is %g for a vector v of "
                           "norm %g, at iterate %lld",
                           a, b, i);
    case EventKind::no_descent:
        return message.set("no descent direction is left: the slope along the last direction is %g, at f = %.16g with "
                           "||P g|| = %g; g may not be the gradient of f, or its products overflow or vanish",
                           a, b, c);
    case EventKind::nothing_lower:
        return message.set("the line search failed (info %lld): none of %lld evaluations along a direction of slope %g "
                           "was below f = %.16g; g may not be the gradient of f, or f may have errors larger than "
                           "rounding errors",
                           i, j, a, b);
    case EventKind::lower_not_accepted:
        return message.set("the line search failed (info %lld): none of %lld evaluations along a direction of slope %g "
                           "from f = %.16g satisfied both of its conditions; a point with f = %.16g was found, but not "
                           "accepted",
                           i, j, a, b, c);
    case EventKind::lower_not_found_again:
        return message.set("the line search returned to its lowest point, where f was %.16g, but this time f was not "
                           "below %.16g; f is not the same in each evaluation",
                           a, b);
    case EventKind::below_any_bound:
        return message.set("f seems to have no lower bound: after %lld evaluations f = %g is at or below %g", i, a, b);
    case EventKind::falls_without_end:
        return message.set("f seems to have no lower bound: after %lld evaluations f = %g still falls along an almost "
                           "straight line, with slope %g and a step of %g",
                           i, a, b, c);
    case EventKind::stopped:
        if (j == 0) return message.set("stopped by the caller before the first evaluation");
        return message.set("stopped by the caller after %lld iterations and %lld evaluations, f = %.16g", i, j, a);
    case EventKind::stopped_while_waiting:
    case EventKind::time_limit_while_waiting: {
        Message why;
        if (event.kind == EventKind::stopped_while_waiting) why.set("stopped by the caller");
        else why.set("the limit of %g seconds is reached after %g", a, b);
        return message.set("%s while the call waited for the stream, after %lld iterations and %lld evaluations%s",
                           why.text(), i, j,
                           j > 0 ? "; x, f and g are the best iterate when the work on the stream is complete" : "");
    }
    case EventKind::called_after_end:
        return message.set(
            "cuda_opt_solve was called after the solve had ended; call cuda_opt_reset to begin a new solve");
    }
}

} // namespace cudaopt
