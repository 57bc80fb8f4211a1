// Sweep 1 on the GPU for panels wider than the registers of a warp hold the products of.
#pragma once

#include "sweeps/cuda/matrix_unit.cuh"
#include "sweeps/cuda/own_rows.cuh"

namespace cudaopt {

__device__ inline void load4(const double *from, double (&to)[4]) {
    const double2 a = *reinterpret_cast<const double2 *>(from), b = *reinterpret_cast<const double2 *>(from + 2);
    to[0] = a.x, to[1] = a.y, to[2] = b.x, to[3] = b.y;
}
__device__ inline void load4(const float *from, double (&to)[4]) {
    const float4 a = *reinterpret_cast<const float4 *>(from);
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w;
}
__device__ inline void load4(const bfloat16 *from, double (&to)[4]) {
    for (int k = 0; k < 4; k++) to[k] = from[k];
}

// The lane's own row: its part in the row sums, and what other lanes need to know of it.
template <class Real> struct OwnRow {
    Real g, z; // gradient, way to the bound
    double y;  // of the fresh pair
    panel::Scaling by;
    unsigned free; // of all 32 rows, a bit each
};

template <InnerProducts kind, class Real, class History>
__device__ OwnRow<Real> look_at_own_row(const DeviceVectors<Real, History> &v, const PanelRequest &request, int64_t i,
                                        LaneSums<Real> &sums) {
    OwnRow<Real> own{0, 0, 0, {1, 1}, 0};
    const bool inside = i < v.n;
    RowsAhead<Real, 1> at{{0}, {0}, {0}, {0}, {1}};
    if (inside) {
        at.x[0] = v.x[i], at.g[0] = v.g[i];
        at.l[0] = v.box.l ? v.box.l[i] : static_cast<Real>(v.box.lower_all);
        at.u[0] = v.box.u ? v.box.u[i] : static_cast<Real>(v.box.upper_all);
        if (in_metric(kind)) {
            at.h[0] = v.diagonal[i];
            const int slot = request.newest_slot;
            const bool pair = request.pairs > 0;
            const double stored_y = pair && !request.fresh ? v.y(slot)[i] : 0.0,
                         y = pair && request.fresh ? gradient_change<History>(at.g[0], v.g_base(slot)[i]) : stored_y;
            look_at_metric(at.h[0], y, pair ? static_cast<double>(v.s(slot)[i]) : 0.0, request.weighted, sums);
            if (request.weighted) own.by = scaling_of(at.h[0]);
            else at.h[0] = 1;
        }
    } else {
        take_off_rows_past_the_end<kind>(sums, 1, request);
    }
    bool free[1], candidate[1];
    Real z[1];
    double t[1];
    if (look_at_rows<kind>(at, request.threshold, sums, free, z, candidate))
        look_at_candidates<kind>(at, candidate, 0, sums, t);
    own.g = at.g[0];
    own.z = z[0];
    if (inside && request.fresh && request.pairs > 0)
        own.y = gradient_change<History>(at.g[0], v.g_base(request.newest_slot)[i]);
    own.free = __ballot_sync(~0u, free[0]);
    return own;
}
// Four rows of a panel column as the lane's share of its block. `at` is the first of them within the warp's 32.
template <class Real, class History, bool metric>
__device__ void fragment(const History *column, int j, const PanelRequest &request, int64_t base, int at,
                         const OwnRow<Real> &own, double (&to)[4]) {
    if (column) load4(column + base + at, to);
    else to[0] = to[1] = to[2] = to[3] = 0;
    if (j / column_block == 0) { // the leading columns are among these lanes'
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const Real g = __shfl_sync(~0u, own.g, at + e);
            const double y = __shfl_sync(~0u, own.y, at + e);
            if (j == panel::gradient) to[e] = g;
            if (j == 0 && request.fresh) to[e] = y;
        }
        if (request.threshold > 0) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const Real z = __shfl_sync(~0u, own.z, at + e);
                if (j == panel::displacement) to[e] = z;
            }
        }
    }
    if (metric) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const panel::Scaling by{__shfl_sync(~0u, own.by.root, at + e),
                                    __shfl_sync(~0u, own.by.inverse_root, at + e)};
            to[e] *= by.of(j);
        }
    }
}

// Wider panels: one tile of 8 x 8 products a block, gridDim.x tiles over the same rows, which meet in the second-level
// cache. Slower by the times a column is read, and enough for memories that large.
template <class Real, class History, InnerProducts kind>
__global__ void __launch_bounds__(products_threads)
    inner_products_tile_kernel(DeviceVectors<Real, History> v, PanelRequest request, ProductsLayout layout,
                               Pieces pieces, double *partials) {
    constexpr bool metric = in_metric(kind), new_metric = kind == InnerProducts::new_metric;
    constexpr int products = column_block * column_block;
    __shared__ double over_free_sums[products_warps][products], over_all_sums[products_warps][products];
    __shared__ double warp_sums[products_warps][WarpSums::size];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = lane / 4, r = lane % 4;
    int i_block = 0, j_block = blockIdx.x; // tiles of the upper triangle, row by row
    for (const int width = (layout.columns + column_block - 1) / column_block; j_block >= width - i_block; i_block++)
        j_block -= width - i_block;
    j_block += i_block;

    const int column_i = i_block * column_block + c, column_j = j_block * column_block + c;
    const History *w_i = v.column(request, column_i), *w_j = v.column(request, column_j);
    double over_free[2] = {}, over_all[2] = {};
    LaneSums<Real> own_sums;
    const BlockShare share = pieces.share(v.n, 32, blockIdx.y, gridDim.y, products_warps);
    for (int64_t tile = share.begin + share.offset + warp; tile < share.end; tile += share.step) {
        const int64_t base = tile * 32;
        const OwnRow<Real> own = look_at_own_row<kind>(v, request, base + lane, own_sums);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int at = half * 16 + r * 4;
            double a[4], b[4];
            fragment<Real, History, metric>(w_i, column_i, request, base, at, own, a);
            fragment<Real, History, metric>(w_j, column_j, request, base, at, own, b);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                multiply_8x8x4(over_free[0], over_free[1], own.free >> (at + e) & 1 ? a[e] : 0.0, b[e]);
                multiply_8x8x4(over_all[0], over_all[1], a[e], b[e]);
            }
        }
    }

    for (int k = 0; k < 2; k++) {
        over_free_sums[warp][c * column_block + 2 * r + k] = over_free[k];
        over_all_sums[warp][c * column_block + 2 * r + k] = over_all[k];
    }
    const WarpSums sums(own_sums);
    if (lane == 0)
        for (int k = 0; k < WarpSums::size; k++) warp_sums[warp][k] = sums.v[k];
    __syncthreads();

    const auto sum_at = [&](const double(&of_warps)[products_warps][products]) {
        double sum = 0;
        for (int k = 0; k < products_warps; k++) sum += of_warps[k][threadIdx.x];
        return sum;
    };
    const auto store = [&](int entry, double value) {
        partials[static_cast<int64_t>(entry) * gridDim.y + pieces.place(blockIdx.y)] = value;
    };
    if (threadIdx.x < products) {
        const int i = i_block * column_block + threadIdx.x / column_block;
        const int j = j_block * column_block + threadIdx.x % column_block;
        if (i <= j && j < layout.columns)
            store(layout.free_gram + panel::gram_index(i, j, layout.columns), sum_at(over_free_sums));
        if (i < panel::leading && j < layout.columns)
            store(layout.leading_products + i * layout.columns + j, sum_at(over_all_sums));
        if (new_metric && i <= j && j < layout.columns && i >= panel::leading && i % 2 == 1 && j % 2 == 1)
            store(layout.older_steps + panel::older_index(panel::age(i), panel::age(j), request.pairs),
                  sum_at(over_all_sums));
    }
    if (blockIdx.x > 0) return;
    store_row_sums<true>(layout, warp_sums, store);
}

} // namespace cudaopt
