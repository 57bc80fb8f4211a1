// This file compiles the CUDA backend in double precision, with a history in single precision.
#include "sweeps/cuda/cuda_sweeps.cuh"

namespace cudaopt {
template std::unique_ptr<Sweeps> make_cuda_sweeps<double, float>(int64_t, int);
} // namespace cudaopt
