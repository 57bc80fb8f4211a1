// This file determines whether CUDA is available, and implements the memory functions for the device.
#include <cuda.h>

#include "sweeps/backend.hpp"
#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

namespace {

class CudaMemory final : public MemorySpace {
  public:
    CudaMemory() { check(cudaGetDevice(&device_), "cudaGetDevice"); }
    void *allocate(std::size_t bytes) override {
        const OnDevice on(device_);
        void *memory = nullptr;
        check(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "cudaMalloc");
        return memory;
    }
    void release(void *pointer) override {
        // If the device cannot be made current, the memory is released nevertheless.
        const OnDevice on(device_, std::nothrow);
        check(cudaFree(pointer), "cudaFree");
    }
    void copy_in(void *to, const void *from_host, std::size_t bytes, void *stream) override {
        copy(to, from_host, bytes, cudaMemcpyHostToDevice, stream);
    }
    void copy_out(void *to_host, const void *from, std::size_t bytes, void *stream) override {
        copy(to_host, from, bytes, cudaMemcpyDeviceToHost, stream);
    }
    void synchronize(void *stream) override {
        const OnDevice on(device_);
        check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
    }
    // Managed memory is accepted, because it migrates to the device that reads it. Memory of another device may be
    // inaccessible. A kernel that read it would end all work of this process on the device, so such memory is never
    // accepted.
    bool accepts(const void *pointer, Space &where) override {
        const cudaPointerAttributes at = attributes(pointer);
        const bool managed = at.type == cudaMemoryTypeManaged;
        where = Space::host;
        if (!managed && at.type != cudaMemoryTypeDevice) return false;
        where = managed || at.device == device_ ? Space::device : Space::other_device;
        return where == Space::device;
    }
    int device() const override { return device_; }
    int device_of(const void *pointer) const override { return attributes(pointer).device; }

  private:
    static cudaPointerAttributes attributes(const void *pointer) {
        cudaPointerAttributes attributes{};
        check(cudaPointerGetAttributes(&attributes, pointer), "cudaPointerGetAttributes");
        return attributes;
    }
    void copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind, void *stream) {
        const OnDevice on(device_);
        check(cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(stream)), "cudaMemcpyAsync");
        check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "cudaStreamSynchronize");
    }
    int device_ = 0;
};

// Returns whether this process already has a CUDA context. The function does not create one.
bool cuda_in_use() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    using StateOf = CUresult (*)(CUdevice, unsigned *, int *);
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    if (cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &entry, 7000, cudaEnableDefault, &found) !=
            cudaSuccess ||
        !entry)
        return false;
    for (int device = 0; device < devices; device++) {
        unsigned flags = 0;
        int active = 0;
        if (reinterpret_cast<StateOf>(entry)(device, &flags, &active) == CUDA_SUCCESS && active) return true;
    }
    return false;
}

} // namespace

const char *cuda_unavailable() {
    int devices = 0, device = 0, major = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        cudaGetLastError();
        return "there is no CUDA device, or no driver for it";
    }
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) {
        cudaGetLastError();
        return "the CUDA device does not answer";
    }
    if (major < 8) return "the CUDA device is older than compute capability 8.0";
    return nullptr;
}

Space cuda_pointer_space(const void *pointer) {
    cudaPointerAttributes attributes{};
    if (!cuda_in_use()) return Space::unknown;
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
        cudaGetLastError();
        return Space::unknown;
    }
    return attributes.type == cudaMemoryTypeDevice ? Space::device : Space::host;
}

std::unique_ptr<MemorySpace> make_cuda_memory() { return std::make_unique<CudaMemory>(); }

} // namespace cudaopt
