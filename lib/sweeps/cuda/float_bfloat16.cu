// This file compiles the CUDA backend in single precision, with a history in bfloat16.
#include "sweeps/cuda/cuda_sweeps.cuh"

namespace cudaopt {
template std::unique_ptr<Sweeps> make_cuda_sweeps<float, bfloat16>(int64_t, int);
} // namespace cudaopt
