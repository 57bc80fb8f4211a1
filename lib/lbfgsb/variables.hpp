// The trial point of one variable, for host and device, in double precision whatever the storage precision is.
#pragma once

#include "lbfgsb/box.hpp"
#include "lbfgsb/requests.hpp"

namespace cudaopt {

struct BoxedVariable {
    double x, g, l, u;
};

// A variable on the projected path: its breakpoint t, its component g of the gradient, and its displacement z to the
// bound. g and z are in coordinates scaled by the diagonal h (panel::Scaling).
struct PathVariable {
    double t, g, z;
};

// Returns the data of one variable on the projected path. h is its element of the diagonal, or 1 without a diagonal.
CUDA_OPT_HD_INLINE PathVariable on_path(const BoxedVariable &at, double h, const panel::Scaling &by) {
    return {breakpoint(at.x, h * at.g, at.l, at.u), by.root * at.g,
            by.inverse_root * (bound_ahead(at.g, at.l, at.u) - at.x)};
}

struct Trial {
    double x;       // the new value, within the bounds
    bool projected; // whether the projection changed the subspace minimiser
};

// Returns one variable of the trial point of step 1. `move` is the displacement to the unconstrained subspace
// minimiser, a g + w'q, where w is the variable's row of the panel (DirectionRequest). h is the variable's element of
// the diagonal, or 1 without a diagonal. `largest` is the largest number that the storage type can represent.
CUDA_OPT_HD inline Trial trial_of_variable(const BoxedVariable &at, const DirectionRequest &request, double h,
                                           double move, double largest) {
    // Only the last line depends on whether the variable is active, so that GPU threads do not diverge.
    const bool stays = is_active(at.x, at.g, at.l, at.u);
    // For most variables a comparison shows that the breakpoint is beyond the threshold, without a slow division.
    if (request.panel.threshold > 0 && !stays &&
        !breakpoint_exceeds(request.panel.threshold, at.x, h * at.g, at.l, at.u)) {
        const double t = breakpoint(at.x, h * at.g, at.l, at.u);
        // h g or the quotient may underflow. Then t = 0 although x is not at the bound ahead, which may be infinite.
        // The variable stays at x. This agrees with the inner products, where it is not free and has z = 0.
        if (t == 0) return {at.x, false};
        if (t <= request.panel.threshold) return {at.g < 0 ? at.u : at.l, false};
    }
    if (request.truncate) {
        const double to_cauchy = -request.cauchy_t * h * at.g;
        move = to_cauchy + request.alpha * (move - to_cauchy);
    }
    const double x = place_in_box(at.x + move, at.x, at.l, at.u, largest);
    return {stays ? at.x : x, !stays && x != at.x + move};
}

// Returns the largest step along d for which x + step d stays in [l, u], for the line search and, if it is less than 1,
// for the truncation of the displacement to the subspace minimiser (Byrd et al. 1995, eq. 5.8).
CUDA_OPT_HD inline double largest_step_of_variable(double x, double d, double l, double u) {
    if (d < 0) return (l - x) / d;
    if (d > 0) return (u - x) / d;
    return infinity;
}

// Returns the largest fraction of the step from the Cauchy point to the minimiser that keeps a variable in the box.
CUDA_OPT_HD inline double truncation_of_variable(const BoxedVariable &at, const DirectionRequest &request, double h,
                                                 double move) {
    if (is_active(at.x, at.g, at.l, at.u)) return infinity;
    if (breakpoint(at.x, h * at.g, at.l, at.u) <= request.panel.threshold) return infinity;
    const double to_cauchy = -request.cauchy_t * h * at.g;
    const double x_cauchy = clamp_to_box(at.x + to_cauchy, at.l, at.u);
    return largest_step_of_variable(x_cauchy, move - to_cauchy, at.l, at.u);
}

} // namespace cudaopt
