// One variable against its bounds. These few rules are all that the algorithm knows of a variable besides its inner
// products; host and device share them. Arithmetic is double, whatever the storage; Number is double, or a vector of
// doubles whose comparisons give a mask for select().
#pragma once

#include <limits>

#include "exec/annotations.hpp"

namespace cudaopt {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Mask, class Number> CUDA_OPT_HD_INLINE Number select(Mask mask, Number yes, Number no) {
    return mask ? yes : no;
}

// x held to [l, u]; NaN stays NaN, so that nobody mistakes it for a point of the box.
template <class Number> CUDA_OPT_HD_INLINE Number clamp_to_box(Number x, Number l, Number u) {
    return select(x < l, l, select(x > u, u, x));
}

// A point to evaluate at: x held to [l, u] and to what can be stored, [-largest, largest]; `from`, a point of the box,
// where x is no number because its terms overflowed.
template <class Number>
CUDA_OPT_HD_INLINE Number place_in_box(Number x, Number from, Number l, Number u, Number largest) {
    const Number clamped = clamp_to_box(x, l, u), held = clamp_to_box(clamped, -largest, largest);
    return select(held == held, held, from);
}

// At a bound with a gradient that does not point into the box, or with no room at all: such a variable does not leave
// its place along the projected path.
template <class Number> CUDA_OPT_HD_INLINE auto is_active(Number x, Number g, Number l, Number u) {
    return ((x <= l) & (g >= 0)) | ((x >= u) & (g <= 0)) | (l == u);
}

// The bound that -g points to.
template <class Number> CUDA_OPT_HD_INLINE Number bound_ahead(Number g, Number l, Number u) {
    return select(g < 0, u, l);
}

// (P g)_i = x - P(x - g), the projected gradient.
template <class Number> CUDA_OPT_HD_INLINE Number projected_gradient(Number x, Number g, Number l, Number u) {
    const Number to_bound = x - bound_ahead(g, l, u);
    return select(g < 0, select(to_bound > g, to_bound, g), select(to_bound < g, to_bound, g));
}

// The t at which x - t g meets its bound (Byrd et al. 1995, eq. 4.1): 0 for a held variable, +Inf for one that never
// does.
template <class Number> CUDA_OPT_HD_INLINE Number breakpoint(Number x, Number g, Number l, Number u) {
    const Number zero = x - x, never = zero + infinity;
    return select(is_active(x, g, l, u), zero, select(g == 0, never, (x - bound_ahead(g, l, u)) / g));
}

} // namespace cudaopt
