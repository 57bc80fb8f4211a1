// Where the kernels of the sweeps are launched.
#pragma once

#include <algorithm>

#include "sweeps/cuda/device_variables.cuh"
#include "sweeps/cuda/pieces.hpp"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

// What a launch has to know of its place.
struct LaunchPlace {
    int block_shared, processor_shared; // bytes that a block can have, and all of a multiprocessor's together
    bool early;                         // kernels may be in place before those in front of them have ended
    bool aligned;                       // all of the caller's vectors to 16 bytes
    cudaStream_t stream;
    Pieces pieces; // of the variables
};

// A kernel that waits for the one in front of it itself, where it may.
template <class... Parameters, class... Arguments>
void launch_behind(bool early, const char *what, void (*kernel)(Parameters...), dim3 blocks, int shared,
                   cudaStream_t stream, const Arguments &...arguments) {
    check(early ? launch_early(kernel, blocks, products_threads, shared, stream, arguments...)
                : launch(kernel, blocks, products_threads, shared, stream, arguments...),
          what);
}

// Blocks of threads for n variables: one for each piece, or as far as there are so many variables.
inline int variable_blocks(const Pieces &pieces, int64_t n, int most) {
    if (pieces.by_segments()) return pieces.count();
    return static_cast<int>(std::min<int64_t>(most, (n + products_threads - 1) / products_threads));
}

} // namespace cudaopt
