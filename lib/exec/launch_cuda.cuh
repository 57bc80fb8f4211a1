// These functions launch kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace cudaopt {

// Launches a kernel and returns the status of this launch. Calling cudaGetLastError() after a launch by <<<>>> would
// also report an error of an earlier call of this host thread.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 blocks, int threads, std::size_t shared, cudaStream_t stream,
                   Arguments &&...arguments) {
    return [&](Parameters... values) {
        void *places[] = {&values...};
        return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), blocks, dim3(static_cast<unsigned>(threads)),
                                places, shared, stream);
    }(std::forward<Arguments>(arguments)...);
}

// Launches a kernel with programmatic stream serialisation, which requires compute capability 9.0. The kernel's blocks
// may start when all blocks of the previous kernel on the stream have exited or called trigger_programmatic_launch().
// The kernel must call grid_dependency_sync() before it accesses memory that other kernels write. The blocks with
// neighbouring blockIdx.x form clusters of `cluster` blocks, which run at the same time.
template <class... Parameters, class... Arguments>
cudaError_t launch_early_clusters(void (*kernel)(Parameters...), dim3 blocks, unsigned cluster, int threads,
                                  std::size_t shared, cudaStream_t stream, Arguments &&...arguments) {
    cudaLaunchAttribute attributes[2]{};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = cluster;
    attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = cluster > 1 ? 2 : 1;
    return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

// Waits until all writes of the previous kernel are visible to this kernel.
__device__ inline void grid_dependency_sync() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}
__device__ inline void trigger_programmatic_launch() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Returns whether a kernel that calls grid_dependency_sync() waits there on the current device. Code that was compiled
// for a compute capability below 9.0 does not, even if the driver has translated its PTX for a newer device.
template <class... Parameters> bool has_grid_dependency_sync(void (*kernel)(Parameters...)) {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel)) == cudaSuccess &&
           attributes.ptxVersion >= 90;
}

// Loads a kernel onto the current device before its first launch. Otherwise the CUDA runtime loads the kernel when it
// is first launched. That may wait until all kernels on the device have ended, including those of other programs.
template <class... Parameters> cudaError_t load(void (*kernel)(Parameters...)) {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel));
}

} // namespace cudaopt
