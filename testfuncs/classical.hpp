// The family of the manual's five functions, and how it is evaluated on CUDA.
#pragma once

#include "testfuncs/beale.hpp"
#include "testfuncs/device_scratch.hpp"
#include "testfuncs/powell.hpp"
#include "testfuncs/rosenbrock.hpp"
#include "testfuncs/trigonometric.hpp"
#include "testfuncs/wood.hpp"

#include <variant>

namespace cudaopt::testfuncs {

using Classical = std::variant<Rosenbrock, Beale, Powell, Wood, Trigonometric>;

// In classical.cu; in cuda_absent.cpp they throw.
void evaluate_cuda(const Classical &function, const double *x, double *f, double *g, DeviceScratch &scratch,
                   void *stream);
void evaluate_cuda(const Classical &function, const float *x, double *f, float *g, DeviceScratch &scratch,
                   void *stream);

} // namespace cudaopt::testfuncs
