// One variable against its bounds. These few rules are all that the algorithm knows of a row besides its inner
// products; host and device share them. Arithmetic is double, whatever the storage.
#pragma once

#include <limits>

#include "exec/annotations.hpp"

namespace cudaopt {

constexpr double infinity = std::numeric_limits<double>::infinity();

// x held to [l, u]; NaN stays NaN, so that nobody mistakes it for a point of the box.
CUDA_OPT_HD inline double clamp_to_box(double x, double l, double u) { return x < l ? l : x > u ? u : x; }

// (P g)_i = x - P(x - g), the projected gradient.
CUDA_OPT_HD inline double projected_gradient(double x, double g, double l, double u) {
    if (g < 0) return x - u > g ? x - u : g;
    return x - l < g ? x - l : g;
}

// At a bound with a gradient that does not point into the box, or with no room at all: such a row does not leave its
// place along the projected path.
CUDA_OPT_HD inline bool held(double x, double g, double l, double u) {
    return (x <= l && g >= 0) || (x >= u && g <= 0) || l == u;
}

// The t at which x - t g meets its bound (Byrd et al. 1995, eq. 4.1): 0 for a held row, +Inf for one that never does.
CUDA_OPT_HD inline double breakpoint(double x, double g, double l, double u) {
    if (held(x, g, l, u)) return 0;
    if (g == 0) return infinity;
    return (x - (g < 0 ? u : l)) / g;
}

} // namespace cudaopt
