// This file compiles the CUDA backend in double precision.
#include "sweeps/cuda/cuda_sweeps.cuh"

namespace cudaopt {
template std::unique_ptr<Sweeps> make_cuda_sweeps<double, double>(int64_t, int);
} // namespace cudaopt
