// The minimisation problems of MINPACK-2 as one std::variant, and their evaluation on CUDA.
#pragma once

#include "testfuncs/bearing.hpp"
#include "testfuncs/combustion.hpp"
#include "testfuncs/device_scratch.hpp"
#include "testfuncs/ginzburg_landau_1d.hpp"
#include "testfuncs/ginzburg_landau_2d.hpp"
#include "testfuncs/lennard_jones.hpp"
#include "testfuncs/minimal_surface.hpp"
#include "testfuncs/optimal_design.hpp"
#include "testfuncs/torsion.hpp"

#include <variant>

namespace cudaopt::testfuncs {

using Minpack2 = std::variant<Torsion, Bearing, MinimalSurface, OptimalDesign, GinzburgLandau1d, LennardJones<2>,
                              LennardJones<3>, Combustion, GinzburgLandau2d>;

// evaluate_cuda() for this family is defined in minpack2.cu. In a build without CUDA, cuda_absent.cpp defines it, and
// it throws.
void evaluate_cuda(const Minpack2 &function, const double *x, double *f, double *g, DeviceScratch &scratch,
                   void *stream);
void evaluate_cuda(const Minpack2 &function, const float *x, double *f, float *g, DeviceScratch &scratch, void *stream);

} // namespace cudaopt::testfuncs
