// Where the kernels of the sweeps are launched.
#pragma once

#include <algorithm>

#include "sweeps/cuda/device_rows.cuh"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

// What a launch has to know of its place.
struct LaunchPlace {
    int block_shared, processor_shared; // bytes that a block can have, and all of a multiprocessor's together
    bool aligned;                       // all of the caller's vectors to 16 bytes
    cudaStream_t stream;
};

// Blocks of threads for n rows, as far as there are so many.
inline int row_blocks(int64_t n, int most) {
    return static_cast<int>(std::min<int64_t>(most, (n + products_threads - 1) / products_threads));
}

} // namespace cudaopt
