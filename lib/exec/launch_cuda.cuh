// Launches of kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudaopt {

// take(places of the kernel's parameters, of its own types)
template <class... Parameters, class Take, class... Arguments>
cudaError_t with_parameters(void (*)(Parameters...), const Take &take, Arguments &&...arguments) {
    std::tuple<std::remove_cv_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
    return std::apply(
        [&](auto &...value) {
            void *places[] = {&value...};
            return take(places);
        },
        values);
}

// Launch a kernel.
// Returns what the launch itself returned; cudaGetLastError() after <<<>>> would also tell of an error that another
// call of this thread has left behind
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 blocks, int threads, std::size_t shared, cudaStream_t stream,
                   Arguments &&...arguments) {
    return with_parameters(
        kernel,
        [&](void **places) {
            return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), blocks,
                                    dim3(static_cast<unsigned>(threads)), places, shared, stream);
        },
        std::forward<Arguments>(arguments)...);
}

// The same, but its blocks may be in place before the kernel in front of it on the stream has ended: as soon as all of
// that one's have ended or called trigger_programmatic_launch(). They call grid_dependency_sync() before they touch
// memory that others write. For devices of compute capability 9 or more.
template <class... Parameters, class... Arguments>
cudaError_t launch_early(void (*kernel)(Parameters...), dim3 blocks, int threads, std::size_t shared,
                         cudaStream_t stream, Arguments &&...arguments) {
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    return with_parameters(
        kernel,
        [&](void **places) { return cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel), places); },
        std::forward<Arguments>(arguments)...);
}

// All that the kernel in front has written is there when this returns.
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

// Load a kernel onto the current device before it is needed. The runtime loads it at its first launch otherwise, and
// may do so only when the kernels that run there have ended, whoever launched them.
template <class... Parameters> cudaError_t load(void (*kernel)(Parameters...)) {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel));
}

} // namespace cudaopt
