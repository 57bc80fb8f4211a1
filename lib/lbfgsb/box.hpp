// Functions of one variable and its bounds, shared by host and device. Apart from inner products, the algorithm uses
// individual variables only through these functions. Arithmetic is in double precision, whatever the storage precision
// is. Number is double, or a vector of doubles whose comparisons return a mask for select().
#pragma once

#include <limits>

#include "exec/annotations.hpp"

namespace cudaopt {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Mask, class Number> CUDA_OPT_HD_INLINE Number select(Mask mask, Number yes, Number no) {
    return mask ? yes : no;
}

// Returns the projection of x onto [l, u]. NaN remains NaN, so that it is not mistaken for a point of the box.
template <class Number> CUDA_OPT_HD_INLINE Number clamp_to_box(Number x, Number l, Number u) {
    return select(x < l, l, select(x > u, u, x));
}

// Returns a point at which f can be evaluated. It is x projected onto [l, u] and onto the range of the storage type,
// [-largest, largest]. The caller computes x as the sum of `from`, which is a point of the box, and a displacement. If
// x is NaN, because a term of this sum overflowed, the result is `from`.
template <class Number>
CUDA_OPT_HD_INLINE Number place_in_box(Number x, Number from, Number l, Number u, Number largest) {
    const Number clamped = clamp_to_box(x, l, u), storable = clamp_to_box(clamped, -largest, largest);
    return select(storable == storable, storable, from);
}

// Returns whether the variable is active: it is at a bound and -g does not point into the box, or its bounds are equal.
// Such a variable is constant along the projected path.
template <class Number> CUDA_OPT_HD_INLINE auto is_active(Number x, Number g, Number l, Number u) {
    return ((x <= l) & (g >= 0)) | ((x >= u) & (g <= 0)) | (l == u);
}

// Returns the bound towards which -g points. If g = 0, returns the lower bound.
template <class Number> CUDA_OPT_HD_INLINE Number bound_ahead(Number g, Number l, Number u) {
    return select(g < 0, u, l);
}

// Returns one component of the projected gradient, (P g)_i = x_i - P(x - g)_i.
template <class Number> CUDA_OPT_HD_INLINE Number projected_gradient(Number x, Number g, Number l, Number u) {
    const Number to_bound = x - bound_ahead(g, l, u);
    return select(g < 0, select(to_bound > g, to_bound, g), select(to_bound < g, to_bound, g));
}

// The breakpoint of the variable: the t at which x - t g reaches its bound (Byrd et al. 1995, eq. 4.1). It is 0 for an
// active variable, and +Inf for a variable that never reaches a bound.
template <class Number> CUDA_OPT_HD_INLINE Number breakpoint(Number x, Number g, Number l, Number u) {
    const Number zero = x - x, never = zero + infinity;
    return select(is_active(x, g, l, u), zero, select(g == 0, never, (x - bound_ahead(g, l, u)) / g));
}

// Returns whether the breakpoint of a variable that is not active exceeds t > 0, by a comparison without a division. If
// the result is false, the breakpoint has to be computed. t is enlarged by more than the rounding errors of the product
// and of the quotient in breakpoint(), which may be subnormal, so that the two functions never contradict each other.
template <class Number> CUDA_OPT_HD_INLINE auto breakpoint_exceeds(double t, Number x, Number g, Number l, Number u) {
    const Number to_bound = x - bound_ahead(g, l, u);
    const Number slope = select(g < 0, -g, g), distance = select(to_bound < 0, -to_bound, to_bound);
    const double beyond = (1 + 1e-12) * t + 0x1p-1074;
    return (slope > 0) & (distance > beyond * slope);
}

} // namespace cudaopt
