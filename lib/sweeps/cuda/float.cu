// This file compiles the CUDA backend in single precision.
#include "sweeps/cuda/cuda_sweeps.cuh"

namespace cudaopt {
template std::unique_ptr<Sweeps> make_cuda_sweeps<float, float>(int64_t, int);
} // namespace cudaopt
