// Computes sines of angles that are given in units of full circles. On the host the nearest integer is subtracted from
// the argument first. Integers therefore give exact zeros, as with CUDA's sinpi, and no argument of sin is large.
#pragma once

#include "testfuncs/search/form.hpp"

#include <cmath>

namespace cudaopt::testfuncs::search {

// Returns sin(2 pi x).
CUDA_OPT_HD inline double sin_turns(double x) {
#ifdef __CUDA_ARCH__
    return sinpi(2 * x);
#else
    return std::sin(2 * pi * (x - std::nearbyint(x)));
#endif
}

// Returns sin^2(pi x), which equals (1 - cos(2 pi x)) / 2 but does not suffer from cancellation.
CUDA_OPT_HD inline double sin2_half_turns(double x) {
#ifdef __CUDA_ARCH__
    return square(sinpi(x));
#else
    return square(std::sin(pi * (x - std::nearbyint(x))));
#endif
}

CUDA_OPT_HD inline float sin2_half_turns(float x) {
#ifdef __CUDA_ARCH__
    return square(sinpif(x));
#else
    return square(std::sin(float(pi) * (x - std::nearbyint(x))));
#endif
}

} // namespace cudaopt::testfuncs::search
