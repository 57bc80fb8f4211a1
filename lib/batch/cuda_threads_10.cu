#include "batch/cuda_threads.cuh"

template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_of_threads<double, 10>();
template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_of_threads<float, 10>();
