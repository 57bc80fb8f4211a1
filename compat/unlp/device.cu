// This file implements those functions of the interface of the 2013 manual of L-BFGS for GPU-CUDA that call CUDA.
#include <algorithm>
#include <cstring>

#include "cuda_opt.h"
#include "device.hpp"

namespace cudaopt::unlp {

namespace {

constexpr int threads = 256;
constexpr int most_blocks = 256;

// Sums one value per thread of the block. Thread 0 receives the sum. The order of the additions is fixed.
__device__ double block_sum(double mine) {
    __shared__ double of_thread[threads];
    of_thread[threadIdx.x] = mine;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) of_thread[threadIdx.x] += of_thread[threadIdx.x + half];
    }
    return of_thread[0];
}

// Computes one sum per block. The threads of a block add the values whose indices they process in a grid-stride loop.
__global__ void sum_stretches(int n, const double *values, double *sums) {
    double mine = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * threads + threadIdx.x; i < n;
         i += static_cast<long long>(gridDim.x) * threads)
        mine += values[i];
    const double sum = block_sum(mine);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int code(cudaError_t error) {
    if (error == cudaSuccess) return 0;
    cudaGetLastError(); // The error is cleared, so that the caller's next check does not report it.
    return CUDA_OPT_CUDA_FAILURE;
}

// Returns whether the error means that the CUDA runtime has no usable device. All memory is then host memory. This is
// also the case in a process that was forked from a process that uses CUDA.
bool is_absence(cudaError_t error) {
    switch (error) {
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoDevice:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice: return true;
    default: return false;
    }
}

int without_reply(cudaError_t error) {
    static_cast<void>(code(error));
    return is_absence(error) ? on_host : unknown_device;
}

// Launches the kernel for the sums, and returns the status of this launch alone. cudaGetLastError() after a launch by
// <<<>>> would also report errors of earlier calls.
int launch_sum(int blocks, int n, const double *values, double *sums) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(threads);
    return code(cudaLaunchKernelEx(&config, sum_stretches, n, values, sums));
}

} // namespace

int device_of(const void *pointer) {
    cudaPointerAttributes attributes{};
    const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    if (error != cudaSuccess) return without_reply(error);
    const bool device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
    return device ? attributes.device : on_host;
}

int current_device() {
    int device = on_host;
    const cudaError_t error = cudaGetDevice(&device);
    return error == cudaSuccess ? device : without_reply(error);
}

int copy(void *to, const void *from, std::size_t bytes) {
    const int at = device_of(to), from_device = device_of(from);
    if (at == unknown_device || from_device == unknown_device) return CUDA_OPT_CUDA_FAILURE;
    if (at != on_host || from_device != on_host) return code(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    std::memcpy(to, from, bytes);
    return 0;
}

int select_device(int id) {
    int devices = 0;
    if (code(cudaGetDeviceCount(&devices)) || devices == 0) return CUDA_OPT_BACKEND_UNAVAILABLE;
    if (id < 0 || id >= devices) return CUDA_OPT_IMPROPER_INPUT;
    return code(cudaSetDevice(id));
}

int best_device() {
    int devices = 0, best = CUDA_OPT_BACKEND_UNAVAILABLE;
    if (code(cudaGetDeviceCount(&devices))) return best;
    double speed_of_best = -1;
    for (int id = 0; id < devices; id++) {
        int multiprocessors = 0, clock = 0;
        if (code(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, id))) continue;
        if (code(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, id))) continue;
        const double speed = static_cast<double>(multiprocessors) * clock;
        if (speed <= speed_of_best) continue;
        best = id;
        speed_of_best = speed;
    }
    return best;
}

int device_memory(std::size_t *free, std::size_t *whole) {
    const cudaError_t error = cudaMemGetInfo(free, whole);
    if (error == cudaSuccess) return 0;
    return without_reply(error) == on_host ? CUDA_OPT_BACKEND_UNAVAILABLE : CUDA_OPT_CUDA_FAILURE;
}

int sum_on_device(int n, const double *values, double *sum) {
    // The number of blocks depends on n alone, so that the order of summation does not depend on the device.
    const int blocks = std::clamp(n / threads, 1, most_blocks);
    double *sums = nullptr;
    if (const int lacking = code(cudaMallocAsync(&sums, blocks * sizeof *sums, nullptr))) return lacking;
    int failed = launch_sum(blocks, n, values, sums);
    if (!failed) failed = launch_sum(1, blocks, sums, sum);
    const int freed = code(cudaFreeAsync(sums, nullptr));
    return failed ? failed : freed;
}

} // namespace cudaopt::unlp
