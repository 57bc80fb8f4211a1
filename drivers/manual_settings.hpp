// The settings of the run in the 2013 manual. Each is set explicitly, so that a change of the library's defaults does
// not change the iterates of the drivers.
#pragma once

#include "cuda_opt.hpp"

#include <cmath>
#include <limits>

namespace driver {

inline void set_as_in_manual(cudaopt::Handle &s) {
    // The initial Hessian approximation is the identity at the start, and a multiple of it afterwards.
    s.set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_SCALAR);
    // With this setting the solve continues where VA15 would give up. This does not happen in the manual's run.
    s.set_int(CUDA_OPT_ROBUST, 1);

    // The only stopping test of the manual is ||g|| < eps max(1, ||x||).
    s.set_real(CUDA_OPT_EPS, 1e-5);
    s.set_real(CUDA_OPT_PGTOL, 0);
    s.set_real(CUDA_OPT_FACTR, 0);
    s.set_real(CUDA_OPT_F_TARGET, -std::numeric_limits<double>::infinity());
    s.set_real(CUDA_OPT_F_UNBOUNDED, -std::numeric_limits<double>::infinity());
    // The test of rounding errors, which VA15 reports as state -1, is disabled.
    s.set_real(CUDA_OPT_ROUNDING, 0);
    // The option --factr alone determines the test of the decrease of f.
    s.set_real(CUDA_OPT_RELATIVE_GTOL, INFINITY);
    s.set_int(CUDA_OPT_MAX_ITERATIONS, 2000); // the manual's argument icall
    s.set_int(CUDA_OPT_MAX_EVALUATIONS, 0);
    s.set_real(CUDA_OPT_MAX_SECONDS, 0);

    // The parameters of the line search.
    s.set_real(CUDA_OPT_FTOL, 1e-4);
    s.set_real(CUDA_OPT_GTOL, 0.9);
    s.set_real(CUDA_OPT_XTOL, std::numeric_limits<double>::epsilon());
    s.set_real(CUDA_OPT_STPMIN, 0); // 0 is valid with any stpmax
    s.set_real(CUDA_OPT_STPMAX, 1e20);
    s.set_real(CUDA_OPT_STPMIN, 1e-20);
    s.set_int(CUDA_OPT_MAXFEV, 20);
}

} // namespace driver
