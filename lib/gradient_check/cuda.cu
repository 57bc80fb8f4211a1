// Implements the sweeps of a gradient check, which are its operations on all n variables, on a CUDA device.
#include "gradient_check/check_sweeps_on.hpp"
#include "sweeps/cuda/executor.cuh"

namespace cudaopt {

std::unique_ptr<CheckSweeps> make_cuda_check_sweeps(int64_t n, int bits, int device) {
    constexpr const char *what = "the check of a gradient";
    if (bits == 32) return std::make_unique<CheckSweepsOn<CudaExecutor, float>>(n, device, what);
    return std::make_unique<CheckSweepsOn<CudaExecutor, double>>(n, device, what);
}

} // namespace cudaopt
