// Implements the sweeps of a gradient check, which are its operations on all n variables, on the threads of the host.
// This file also chooses between host and CUDA.
#include "cuda_opt.h"
#include "gradient_check/check_sweeps_on.hpp"
#include "sweeps/host/executor.hpp"

namespace cudaopt {

std::unique_ptr<CheckSweeps> make_check_sweeps(int backend, int64_t n, int bits, int device) {
    if (backend == CUDA_OPT_BACKEND_CUDA) return make_cuda_check_sweeps(n, bits, device);
    if (bits == 32) return std::make_unique<CheckSweepsOn<HostExecutor, float>>(n);
    return std::make_unique<CheckSweepsOn<HostExecutor, double>>(n);
}

} // namespace cudaopt
