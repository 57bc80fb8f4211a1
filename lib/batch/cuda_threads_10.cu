#include "batch/cuda_threads.cuh"

namespace cudaopt {

template std::unique_ptr<BatchMachine> make_cuda_batch_of_threads<double, 10>();
template std::unique_ptr<BatchMachine> make_cuda_batch_of_threads<float, 10>();

} // namespace cudaopt
