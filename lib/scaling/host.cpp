// Implements the conversions of scaled variables on the threads of the host. This file also chooses between host and
// CUDA.
#include "cuda_opt.h"
#include "scaling/scaled_variables_on.hpp"
#include "sweeps/host/executor.hpp"

namespace cudaopt {

std::unique_ptr<ScaledVariables> make_host_scaled_variables(int64_t n, int bits) {
    if (bits == 32) return std::make_unique<ScaledVariablesOn<HostExecutor, float>>(n);
    return std::make_unique<ScaledVariablesOn<HostExecutor, double>>(n);
}

std::unique_ptr<ScaledVariables> make_scaled_variables(int backend, int64_t n, int bits, int device) {
    if (backend == CUDA_OPT_BACKEND_CUDA) return make_cuda_scaled_variables(n, bits, device);
    return make_host_scaled_variables(n, bits);
}

} // namespace cudaopt
