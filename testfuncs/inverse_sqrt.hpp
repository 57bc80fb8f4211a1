// Computes 1 / sqrt(a) by the fastest instructions of the host or of the device.
#pragma once

#include "exec/annotations.hpp"

#include <cmath>

namespace cudaopt::testfuncs {

CUDA_OPT_HD inline double inverse_sqrt(double a) {
#ifdef __CUDA_ARCH__
    return rsqrt(a);
#else
    return 1 / std::sqrt(a);
#endif
}

CUDA_OPT_HD inline float inverse_sqrt(float a) {
#ifdef __CUDA_ARCH__
    return rsqrtf(a);
#else
    return 1 / std::sqrt(a);
#endif
}

} // namespace cudaopt::testfuncs
