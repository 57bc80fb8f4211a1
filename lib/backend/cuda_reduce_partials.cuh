// The end of sweep 1: the blocks' partial sums become the host's numbers.
#pragma once

#include "backend/cuda_rows.cuh"

namespace cudaopt {

// Join the blocks' partial sums, a warp an entry, straight into host memory; then f; then the flag that the host spins
// on.
static __global__ void __launch_bounds__(gather_threads)
    reduce_partials(GatherLayout layout, const double *partials, int blocks, const double *f, double *to,
                    unsigned *arrivals, unsigned *flag, unsigned ticket) {
    const int lane = threadIdx.x % 32, entry = blockIdx.x * gather_warps + threadIdx.x / 32;
    const double *from = partials + static_cast<int64_t>(entry) * blocks;
    if (entry < layout.maximum) {
        double v = 0;
#pragma unroll 8
        for (int b = lane; b < blocks; b += 32) v += from[b];
        v = warp_sum(v);
        if (lane == 0) to[entry] = v;
    } else if (entry < layout.size) {
        const bool is_max = entry == layout.maximum;
        const auto join = [&](double a, double b) { return is_max ? (b > a || b != b ? b : a) : fmin(a, b); };
        double v = is_max ? 0.0 : infinity;
        for (int b = lane; b < blocks; b += 32) v = join(v, from[b]);
        for (int delta = 16; delta > 0; delta /= 2) v = join(v, __shfl_down_sync(~0u, v, delta));
        if (lane == 0) to[entry] = v;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) to[layout.size] = *f;
    __threadfence_system(); // the numbers before the arrival
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(arrivals, 1u) == gridDim.x - 1) {
        *arrivals = 0;
        __threadfence_system(); // the arrivals before the flag
        *static_cast<volatile unsigned *>(flag) = ticket;
    }
}

} // namespace cudaopt
