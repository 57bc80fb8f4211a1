// This file replaces the CUDA backend if the library is built without a CUDA compiler.
#include "sweeps/backend.hpp"

namespace cudaopt {

const char *cuda_unavailable() { return "the library was built without CUDA"; }
Space cuda_pointer_space(const void *) { return Space::unknown; }
std::unique_ptr<MemorySpace> make_cuda_memory() { return nullptr; }
template <class Real, class History> std::unique_ptr<Sweeps> make_cuda_sweeps(int64_t, int) { return nullptr; }
template std::unique_ptr<Sweeps> make_cuda_sweeps<double, double>(int64_t, int);
template std::unique_ptr<Sweeps> make_cuda_sweeps<double, float>(int64_t, int);
template std::unique_ptr<Sweeps> make_cuda_sweeps<double, bfloat16>(int64_t, int);
template std::unique_ptr<Sweeps> make_cuda_sweeps<float, float>(int64_t, int);
template std::unique_ptr<Sweeps> make_cuda_sweeps<float, bfloat16>(int64_t, int);

} // namespace cudaopt
