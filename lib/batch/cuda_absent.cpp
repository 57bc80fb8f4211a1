// Replaces cuda.cu if the library is built without a CUDA compiler.
#include "batch/machine.hpp"

namespace cudaopt {

template <class Real> std::unique_ptr<BatchMachine> make_cuda_batch(batch::Shape, int64_t, bool) { return nullptr; }
template std::unique_ptr<BatchMachine> make_cuda_batch<double>(batch::Shape, int64_t, bool);
template std::unique_ptr<BatchMachine> make_cuda_batch<float>(batch::Shape, int64_t, bool);

} // namespace cudaopt
