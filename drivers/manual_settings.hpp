// The settings of the run that the 2013 manual (CMCC RP0167) shows. Each is set explicitly, so that a change of the
// library's defaults does not change the iterates of the programs.
#pragma once

#include "cuda_opt.hpp"

#include <cmath>
#include <limits>

namespace driver {

inline void set_as_in_manual(cudaopt::Handle &s) {
    // The initial Hessian approximation is the identity in the first iteration and a multiple of the identity later.
    s.set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_SCALAR);
    // With ROBUST the solve continues in cases in which VA15 (Harwell's L-BFGS) would give up. None of them occurs in
    // the manual's run.
    s.set_int(CUDA_OPT_ROBUST, 1);

    // The only stopping test of the manual's run is ||g|| < eps max(1, ||x||).
    s.set_real(CUDA_OPT_EPS, 1e-5);
    s.set_real(CUDA_OPT_PGTOL, 0);
    s.set_real(CUDA_OPT_FACTR, 0);
    s.set_real(CUDA_OPT_F_TARGET, -std::numeric_limits<double>::infinity());
    s.set_real(CUDA_OPT_F_UNBOUNDED, -std::numeric_limits<double>::infinity());
    // CUDA_OPT_ROUNDING = 0 disables the test that ends a solve with success if no lower f is found and the expected
    // decrease of f is below its rounding errors. The solve then ends with a failed line search instead. VA15
    // (Harwell's L-BFGS) also reports this as an error (state -1).
    s.set_real(CUDA_OPT_ROUNDING, 0);
    // By default, a small decrease of f (the test that the option --factr enables) ends a solve only if a relative
    // gradient is small, too. Infinity removes this condition.
    s.set_real(CUDA_OPT_RELATIVE_GTOL, INFINITY);
    // The manual's argument icall counts the iterations. Its limit is 2000.
    s.set_int(CUDA_OPT_MAX_ITERATIONS, 2000);
    s.set_int(CUDA_OPT_MAX_EVALUATIONS, 0);
    s.set_real(CUDA_OPT_MAX_SECONDS, 0);

    // The parameters of the line search are those of the manual.
    s.set_real(CUDA_OPT_FTOL, 1e-4);
    s.set_real(CUDA_OPT_GTOL, 0.9);
    s.set_real(CUDA_OPT_XTOL, std::numeric_limits<double>::epsilon());
    // stpmin must not exceed stpmax. It is first set to 0, so that any stpmax is accepted.
    s.set_real(CUDA_OPT_STPMIN, 0);
    s.set_real(CUDA_OPT_STPMAX, 1e20);
    s.set_real(CUDA_OPT_STPMIN, 1e-20);
    s.set_int(CUDA_OPT_MAXFEV, 20);
}

} // namespace driver
