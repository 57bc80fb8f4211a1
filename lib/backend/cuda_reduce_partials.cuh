// The end of sweep 1: the blocks' partial sums become the host's numbers.
#pragma once

#include <cstring>

#include "backend/cuda_rows.cuh"

namespace cudaopt {

// A number on its way to the host, each half beside the ticket of its turn: a half is written whole, so the host knows
// by the tickets alone that all of the number is there, and no fence or flag has to follow the numbers.
struct alignas(16) Posted {
    volatile unsigned low, low_ticket, high, high_ticket;

    bool there(unsigned ticket) const { return low_ticket == ticket && high_ticket == ticket; }
    double value() const {
        const uint64_t bits = static_cast<uint64_t>(high) << 32 | low;
        double number;
        std::memcpy(&number, &bits, sizeof number);
        return number;
    }
};

__device__ inline void post(Posted *to, double value, unsigned ticket) {
    const uint64_t tag = static_cast<uint64_t>(ticket) << 32, bits = __double_as_longlong(value);
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(tag | (bits & 0xffffffffu)),
                 "l"(tag | bits >> 32)
                 : "memory");
}

// What the host gets: the numbers of the gather, f, and the sums of the direction that led here.
constexpr int direction_numbers = 3;
constexpr int posted_numbers(const GatherLayout &layout) { return layout.size + 1 + direction_numbers; }

// Join the blocks' partial sums, a warp an entry, straight into host memory. From Hopper on, the blocks are in place
// before sweep 1 has ended.
static __global__ void __launch_bounds__(gather_threads)
    reduce_partials(GatherLayout layout, const double *partials, int blocks, const double *f,
                    const DirectionRecord *directions, int direction_blocks, Posted *to, unsigned ticket) {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    const int lane = threadIdx.x % 32, entry = blockIdx.x * gather_warps + threadIdx.x / 32;
    const double *from = partials + static_cast<int64_t>(entry) * blocks;
    double v = 0;
    if (entry < layout.maximum) {
#pragma unroll 8
        for (int b = lane; b < blocks; b += 32) v += from[b];
        v = warp_sum(v);
    } else if (entry < layout.size) {
        const bool is_max = entry == layout.maximum;
        const auto join = [&](double a, double b) { return is_max ? (b > a || b != b ? b : a) : fmin(a, b); };
        v = is_max ? 0.0 : infinity;
        for (int b = lane; b < blocks; b += 32) v = join(v, from[b]);
        for (int delta = 16; delta > 0; delta /= 2) v = join(v, __shfl_down_sync(~0u, v, delta));
    } else if (entry == layout.size) {
        v = *f;
    } else if (entry < posted_numbers(layout)) {
        for (int b = lane; b < direction_blocks; b += 32) {
            const DirectionRecord &record = directions[b];
            const int which = entry - layout.size - 1;
            v += which == 0 ? record.slope.v : which == 1 ? record.d_squared.v : record.projected.v;
        }
        v = warp_sum(v);
    }
    if (lane == 0 && entry < posted_numbers(layout)) post(to + entry, v, ticket);
}

} // namespace cudaopt
