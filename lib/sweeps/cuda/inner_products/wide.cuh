// This header implements sweep 1 on the GPU for many correction pairs. Sweep 1 computes the inner products of the
// columns of the panel: y and s of the pairs, the gradient g and the displacement z (lbfgsb/panel.hpp). A panel is
// called wide if these products do not fit in the registers of one warp.
#pragma once

#include "sweeps/cuda/inner_products/matrix_unit.cuh"
#include "sweeps/cuda/inner_products/own_variables.cuh"

namespace cudaopt {

// OwnVariable is the variable that a lane classifies. The lane adds it to the sums over single variables, and the other
// lanes read it by shuffles.
template <class Real> struct OwnVariable {
    Real g, z; // the gradient and the displacement
    double y;  // the variable's element of y of the newest pair
    panel::Scaling by;
    unsigned free; // bit mask of the free variables among the 32 variables of the warp
};

template <InnerProducts kind, class Real, class History>
__device__ OwnVariable<Real> classify_own_variable(const DeviceVectors<Real, History> &v, const PanelRequest &request,
                                                   int64_t i, LaneSums<Real> &sums) {
    OwnVariable<Real> own{0, 0, 0, {1, 1}, 0};
    const bool inside = i < v.n;
    VariablesAhead<Real, 1> at{{0}, {0}, {0}, {0}, {1}};
    if (inside) {
        at.x[0] = v.x[i], at.g[0] = v.g[i];
        const auto bound = [i](const Real *of_each, double of_all) {
            return of_each ? of_each[i] : static_cast<Real>(of_all);
        };
        const bool bounds = request.free_gram || in_metric(kind);
        at.l[0] = bounds ? bound(v.box.l, v.box.lower_all) : -static_cast<Real>(infinity);
        at.u[0] = bounds ? bound(v.box.u, v.box.upper_all) : static_cast<Real>(infinity);
        if (in_metric(kind)) {
            at.h[0] = v.diagonal[i];
            const int slot = request.newest_slot;
            const bool pair = request.pairs > 0;
            const double stored_y = pair && !request.fresh ? v.y(slot)[i] : 0.0,
                         y = pair && request.fresh ? gradient_change<History>(at.g[0], v.g_base(slot)[i]) : stored_y;
            add_weighted_sums(at.h[0], y, pair ? static_cast<double>(v.s(slot)[i]) : 0.0, request.weighted, sums);
            if (request.weighted) own.by = scaling_of(at.h[0]);
            else at.h[0] = 1;
        }
    } else {
        take_off_variables_past_the_end<kind>(sums, 1, request);
    }
    bool free[1], candidate[1];
    Real z[1];
    double t[1];
    if (classify_variables<kind>(at, request.threshold, sums, free, z, candidate))
        compute_breakpoints<kind>(at, candidate, 0, sums, t);
    own.g = at.g[0];
    own.z = z[0];
    if (inside && request.fresh && request.pairs > 0)
        own.y = gradient_change<History>(at.g[0], v.g_base(request.newest_slot)[i]);
    own.free = __ballot_sync(~0u, free[0]);
    return own;
}
// Loads four variables of panel column j, which are the lane's part of an operand of the tensor-core instruction
// (matrix_unit.cuh). The argument `column` is the stored column, or NULL if there is none. The argument `at` is the
// index of the first of the four among the 32 variables of the warp.
template <class Real, class History, bool metric>
__device__ void fragment(const History *column, int j, const PanelRequest &request, int64_t base, int at,
                         const OwnVariable<Real> &own, double (&to)[4]) {
    if (column) Elements<History, 4>::load(column + base + at).convert(to);
    else to[0] = to[1] = to[2] = to[3] = 0;
    // The first block contains the leading columns of the panel: y and s of the newest pair, g and z.
    if (j / column_block == 0) {
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

constexpr int tile_blocks = 4, tile_columns = tile_blocks * column_block;
constexpr int column_tiles(int columns) { return (columns + tile_columns - 1) / tile_columns; }
constexpr int panel_tiles(int columns) { return column_tiles(columns) * (column_tiles(columns) + 1) / 2; }

// TileVariables describes operand A of one instruction, which multiplies two blocks of 8 columns by a third block. Each
// of the two is multiplied over all variables if over_all is true, otherwise over the free variables. If a block is not
// wanted, it only fills the operand.
struct TileVariables {
    int block[2];
    bool over_all[2], wanted[2];
};
// The Gram matrix of the panel is divided into tiles of 32 x 32 products. The 32 columns of each factor are four blocks
// of 8. In a leading tile, the first block of the first factor contains y and s of the newest pair, g and z. The
// products of this block are needed over all variables, besides those over the free variables.
constexpr int most_tile_pairs = tile_blocks / 2 + 1;
constexpr int pairs_of_tile(bool leading) { return leading ? most_tile_pairs : tile_blocks / 2; }
constexpr TileVariables variables_of_tile_pair(bool leading, int p) {
    if (leading && p == 0) return {{0, 0}, {false, true}, {true, true}};
    const int first = leading ? 2 * p - 1 : 2 * p;
    const bool lone = first + 1 == tile_blocks;
    return {{first, lone ? first : first + 1}, {false, false}, {true, !lone}};
}

// TileProducts adds the products of one tile of 32 x 32 elements of the Gram matrix. Each warp accumulates the products
// over its own variables.
template <bool leading> struct TileProducts {
    // Adds the products over four variables per lane, two per instruction. In a tile on the diagonal of the Gram
    // matrix, products below the diagonal are not needed.
    __device__ static void add(double (&sums)[most_tile_pairs][tile_blocks][4], const double (&a)[tile_blocks][4],
                               const double (&b)[tile_blocks][4], const bool (&is_free)[4], bool diagonal) {
#pragma unroll
        for (int e = 0; e < 4; e += 2)
#pragma unroll
            for (int p = 0; p < pairs_of_tile(leading); p++) {
                const TileVariables of = variables_of_tile_pair(leading, p);
                double v[2][2];
#pragma unroll
                for (int half = 0; half < 2; half++)
#pragma unroll
                    for (int k = 0; k < 2; k++)
                        v[half][k] = of.over_all[half] || is_free[e + k] ? a[of.block[half]][e + k] : 0.0;
#pragma unroll
                for (int j = 0; j < tile_blocks; j++)
                    if (!diagonal || j >= of.block[0])
                        multiply_16x8x8(sums[p][j], v[0][0], v[1][0], v[0][1], v[1][1], b[j][e], b[j][e + 1]);
            }
    }
};

// Executes sweep 1 for wide panels. Each block of the grid computes a tile of 32 x 32 products, and gridDim.x blocks
// process the same variables, which they share through the L2 cache. If the Gram matrix has k x k tiles, k + 1 blocks
// read each column.
template <class Real, class History, InnerProducts kind>
__global__ void __launch_bounds__(products_threads, 1)
    inner_products_tile_kernel(DeviceVectors<Real, History> v, PanelRequest request, ProductsLayout layout,
                               Pieces pieces, double *partials) {
    constexpr bool metric = in_metric(kind);
    constexpr int products = 2 * column_block * column_block;
    __shared__ double warp_products[products_warps][products], warp_sums[products_warps][WarpSums::size];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = lane / 4, r = lane % 4;
    // The tiles of the upper triangle are numbered row by row.
    int i_tile = 0, j_tile = blockIdx.x;
    for (const int width = column_tiles(layout.columns); j_tile >= width - i_tile; i_tile++) j_tile -= width - i_tile;
    j_tile += i_tile;
    const bool diagonal = i_tile == j_tile, leading = i_tile == 0;

    // The kernel stores y of the newest pair for sweep 2. It computes y = g - g_base itself, so it does not read that
    // column.
    const bool stores_y = v.apart && request.fresh && request.pairs > 0;
    const auto column = [&](int j) { return stores_y && j == panel::y_column(0) ? nullptr : v.column(request, j); };
    const History *w_i[tile_blocks], *w_j[tile_blocks];
#pragma unroll
    for (int b = 0; b < tile_blocks; b++) {
        w_i[b] = column(i_tile * tile_columns + b * column_block + c);
        w_j[b] = column(j_tile * tile_columns + b * column_block + c);
    }
    double sums[most_tile_pairs][tile_blocks][4] = {};
    LaneSums<Real> own_sums;
    const BlockShare share = pieces.share(v.n, 32, blockIdx.y, gridDim.y, products_warps);
    for (int64_t tile = share.begin + share.offset + warp; tile < share.end; tile += share.step) {
        const int64_t base = tile * 32;
        const OwnVariable<Real> own = classify_own_variable<kind>(v, request, base + lane, own_sums);
        if (stores_y && blockIdx.x == 0 && base + lane < v.n)
            v.y(request.newest_slot)[base + lane] = static_cast<History>(own.y);
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            const int at = half * 16 + r * 4;
            double a[tile_blocks][4], b[tile_blocks][4];
#pragma unroll
            for (int k = 0; k < tile_blocks; k++) {
                const int column = k * column_block + c;
                fragment<Real, History, metric>(w_i[k], i_tile * tile_columns + column, request, base, at, own, a[k]);
                fragment<Real, History, metric>(w_j[k], j_tile * tile_columns + column, request, base, at, own, b[k]);
            }
            bool is_free[4];
#pragma unroll
            for (int e = 0; e < 4; e++) is_free[e] = own.free >> (at + e) & 1;
            if (leading) TileProducts<true>::add(sums, a, b, is_free, diagonal);
            else TileProducts<false>::add(sums, a, b, is_free, diagonal);
        }
    }
    const WarpSums variable_sums(own_sums);
    if (lane == 0)
        for (int k = 0; k < WarpSums::size; k++) warp_sums[warp][k] = variable_sums.v[k];

    const auto store = [&](int entry, double value) {
        partials[static_cast<int64_t>(entry) * gridDim.y + pieces.place(blockIdx.y)] = value;
    };
    const auto store_product = [&](int i, int j, bool over_all, double value) {
        if (j >= layout.columns) return;
        if (!over_all && i <= j) store_over_free(request, layout, i, j, value, store);
        if (over_all && i < panel::leading && !forms_older_steps_alone(request))
            store(layout.leading_products + i * layout.columns + j, value);
    };
    // The warps' sums for a tile are added one after the other, because this needs little shared memory.
#pragma unroll
    for (int p = 0; p < most_tile_pairs; p++)
#pragma unroll
        for (int j = 0; j < tile_blocks; j++) {
            double *const to = warp_products[warp] + c * column_block + 2 * r;
            to[0] = sums[p][j][0], to[1] = sums[p][j][1];
            to[products / 2] = sums[p][j][2], to[products / 2 + 1] = sums[p][j][3];
            __syncthreads();
            if (threadIdx.x < products && p < pairs_of_tile(leading)) {
                const TileVariables of = variables_of_tile_pair(leading, p);
                const int half = threadIdx.x / (products / 2), place = threadIdx.x % (products / 2);
                double sum = 0;
                for (int k = 0; k < products_warps; k++) sum += warp_products[k][threadIdx.x];
                if (half == 0 ? of.wanted[0] : of.wanted[1])
                    store_product(i_tile * tile_columns + (half == 0 ? of.block[0] : of.block[1]) * column_block +
                                      place / column_block,
                                  j_tile * tile_columns + j * column_block + place % column_block,
                                  half == 0 ? of.over_all[0] : of.over_all[1], sum);
            }
            __syncthreads();
        }
    if (blockIdx.x > 0 || forms_older_steps_alone(request)) return;
    store_variable_sums<true>(layout, warp_sums, store);
}

} // namespace cudaopt
