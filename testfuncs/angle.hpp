// Computes sine and cosine of one angle with a single reduction of its argument.
#pragma once

#include "exec/annotations.hpp"

#include <math.h>

namespace cudaopt::testfuncs {

struct Angle {
    double sin, cos;
    CUDA_OPT_HD explicit Angle(double radians) { ::sincos(radians, &sin, &cos); }
};

} // namespace cudaopt::testfuncs
