// The sweeps of an operator as initial Hessian on a CUDA device.
#include "operator/operator_sweeps_on.hpp"
#include "sweeps/cuda/executor.cuh"

namespace cudaopt {

std::unique_ptr<OperatorSweeps> make_cuda_operator_sweeps(int64_t n, int bits, int history_bits, int device) {
    return make_operator_sweeps_on<CudaExecutor>(n, bits, history_bits, device, "the sweeps of an operator");
}

} // namespace cudaopt
