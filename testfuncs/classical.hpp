// The five test functions of the 2013 manual (CMCC RP0167) as one std::variant, and their evaluation on CUDA.
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

// evaluate_cuda() for this family is defined in classical.cu. In a build without CUDA, cuda_absent.cpp defines it, and
// it throws.
void evaluate_cuda(const Classical &function, const double *x, double *f, double *g, DeviceScratch &scratch,
                   void *stream);
void evaluate_cuda(const Classical &function, const float *x, double *f, float *g, DeviceScratch &scratch,
                   void *stream);

} // namespace cudaopt::testfuncs
