// The settings with which the iterates are those of L-BFGS-B 3.0, but for rounding errors.
#pragma once

#include <limits>

#include "cuda_opt.hpp"

namespace cudaopt::bench {

// No stopping test is changed but that for an f without a lower bound, which version 3.0 does not have.
inline void use_rules_of_lbfgsb(Handle &h) {
    h.set_int(CUDA_OPT_ROBUST, 0).set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_SCALAR);
    h.set_real(CUDA_OPT_FTOL, 1e-3).set_real(CUDA_OPT_GTOL, 0.9).set_real(CUDA_OPT_XTOL, 0.1);
    h.set_real(CUDA_OPT_STPMIN, 0).set_real(CUDA_OPT_STPMAX, 1e10);
    h.set_real(CUDA_OPT_F_UNBOUNDED, -std::numeric_limits<double>::infinity());
}

} // namespace cudaopt::bench
