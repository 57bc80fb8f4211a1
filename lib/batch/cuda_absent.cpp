// In place of cuda.cu where the library is built without a CUDA compiler.
#include "batch/machine.hpp"

namespace cudaopt {

template <class Real> std::unique_ptr<BatchMachine> make_cuda_batch() { return nullptr; }
template std::unique_ptr<BatchMachine> make_cuda_batch<double>();
template std::unique_ptr<BatchMachine> make_cuda_batch<float>();

} // namespace cudaopt
