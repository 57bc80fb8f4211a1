// Computes the sine and the cosine of an angle. The range reduction of the argument is shared by both.
#pragma once

#include "exec/annotations.hpp"

#include <math.h>

namespace cudaopt::testfuncs {

struct Angle {
    double sin, cos;
    CUDA_OPT_HD explicit Angle(double radians) { ::sincos(radians, &sin, &cos); }
};

} // namespace cudaopt::testfuncs
