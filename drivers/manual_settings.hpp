// The settings of the manual's run. Each is set explicitly, so that a change of the library's defaults does not change
// the iterates of the drivers.
#pragma once

#include "cuda_opt.hpp"

#include <cmath>
#include <limits>

namespace driver {

inline void set_as_in_manual(cudaopt::Handle &s) {
    // H0 = I initially, then gamma I.
    s.set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_SCALAR);
    // The solve continues where VA15 would give up, which does not happen in the manual's run.
    s.set_int(CUDA_OPT_ROBUST, 1);

    // The only stopping test: ||g|| < eps max(1, ||x||).
    s.set_real(CUDA_OPT_EPS, 1e-5);
    s.set_real(CUDA_OPT_PGTOL, 0);
    s.set_real(CUDA_OPT_FACTR, 0);
    s.set_real(CUDA_OPT_F_TARGET, -std::numeric_limits<double>::infinity());
    s.set_real(CUDA_OPT_F_UNBOUNDED, -std::numeric_limits<double>::infinity());
    s.set_real(CUDA_OPT_ROUNDING, 0);             // state -1, as in VA15
    s.set_real(CUDA_OPT_RELATIVE_GTOL, INFINITY); // --factr alone
    s.set_int(CUDA_OPT_MAX_ITERATIONS, 2000);     // icall
    s.set_int(CUDA_OPT_MAX_EVALUATIONS, 0);
    s.set_real(CUDA_OPT_MAX_SECONDS, 0);

    // The line search.
    s.set_real(CUDA_OPT_FTOL, 1e-4);
    s.set_real(CUDA_OPT_GTOL, 0.9);
    s.set_real(CUDA_OPT_XTOL, std::numeric_limits<double>::epsilon());
    s.set_real(CUDA_OPT_STPMIN, 0); // 0 is valid with any stpmax
    s.set_real(CUDA_OPT_STPMAX, 1e20);
    s.set_real(CUDA_OPT_STPMIN, 1e-20);
    s.set_int(CUDA_OPT_MAXFEV, 20);
}

} // namespace driver
