// Scaled variables on a CUDA device.
#include "scaling/scaled_variables_on.hpp"
#include "sweeps/cuda/executor.cuh"

namespace cudaopt {

std::unique_ptr<ScaledVariables> make_cuda_scaled_variables(int64_t n, int bits, int device) {
    constexpr const char *what = "the scaling of variables";
    if (bits == 32) return std::make_unique<ScaledVariablesOn<CudaExecutor, float>>(n, device, what);
    return std::make_unique<ScaledVariablesOn<CudaExecutor, double>>(n, device, what);
}

} // namespace cudaopt
