// The vectors as the device sees them, and what a warp learns from its rows besides their inner products.
#pragma once

#include "backend/gather_layout.hpp"
#include "lbfgsb/rules.hpp"

namespace cudaopt {

constexpr int gather_threads = 256;
constexpr int gather_warps = gather_threads / 32;
constexpr int column_block = 8;
constexpr int gather_grid = 132; // multiprocessors of a Hopper GPU; the same on every device, so that sums agree
constexpr int most_gather_blocks = 2 * gather_grid;

template <class Real> struct DeviceVectors {
    const Real *x, *g, *diagonal;
    BoxArrays<Real> box;
    Real *slots;   // S, then Y, then x_base
    int64_t pitch; // elements from one column to the next; a multiple of 32, rows from n on are 0
    int64_t n;
    int m;

    __host__ __device__ Real *s(int slot) const { return slots + slot * pitch; }
    __host__ __device__ Real *y(int slot) const { return slots + (m + 1 + slot) * pitch; }
    __host__ __device__ Real *x_base() const { return slots + (2 * static_cast<int64_t>(m) + 2) * pitch; }
    __host__ __device__ int slot_of(int newest, int age) const { return (newest + m + 1 - age) % (m + 1); }
    // The stored column behind a panel column; NULL for g, z and columns past the end.
    __device__ const Real *column(const GatherRequest &request, int j) const {
        const int age = j < panel::special ? 0 : (j - panel::special) / 2 + 1;
        if (age >= request.pairs || j == panel::gradient || j == panel::displacement) return nullptr;
        const int slot = slot_of(request.newest_slot, age);
        return j % 2 == 0 ? y(slot) : s(slot);
    }
    __device__ Row row(int64_t i) const { return {x[i], g[i], box.lower(i), box.upper(i)}; }
};

__device__ inline void load2(const double *from, double (&to)[2]) {
    const double2 a = *reinterpret_cast<const double2 *>(from);
    to[0] = a.x, to[1] = a.y;
}
__device__ inline void load2(const float *from, double (&to)[2]) {
    const float2 a = *reinterpret_cast<const float2 *>(from);
    to[0] = a.x, to[1] = a.y;
}
struct LaneSums {
    double pg2 = 0, x2 = 0, largest = 0, first = infinity;
    float first_bound = INFINITY; // no breakpoint of the warp's rows so far lies below it by more than a rounding
    int lower = 0, upper = 0, free = 0, not_finite = 0;
};

// Returns whether the row is free; z: its way to the bound. All lanes of a warp call it; `inside`: the row exists.
// A double-precision division costs more than all the rest of a row's facts, and only the least breakpoint is wanted:
// so a quotient in single precision decides whether there can be a new least one.
__device__ inline bool look_at_row(const Row &at, bool inside, double h, double threshold, LaneSums &sums, double &z) {
    const bool is_held = held(at.x, at.g, at.l, at.u), lower = at.x <= at.l, upper = at.x >= at.u && !lower;
    const double pg = projected_gradient(at.x, at.g, at.l, at.u), size = fabs(pg);
    const double numerator = at.x - bound_ahead(at.g, at.l, at.u), denominator = h * at.g;
    bool free = inside && !is_held, candidate;
    z = 0;
    if (threshold > 0) {
        const double t = is_held ? 0 : breakpoint(at.x, denominator, at.l, at.u);
        z = inside && t > 0 && t <= threshold ? -numerator : 0;
        free = free && t > threshold;
        candidate = free;
    } else {
        free = free || (inside && threshold < 0);
        const float t = __fdividef(static_cast<float>(numerator), static_cast<float>(denominator));
        candidate = inside && !is_held && !(t >= sums.first_bound); // NaN, from extreme operands, has to be looked at
    }
    if (__any_sync(~0u, candidate)) {
        if (candidate && at.g != 0) sums.first = fmin(sums.first, numerator / denominator);
        const float mine = __double2float_ru(sums.first * (1 + 1e-5)); // positive: ordered like its bits
        sums.first_bound = __uint_as_float(__reduce_min_sync(~0u, __float_as_uint(mine)));
    }
    if (!inside) return false;
    sums.pg2 += pg * pg;
    sums.x2 += at.x * at.x;
    sums.largest = size > sums.largest || size != size ? size : sums.largest;
    sums.lower += lower;
    sums.upper += upper;
    sums.free += free;
    sums.not_finite += !isfinite(at.g);
    return free;
}

// The weight of a row in a column: sqrt(h) for y and g, its inverse for s and z.
__device__ inline double scaled_by(double root, int column, double value) {
    const bool inverse = column == panel::displacement || (column != panel::gradient && column % 2 == 1);
    return inverse ? value / root : value * root;
}

__device__ inline double warp_sum(double v) {
    for (int delta = 16; delta > 0; delta /= 2) v += __shfl_down_sync(~0u, v, delta);
    return v;
}

// The warp's row sums into the block's; warps take turns.
__device__ inline void add_row_sums(const LaneSums &mine, double *row_sums, double &maximum, double &minimum) {
    const double v[row_sum_count] = {warp_sum(mine.pg2),
                                     warp_sum(mine.x2),
                                     static_cast<double>(__reduce_add_sync(~0u, mine.lower)),
                                     static_cast<double>(__reduce_add_sync(~0u, mine.upper)),
                                     static_cast<double>(__reduce_add_sync(~0u, mine.free)),
                                     static_cast<double>(__reduce_add_sync(~0u, mine.not_finite))};
    double largest = mine.largest, first = mine.first;
    for (int delta = 16; delta > 0; delta /= 2) {
        const double a = __shfl_down_sync(~0u, largest, delta), b = __shfl_down_sync(~0u, first, delta);
        largest = a > largest || a != a ? a : largest;
        first = b < first ? b : first;
    }
    if (threadIdx.x % 32 != 0) return;
    for (int i = 0; i < row_sum_count; i++) row_sums[i] += v[i];
    if (largest > maximum || largest != largest) maximum = largest;
    minimum = fmin(first, minimum);
}

} // namespace cudaopt
