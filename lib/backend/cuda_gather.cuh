// Sweep 1 on the GPU: row sums, the masked Gram matrix and the products of the special columns, in one reading.
//
// A warp takes 32 rows at a time; lane i owns row i for what concerns x, g, l and u. For the products, lane (c, r)
// holds four rows of column c of each block of 8 columns: exactly the fragments of the matrix unit, for A and for B at
// once, since the order of the rows is of no consequence to a sum over them.
//
// Which rows a warp takes is a function of n and of the number of columns alone, so the sums have the same bits in each
// run. Partial sums stand as [entry][block], so that reduce_partials reads them in order.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "backend/cuda_matrix_unit.cuh"
#include "backend/cuda_rows.cuh"

namespace cudaopt {

// Panels of up to 5 blocks of columns (19 pairs): each warp keeps all products in its registers and stages its rows in
// shared memory through a ring of asynchronous copies of its own, so that no warp waits for another. The 16-row
// instruction multiplies two blocks of columns at once.
//
// A stage holds 32 rows of the panel's columns, then l, u and h; x stands in the place of z until z is known.
constexpr int resident_blocks(int blocks) { return blocks <= 3 ? 2 : 1; }

template <class Real> struct Stage {
    // Columns lie so far apart that the lanes of an access to two rows fall on different banks.
    static constexpr int stride = 40;
    static constexpr int extra_columns = 3;
    static constexpr int elements(int columns) { return (columns + extra_columns) * stride; }
    static constexpr int bytes(int columns) { return elements(columns) * static_cast<int>(sizeof(Real)); }
};

// In front of the stages: where the stored columns begin.
constexpr int pointer_table_bytes(int columns) { return (columns * static_cast<int>(sizeof(void *)) + 15) / 16 * 16; }

// Stages a warp can have with so much shared memory for its block. How many there are changes no sum.
constexpr int most_stages = 4;
template <class Real> int stages_within(int block_bytes, int columns) {
    return std::max(1, std::min(most_stages, (block_bytes - pointer_table_bytes(columns)) /
                                                 (gather_warps * Stage<Real>::bytes(columns))));
}

// Ask for 32 rows of a tile. `columns` are the stored ones: y_0, s_0, y_1, s_1, ... from the newest on. Every warp
// commits once a tile, also where there is nothing left to ask for.
template <class Real, int blocks>
__device__ void ask_for_rows(const DeviceVectors<Real> &v, const GatherRequest &request, const GatherLayout &layout,
                             bool weighted, const Real *const *columns, int64_t tile, int64_t tiles, Real *stage) {
    constexpr int stride = Stage<Real>::stride, piece = 16 / sizeof(Real), pieces = 32 / piece;
    constexpr int columns_at_once = 32 / pieces, most_columns = blocks * column_block - 2;
    const int lane = threadIdx.x % 32, first = lane / pieces, at = lane % pieces * piece;
    if (tile < tiles) {
        const int64_t base = tile * 32, i = base + lane;
#pragma unroll
        for (int k0 = 0; k0 < most_columns; k0 += columns_at_once) {
            const int k = k0 + first, column = k < 2 ? k : panel::special + k - 2;
            if (k < 2 * request.pairs)
                __pipeline_memcpy_async(stage + column * stride + at, columns[k] + base + at, 16);
        }
        // The caller's arrays need not be aligned to more than their elements, and end at n.
        const auto own = [&](const Real *from, int column) {
            if (i < v.n) __pipeline_memcpy_async(stage + column * stride + lane, from + i, sizeof(Real));
            else stage[column * stride + lane] = 0;
        };
        own(v.x, panel::displacement);
        own(v.g, panel::gradient);
        if (v.box.l) own(v.box.l, layout.columns);
        if (v.box.u) own(v.box.u, layout.columns + 1);
        if (weighted) own(v.diagonal, layout.columns + 2);
    }
    __pipeline_commit();
}

// What a lane accumulates: its elements of the 8 x 8 tiles of products.
template <int blocks, bool masked> struct LaneProducts {
    // Over the free rows: blocks i and i + 1, i even, times every block j >= i; where the last has no partner, the
    // lower half goes nowhere.
    double over_free[masked ? (blocks + 1) / 2 : 1][blocks][4] = {};
    // Block 0 times every block: over the rows that are not free, or over all rows where the masked products are not
    // wanted. The products over all rows are the sum of both.
    double first_rows[blocks][2] = {};

    static constexpr int tiles = (masked ? 2 * ((blocks + 1) / 2) * blocks : 0) + blocks;

    // Eight rows, two a lane.
    __device__ void add_free(const double (&w)[blocks][2]) {
#pragma unroll
        for (int p = 0; p < (blocks + 1) / 2; p++) {
            const int i = 2 * p, partner = i + 1 < blocks ? i + 1 : i;
#pragma unroll
            for (int j = i; j < blocks; j++)
                multiply_16x8x8(over_free[p][j], w[i][0], w[partner][0], w[i][1], w[partner][1], w[j][0], w[j][1]);
        }
    }
    __device__ void add_first_rows(const double (&of_block_0)[2], const double (&w)[blocks][2]) {
#pragma unroll
        for (int e = 0; e < 2; e++)
#pragma unroll
            for (int j = 0; j < blocks; j++) multiply_8x8x4(first_rows[j][0], first_rows[j][1], of_block_0[e], w[j][e]);
    }

    // To `to`, tile after tile: first rows j = 0.., then for each pair of blocks and each j the upper and lower tile.
    // An element of a tile stands at 8 row + column.
    __device__ void store(double *to) const {
        const int lane = threadIdx.x % 32, at = lane / 4 * column_block + lane % 4 * 2;
        int tile = 0;
        const auto put = [&](double c0, double c1) {
            to[tile * 64 + at] = c0;
            to[tile++ * 64 + at + 1] = c1;
        };
#pragma unroll
        for (int j = 0; j < blocks; j++) put(first_rows[j][0], first_rows[j][1]);
        if constexpr (masked) {
#pragma unroll
            for (int p = 0; p < (blocks + 1) / 2; p++)
#pragma unroll
                for (int j = 0; j < blocks; j++) {
                    put(over_free[p][j][0], over_free[p][j][1]);
                    put(over_free[p][j][2], over_free[p][j][3]);
                }
        }
    }
    // Where the element i, j of the products stands, i <= j or i < 8.
    __device__ static int place_of_first_row(int i, int j) {
        return j / column_block * 64 + i * column_block + j % column_block;
    }
    __device__ static int place_over_free(int i, int j) {
        const int i_block = i / column_block, j_block = j / column_block;
        const int tile = blocks + (i_block / 2 * blocks + j_block) * 2 + i_block % 2;
        return tile * 64 + i % column_block * column_block + j % column_block;
    }
};

template <class Real, int blocks, bool masked, bool weighted>
__global__ void __launch_bounds__(gather_threads, resident_blocks(blocks))
    gather_kernel(DeviceVectors<Real> v, GatherRequest request, GatherLayout layout, int stages, double *partials) {
    constexpr int stride = Stage<Real>::stride;
    using Products = LaneProducts<blocks, masked>;
    extern __shared__ __align__(16) unsigned char shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = lane / 4, r = lane % 4, columns = layout.columns;
    const Real **const stored = reinterpret_cast<const Real **>(shared);
    Real *const ring = reinterpret_cast<Real *>(shared + pointer_table_bytes(columns)) +
                       warp * stages * Stage<Real>::elements(columns);
    for (int k = threadIdx.x; k < 2 * request.pairs; k += gather_threads)
        stored[k] = v.column(request, k < 2 ? k : panel::special + k - 2);
    __syncthreads();

    int place[blocks]; // of the lane's columns in a stage; what columns past the end give is not used
#pragma unroll
    for (int b = 0; b < blocks; b++) place[b] = min(b * column_block + c, columns - 1) * stride;
    Products products;
    LaneSums own_sums;

    const int64_t tiles = (v.n + 31) / 32, step = static_cast<int64_t>(gridDim.x) * gather_warps;
    const int64_t first_tile = static_cast<int64_t>(blockIdx.x) * gather_warps + warp;
    for (int s = 0; s < stages - 1; s++)
        ask_for_rows<Real, blocks>(v, request, layout, weighted, stored, first_tile + s * step, tiles,
                                   ring + s * Stage<Real>::elements(columns));
    int now = 0, ahead = stages - 1;
    for (int64_t tile = first_tile; tile < tiles; tile += step) {
        ask_for_rows<Real, blocks>(v, request, layout, weighted, stored, tile + (stages - 1) * step, tiles,
                                   ring + ahead * Stage<Real>::elements(columns));
        switch (stages) { // all but the latest stages - 1 requests are complete
        case 1: __pipeline_wait_prior(0); break;
        case 2: __pipeline_wait_prior(1); break;
        case 3: __pipeline_wait_prior(2); break;
        default: __pipeline_wait_prior(most_stages - 1);
        }
        __syncwarp();
        Real *const stage = ring + now * Stage<Real>::elements(columns);
        now = now + 1 == stages ? 0 : now + 1;
        ahead = ahead + 1 == stages ? 0 : ahead + 1;

        const Row at{stage[panel::displacement * stride + lane], stage[panel::gradient * stride + lane],
                     v.box.l ? static_cast<double>(stage[columns * stride + lane]) : -infinity,
                     v.box.u ? static_cast<double>(stage[(columns + 1) * stride + lane]) : infinity};
        const double h = weighted ? static_cast<double>(stage[(columns + 2) * stride + lane]) : 1.0;
        double z;
        const unsigned free =
            __ballot_sync(~0u, look_at_row(at, tile * 32 + lane < v.n, h, request.threshold, own_sums, z));
        if (request.threshold > 0) {
            stage[panel::displacement * stride + lane] = static_cast<Real>(z);
            __syncwarp();
        }

#pragma unroll
        for (int quarter = 0; quarter < 4; quarter++) {
            const int row = quarter * 8 + r * 2; // of the lane's two rows
            double w[blocks][2];
#pragma unroll
            for (int b = 0; b < blocks; b++) load2(stage + place[b] + row, w[b]);
            if (request.fresh) { // y = g - g_base, in the lanes of column 0
                double g[2];
                load2(stage + panel::gradient * stride + row, g);
                w[0][0] = c == 0 ? g[0] - w[0][0] : w[0][0];
                w[0][1] = c == 0 ? g[1] - w[0][1] : w[0][1];
            }
            if (weighted) {
                double scale[2];
                load2(stage + (columns + 2) * stride + row, scale);
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const double root = sqrt(tile * 32 + row + e < v.n ? scale[e] : 1.0);
#pragma unroll
                    for (int b = 0; b < blocks; b++) w[b][e] = scaled_by(root, b * column_block + c, w[b][e]);
                }
            }
            if constexpr (!masked) {
                products.add_first_rows(w[0], w);
            } else if (free == ~0u) {
                products.add_free(w);
            } else { // columns of the rows that are not free into the first rows, the others into the free products
                const bool free0 = free >> row & 1, free1 = free >> (row + 1) & 1;
                const double rest[2] = {free0 ? 0.0 : w[0][0], free1 ? 0.0 : w[0][1]};
                products.add_first_rows(rest, w);
#pragma unroll
                for (int b = 0; b < blocks; b++) w[b][0] = free0 ? w[b][0] : 0.0, w[b][1] = free1 ? w[b][1] : 0.0;
                products.add_free(w);
            }
        }
        __syncwarp(); // the stage is free for the rows after next
    }
    __pipeline_wait_prior(0);
    __syncthreads(); // the ring becomes the place where the warps' sums meet
    double *const warp_products = reinterpret_cast<double *>(shared);
    __shared__ double row_sums[row_sum_count], maximum, minimum;
    if (threadIdx.x < row_sum_count) row_sums[threadIdx.x] = 0;
    if (threadIdx.x == 0) maximum = 0, minimum = infinity;
    products.store(warp_products + warp * Products::tiles * 64);
    for (int turn = 0; turn < gather_warps; turn++) {
        __syncthreads();
        if (warp == turn) add_row_sums(own_sums, row_sums, maximum, minimum);
    }
    __syncthreads();

    // A thread an element, warp after warp, straight to the block's place among the partial sums.
    const auto sum_at = [&](int place) {
        double sum = 0;
        for (int k = 0; k < gather_warps; k++) sum += warp_products[k * Products::tiles * 64 + place];
        return sum;
    };
    const auto store = [&](int entry, double value) {
        partials[static_cast<int64_t>(entry) * gridDim.x + blockIdx.x] = value;
    };
    for (int e = threadIdx.x; e < columns * columns; e += gather_threads) {
        const int i = e / columns, j = e % columns;
        if (masked && i <= j) {
            store(layout.masked + panel::masked_index(i, j, columns), sum_at(Products::place_over_free(i, j)));
        }
        if (i < panel::special) {
            const int upper = i < j ? i : j, lower = i < j ? j : i;
            const double rest = sum_at(Products::place_of_first_row(i, j));
            store(layout.full + i * columns + j,
                  masked ? rest + sum_at(Products::place_over_free(upper, lower)) : rest);
        }
    }
    if (threadIdx.x < row_sum_count) store(threadIdx.x, row_sums[threadIdx.x]);
    if (threadIdx.x == 0) {
        store(layout.maximum, maximum);
        store(layout.minimum, minimum);
    }
    if (!masked)
        for (int e = layout.masked + threadIdx.x; e < layout.full; e += gather_threads) store(e, 0);
}

} // namespace cudaopt
