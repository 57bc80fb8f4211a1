// Launches of kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudaopt {

// Launch a kernel.
// Returns what the launch itself returned; cudaGetLastError() after <<<>>> would also tell of an error that another
// call of this thread has left behind
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 blocks, int threads, std::size_t shared, cudaStream_t stream,
                   Arguments &&...arguments) {
    // Of the kernel's own types, one after the other.
    std::tuple<std::remove_cv_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
    return std::apply(
        [&](auto &...value) {
            void *places[] = {&value...};
            return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), blocks,
                                    dim3(static_cast<unsigned>(threads)), places, shared, stream);
        },
        values);
}

// Load a kernel onto the current device before it is needed. The runtime loads it at its first launch otherwise, and
// may do so only when the kernels that run there have ended, whoever launched them.
template <class... Parameters> cudaError_t load(void (*kernel)(Parameters...)) {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel));
}

} // namespace cudaopt
