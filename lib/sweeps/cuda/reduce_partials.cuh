// The end of sweep 1: the blocks' partial sums become the host's numbers.
#pragma once

#include <cstring>

#include "sweeps/cuda/device_variables.cuh"

namespace cudaopt {

// A number on its way to the host, each half in a word with the ticket of its turn: a word is written and read whole,
// so the host knows by the tickets alone that all of the number is there, and no fence or flag has to follow.
struct alignas(16) Posted {
    volatile uint64_t low, high; // the ticket in the upper 32 bits

    // Whether the number of this turn is there, and then what it is.
    bool arrived(unsigned ticket, double &number) const {
        const uint64_t low_word = low, high_word = high;
        if (low_word >> 32 != ticket || high_word >> 32 != ticket) return false;
        const uint64_t bits = high_word << 32 | (low_word & 0xffffffffu);
        std::memcpy(&number, &bits, sizeof number);
        return true;
    }
};

__device__ inline void post(Posted *to, double value, unsigned ticket) {
    const uint64_t tag = static_cast<uint64_t>(ticket) << 32, bits = __double_as_longlong(value);
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(tag | (bits & 0xffffffffu)),
                 "l"(tag | bits >> 32)
                 : "memory");
}

// Each warp's lane 0 has the number of its own place of the whole grid, of which the first `count` are posted: a
// block's go over the bus together. The last says how many variables were sent ahead. All threads call it.
__device__ inline void post_numbers(Posted *to, double v, int count, unsigned ticket) {
    __shared__ double of_block[products_warps];
    if (threadIdx.x % 32 == 0) of_block[threadIdx.x / 32] = v;
    __syncthreads();
    const int place = blockIdx.x * products_warps + threadIdx.x;
    if (threadIdx.x >= products_warps || place >= count) return;
    if (place == count - 1 && of_block[threadIdx.x] > 0) __threadfence_system(); // the variables before their number
    post(to + place, of_block[threadIdx.x], ticket);
}

// What the host gets: the numbers of the inner products, f, the sums of the direction that led here, and how many
// variables were sent ahead.
constexpr int direction_numbers = 3;
static_assert(sizeof(DirectionRecord) == direction_numbers * sizeof(double), "a record is slope, d_squared, projected");
constexpr int posted_numbers(const ProductsLayout &layout) { return layout.size + 1 + direction_numbers + 1; }

// What a warp makes of `count` numbers, the result on lane 0. Each lane's loads are on their way together: they take as
// long as one.
template <class Load, class Join> __device__ double join_of_warp(int count, double nothing, Load load, Join join) {
    constexpr int at_once = (most_products_blocks + 31) / 32;
    double v = nothing;
    for (int first = threadIdx.x % 32; first < count; first += 32 * at_once) {
        double part[at_once];
#pragma unroll
        for (int e = 0; e < at_once; e++) part[e] = first + 32 * e < count ? load(first + 32 * e) : nothing;
#pragma unroll
        for (int e = 0; e < at_once; e++) v = join(v, part[e]);
    }
    for (int delta = 16; delta > 0; delta /= 2) v = join(v, __shfl_down_sync(~0u, v, delta));
    return v;
}

// Join the blocks' partial sums, a warp an entry, straight into host memory. From Hopper on, the blocks are in place
// before sweep 1 has ended.
static __global__ void __launch_bounds__(products_threads)
    reduce_partials(ProductsLayout layout, const double *partials, int blocks, const double *f,
                    const DirectionRecord *directions, int direction_blocks, unsigned long long *sent, Posted *to,
                    unsigned ticket) {
    grid_dependency_sync();
    const int entry = blockIdx.x * products_warps + threadIdx.x / 32;
    const auto partial = [=](int b) { return partials[static_cast<int64_t>(entry) * blocks + b]; };
    const auto sum = [](double a, double b) { return a + b; };
    double v = 0;
    if (entry < layout.maximum) {
        v = join_of_warp(blocks, 0, partial, sum);
    } else if (entry == layout.maximum) {
        v = join_of_warp(blocks, 0, partial, [](double a, double b) { return larger_size(b, a); });
    } else if (entry == layout.minimum) {
        v = join_of_warp(blocks, infinity, partial, [](double a, double b) { return fmin(a, b); });
    } else if (entry == layout.size) {
        v = *f;
    } else if (entry < layout.size + 1 + direction_numbers) {
        const int which = entry - layout.size - 1; // of a record's three numbers
        const double *const records = reinterpret_cast<const double *>(directions);
        v = join_of_warp(
            direction_blocks, 0, [=](int b) { return records[direction_numbers * b + which]; }, sum);
    } else if (entry < posted_numbers(layout) && threadIdx.x % 32 == 0) {
        v = static_cast<double>(*sent);
        *sent = 0;
    }
    post_numbers(to, v, posted_numbers(layout), ticket);
}

} // namespace cudaopt
