// The CUDA executor in single precision.
#include "backend/cuda_sweeps.cuh"

namespace cudaopt {
template std::unique_ptr<Sweeps> make_cuda_sweeps<float>(int64_t);
} // namespace cudaopt
