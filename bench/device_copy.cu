#include "device_copy.hpp"

#include <cuda_runtime.h>

namespace cudaopt::bench {

std::vector<double> device_copy_seconds(std::int64_t bytes, int repetitions) {
    std::vector<double> seconds;
    void *from = nullptr, *to = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;
    const bool ready = cudaMalloc(&from, bytes) == cudaSuccess && cudaMalloc(&to, bytes) == cudaSuccess &&
                       cudaMemset(from, 1, bytes) == cudaSuccess && cudaEventCreate(&begin) == cudaSuccess &&
                       cudaEventCreate(&end) == cudaSuccess;
    for (int k = -3; ready && k < repetitions; k++) { // three to warm up
        float milliseconds = 0;
        cudaEventRecord(begin);
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice);
        cudaEventRecord(end);
        if (cudaEventSynchronize(end) != cudaSuccess) break;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (k >= 0) seconds.push_back(1e-3 * milliseconds);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaFree(from);
    cudaFree(to);
    return seconds;
}

} // namespace cudaopt::bench
