#include "batch/cuda_threads.cuh"

namespace cudaopt {

template std::unique_ptr<BatchMachine> make_cuda_batch_of_threads<double, 5>();
template std::unique_ptr<BatchMachine> make_cuda_batch_of_threads<float, 5>();
template std::unique_ptr<BatchMachine> make_cuda_batch_of_threads<double, 5, true>();
template std::unique_ptr<BatchMachine> make_cuda_batch_of_threads<float, 5, true>();
template std::unique_ptr<BatchMachine> make_cuda_batch_in_shared<double, 5>();
template std::unique_ptr<BatchMachine> make_cuda_batch_in_shared<float, 5>();

} // namespace cudaopt
