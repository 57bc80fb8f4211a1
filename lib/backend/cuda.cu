#include "backend/makers_on.hpp"
#include "sweeps/cuda/executor.cuh"

namespace cudaopt {
const Makers cuda_makers = makers_on<CudaExecutor>;
} // namespace cudaopt
