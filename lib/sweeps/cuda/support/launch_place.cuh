// This header describes how the kernels of the sweeps (the operations on all n variables) are launched: the limits of
// the device, the stream and the number of blocks.
#pragma once

#include <algorithm>

#include "sweeps/cuda/support/device_variables.cuh"
#include "sweeps/cuda/support/pieces.hpp"
#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

// LaunchPlace contains the parameters that all launches of a backend share.
struct LaunchPlace {
    int block_shared, processor_shared; // bytes of shared memory per block and per multiprocessor
    bool early;                         // whether programmatic dependent launch may be used
    bool aligned;                       // whether all of the caller's vectors are aligned to 16 bytes
    cudaStream_t stream;
    Pieces pieces; // the division of the variables among the blocks of a grid
};

// Launches a kernel that calls grid_dependency_sync() itself. If `early` is true, the launch is a programmatic
// dependent launch. Only then can the blocks form clusters.
template <class... Parameters, class... Arguments>
void launch_behind(bool early, const char *what, void (*kernel)(Parameters...), dim3 blocks, unsigned cluster,
                   int shared, cudaStream_t stream, const Arguments &...arguments) {
    check(early ? launch_early_clusters(kernel, blocks, cluster, products_threads, shared, stream, arguments...)
                : launch(kernel, blocks, products_threads, shared, stream, arguments...),
          what);
}

// Returns the number of blocks for n variables. If the variables are divided into segments, there is one block per part
// of a segment. Otherwise there are at most `most` blocks, and no more than are needed for one thread per variable.
inline int variable_blocks(const Pieces &pieces, int64_t n, int most) {
    if (pieces.by_segments()) return pieces.count();
    return static_cast<int>(std::min<int64_t>(most, (n + products_threads - 1) / products_threads));
}

} // namespace cudaopt
