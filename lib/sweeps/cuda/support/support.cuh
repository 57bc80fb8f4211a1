// This header defines exceptions for failures of the CUDA runtime, owners of its resources, and functions by which the
// host waits for a stream.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <new>

#include "cuda_opt.h"
#include "exec/launch_cuda.cuh"
#include "exec/cancellation.hpp"
#include "sweeps/sweeps.hpp"

namespace cudaopt {

inline void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    // The call of cudaGetLastError() clears the error. The next call of the runtime reports a sticky error again.
    cudaGetLastError();
    char text[256];
    std::snprintf(text, sizeof text, "CUDA failed in %s: %s (%s)", what, cudaGetErrorString(error),
                  cudaGetErrorName(error));
    throw BackendFailure(error == cudaErrorMemoryAllocation ? CUDA_OPT_OUT_OF_MEMORY : CUDA_OPT_CUDA_FAILURE, text);
}

inline int current_device() {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}
inline int device_attribute(cudaDeviceAttr which, int device) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

// OnDevice makes a device current during its lifetime.
class OnDevice {
  public:
    explicit OnDevice(int device) { check(enter(device), "the choice of the handle's device"); }
    // This constructor ignores errors. It serves destructors, and operations whose failure does not matter.
    OnDevice(int device, std::nothrow_t) noexcept { static_cast<void>(enter(device)); }
    ~OnDevice() {
        // If the previous device cannot be restored, nothing can be done.
        if (changed_) cudaSetDevice(before_);
    }
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;

  private:
    cudaError_t enter(int device) noexcept {
        cudaError_t error = cudaGetDevice(&before_);
        if (error == cudaSuccess && before_ != device) {
            error = cudaSetDevice(device);
            changed_ = error == cudaSuccess;
        }
        return error;
    }
    int before_ = 0;
    bool changed_ = false;
};

enum class Lives { on_device, on_host_mapped };

// CudaArray is an array in device memory, or in pinned host memory that the device can write.
template <class T, Lives where> class CudaArray {
  public:
    CudaArray() = default;
    ~CudaArray() { release(); }
    CudaArray(const CudaArray &) = delete;
    CudaArray &operator=(const CudaArray &) = delete;

    void allocate(int64_t count) {
        release();
        const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
        void *memory = nullptr;
        const cudaError_t error = where == Lives::on_device ? cudaMalloc(&memory, bytes)
                                                            : cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
        if (error != cudaSuccess) {
            char what[96];
            std::snprintf(what, sizeof what, "the allocation of %lld bytes of workspace",
                          static_cast<long long>(bytes));
            check(error, what);
        }
        data_ = static_cast<T *>(memory);
        bytes_ = bytes;
    }
    // The destructor also calls release(), so this function must not report errors.
    void release() {
        if (data_) static_cast<void>(where == Lives::on_device ? cudaFree(data_) : cudaFreeHost(data_));
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

class CudaEvent {
  public:
    CudaEvent() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
    // The destructor cannot report errors.
    ~CudaEvent() { cudaEventDestroy(event_); }
    CudaEvent(const CudaEvent &) = delete;
    CudaEvent &operator=(const CudaEvent &) = delete;
    cudaEvent_t get() const { return event_; }

  private:
    cudaEvent_t event_ = nullptr;
};

// Waits until all work of the stream is done, or throws Interrupted. The function cudaStreamSynchronize() is not used,
// because its wait cannot be interrupted.
inline void wait_for_stream(cudaStream_t stream, CancellationToken &cancellation, const char *what) {
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaStreamQuery(stream)) == cudaErrorNotReady) cancellation.check();
    check(state, what);
}

// Polls until arrived() returns true. If a kernel of the library or of the caller fails, arrived() never returns true.
// The stream is therefore queried once per 65536 polls. If Interrupted is thrown, a later reply is ignored, because its
// ticket is no longer current.
template <class Arrived> void wait_until(cudaStream_t stream, CancellationToken &cancellation, const Arrived &arrived) {
    for (unsigned spins = 1; !arrived(); spins++) {
        if (spins % 65536 != 0) continue;
        const cudaError_t state = cudaStreamQuery(stream);
        if (state == cudaErrorNotReady) {
            cancellation.check();
            continue;
        }
        check(state, "a kernel on the handle's stream, the caller's evaluation included");
        if (!arrived()) throw BackendFailure(CUDA_OPT_CUDA_FAILURE, "CUDA failed: a kernel ended early");
    }
    std::atomic_thread_fence(std::memory_order_acquire);
}

} // namespace cudaopt
