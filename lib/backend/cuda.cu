#include "backend/makers_on.hpp"
#include "sweeps/cuda/executor.cuh"

const cudaopt::Makers cudaopt::cuda_makers = makers_on<CudaExecutor>;
