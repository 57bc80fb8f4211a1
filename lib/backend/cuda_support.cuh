// Failures of the CUDA runtime as exceptions, and owners of what it lends.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <utility>

#include "cuda_opt.h"
#include "lbfgsb/sweeps.hpp"

namespace cudaopt {

inline void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    cudaGetLastError(); // the runtime's memory of it; what cannot be cleared will come again
    char text[256];
    std::snprintf(text, sizeof text, "CUDA failed in %s: %s (%s)", what, cudaGetErrorString(error),
                  cudaGetErrorName(error));
    throw ExecutorFailure(error == cudaErrorMemoryAllocation ? CUDA_OPT_OUT_OF_MEMORY : CUDA_OPT_CUDA_FAILURE, text);
}

// Makes a device current for as long as it lives.
class OnDevice {
  public:
    explicit OnDevice(int device) {
        cudaGetDevice(&before_);
        if (before_ != device) cudaSetDevice(device);
        changed_ = before_ != device;
    }
    ~OnDevice() {
        if (changed_) cudaSetDevice(before_);
    }
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;

  private:
    int before_ = 0;
    bool changed_ = false;
};

enum class Lives { on_device, on_host_mapped };

// An array on the device, or on the host where the device can write it.
template <class T, Lives where> class CudaArray {
  public:
    CudaArray() = default;
    ~CudaArray() { release(); }
    CudaArray(const CudaArray &) = delete;
    CudaArray &operator=(const CudaArray &) = delete;

    void allocate(int64_t count) {
        release();
        bytes_ = count * static_cast<int64_t>(sizeof(T));
        void *memory = nullptr;
        const cudaError_t error = where == Lives::on_device ? cudaMalloc(&memory, bytes_)
                                                            : cudaHostAlloc(&memory, bytes_, cudaHostAllocDefault);
        if (error != cudaSuccess) {
            char what[96];
            std::snprintf(what, sizeof what, "the allocation of %lld bytes of workspace",
                          static_cast<long long>(bytes_));
            bytes_ = 0;
            check(error, what);
        }
        data_ = static_cast<T *>(memory);
    }
    void release() {
        where == Lives::on_device ? cudaFree(data_) : cudaFreeHost(data_);
        data_ = nullptr;
        bytes_ = 0;
    }
    T *get() const { return data_; }
    T &operator[](int64_t i) const { return data_[i]; }
    int64_t bytes() const { return bytes_; }

  private:
    T *data_ = nullptr;
    int64_t bytes_ = 0;
};

} // namespace cudaopt
