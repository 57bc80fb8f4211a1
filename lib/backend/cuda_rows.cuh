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
    int64_t pitch; // elements from one column to the next; a multiple of 64, rows from n on are 0
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
__device__ inline void load2(const float *from, float (&to)[2]) {
    const float2 a = *reinterpret_cast<const float2 *>(from);
    to[0] = a.x, to[1] = a.y;
}

// Neighbouring rows that a lane looks at together: 8 bytes of a vector.
template <class Real> constexpr int rows_of_lane = 8 / sizeof(Real);
template <class Real> using LaneRows = Real[rows_of_lane<Real>];

template <class Real> __device__ void load8(const Real *from, LaneRows<Real> &to) {
    *reinterpret_cast<uint2 *>(to) = *reinterpret_cast<const uint2 *>(from);
}
template <class Real> __device__ void store8(const LaneRows<Real> &from, Real *to) {
    *reinterpret_cast<uint2 *>(to) = *reinterpret_cast<const uint2 *>(from);
}

template <class Real> struct LaneSums {
    double pg2 = 0, x2 = 0, first = infinity;
    Real largest = 0;
    float first_bound = INFINITY; // no breakpoint of the warp's rows so far lies below it by more than a rounding
    int lower = 0, upper = 0, free = 0, not_finite = 0;
};

// The larger of two sizes, as a projected gradient's norm takes them: NaN is the largest.
__device__ inline double larger_size(double a, double b) { return a > b || a != a ? a : b; }
__device__ inline float larger_size(float a, float b) { // sizes are ordered like their bits, NaN behind all numbers
    return __uint_as_float(max(__float_as_uint(fabsf(a)), __float_as_uint(b)));
}

// What the threshold asks: before the first breakpoint, beyond some, or all rows free whatever their bounds.
enum class Phase { before_breakpoints, crossing, all_free };
__device__ inline Phase phase_of(double threshold) {
    return threshold > 0 ? Phase::crossing : threshold < 0 ? Phase::all_free : Phase::before_breakpoints;
}

// The rows of a lane, as stored: comparing rounds nothing, and conversions to double are few on the device.
template <class Real, int rows> struct RowsAhead {
    alignas(8) Real x[rows], g[rows], l[rows], u[rows];
    double h[rows];    // ones without a user's diagonal
    bool inside[rows]; // the row exists
};

// What the rows add to the sums; which of them are free; z: the way to the bound of those that have met it. All lanes
// of a warp call it. A division costs more than all the rest of a row's facts, and only the least breakpoint is wanted:
// so a product in single precision decides whether there can be a new least one.
template <class Real, int rows>
__device__ void look_at_rows(const RowsAhead<Real, rows> &at, bool weighted, Phase phase, double threshold,
                             LaneSums<Real> &sums, bool (&free)[rows], Real (&z)[rows]) {
    bool candidate[rows], any_candidate = false;
#pragma unroll
    for (int k = 0; k < rows; k++) {
        const Real x = at.x[k], g = at.g[k], l = at.l[k], u = at.u[k];
        const bool inside = at.inside[k], moves = inside && !held(x, g, l, u);
        const Real pg = inside ? projected_gradient(x, g, l, u) : Real(0);
        const Real to_bound = x - bound_ahead(g, l, u);
        z[k] = 0;
        if (phase == Phase::crossing) {
            const double t = breakpoint<double>(x, at.h[k] * g, l, u);
            free[k] = candidate[k] = moves && t > threshold;
            if (moves && t <= threshold) z[k] = -to_bound;
        } else {
            free[k] = moves || (inside && phase == Phase::all_free);
            const float slope = weighted ? static_cast<float>(at.h[k] * g) : static_cast<float>(g);
            // Not a comparison the other way round: NaN, from extreme operands, has to be looked at.
            candidate[k] =
                moves && isfinite(to_bound) && !(fabsf(static_cast<float>(to_bound)) > sums.first_bound * fabsf(slope));
        }
        any_candidate |= candidate[k];
        const double wide_pg = pg, wide_x = inside ? x : Real(0);
        sums.pg2 += wide_pg * wide_pg;
        sums.x2 += wide_x * wide_x;
        sums.largest = larger_size(fabs(pg), sums.largest);
        sums.lower += inside && x <= l;
        sums.upper += inside && x >= u && !(x <= l);
        sums.free += free[k];
        sums.not_finite += inside && !isfinite(g);
    }
    if (!__any_sync(~0u, any_candidate)) return;
#pragma unroll
    for (int k = 0; k < rows; k++)
        if (candidate[k] && at.g[k] != 0) {
            const double x = at.x[k], bound = bound_ahead(at.g[k], at.l[k], at.u[k]);
            sums.first = fmin(sums.first, (x - bound) / (at.h[k] * at.g[k]));
        }
    const float mine = __double2float_ru(sums.first * (1 + 1e-5)); // positive: ordered like its bits
    sums.first_bound = __uint_as_float(__reduce_min_sync(~0u, __float_as_uint(mine)));
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

// The lanes' sums joined: six row sums, the maximum, the minimum. Lane 0 has them.
struct WarpSums {
    static constexpr int maximum = row_sum_count, minimum = maximum + 1, size = minimum + 1;
    double v[size];

    template <class Real> __device__ explicit WarpSums(const LaneSums<Real> &mine) {
        double largest = mine.largest, first = mine.first;
        for (int delta = 16; delta > 0; delta /= 2) {
            largest = larger_size(__shfl_down_sync(~0u, largest, delta), largest);
            first = fmin(first, __shfl_down_sync(~0u, first, delta));
        }
        v[projected_gradient_squared] = warp_sum(mine.pg2);
        v[x_squared] = warp_sum(mine.x2);
        v[at_lower] = __reduce_add_sync(~0u, mine.lower);
        v[at_upper] = __reduce_add_sync(~0u, mine.upper);
        v[free_rows] = __reduce_add_sync(~0u, mine.free);
        v[not_finite] = __reduce_add_sync(~0u, mine.not_finite);
        v[maximum] = largest;
        v[minimum] = first;
    }
    // Warp after warp, the thread's number of them.
    __device__ static double join(const double (&of_warps)[gather_warps][size], int which) {
        double joined = of_warps[0][which];
        for (int warp = 1; warp < gather_warps; warp++) {
            const double next = of_warps[warp][which];
            joined = which == maximum   ? larger_size(next, joined)
                     : which == minimum ? fmin(next, joined)
                                        : joined + next;
        }
        return joined;
    }
};

} // namespace cudaopt
