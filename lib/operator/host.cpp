// The sweeps of an operator as initial Hessian on the threads of the host. This file also chooses between host and
// CUDA.
#include "cuda_opt.h"
#include "operator/operator_sweeps_on.hpp"
#include "sweeps/host/executor.hpp"

namespace cudaopt {

std::unique_ptr<OperatorSweeps> make_operator_sweeps(int backend, int64_t n, int bits, int history_bits, int device) {
    if (backend == CUDA_OPT_BACKEND_CUDA) return make_cuda_operator_sweeps(n, bits, history_bits, device);
    return make_operator_sweeps_on<HostExecutor>(n, bits, history_bits);
}

} // namespace cudaopt
