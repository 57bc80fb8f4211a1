#include "batch/cuda_threads.cuh"

template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_of_threads<double, 5>();
template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_of_threads<float, 5>();
template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_of_threads<double, 5, true>();
template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_of_threads<float, 5, true>();
template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_in_shared<double, 5>();
template std::unique_ptr<cudaopt::BatchMachine> cudaopt::make_cuda_batch_in_shared<float, 5>();
