// What both kernels of sweep 1 do with the rows of a lane, and with the sums of a block.
#pragma once

#include "sweeps/cuda/crossed.cuh"
#include "sweeps/cuda/pieces.hpp"
#include "sweeps/cuda/ring.cuh"

namespace cudaopt {

// Which piece is the block's, where there are any: the last ones come first, as rows do.
__device__ inline int block_of_pieces(const Pieces &pieces) {
    return static_cast<int>(pieces.by_segments() ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
}

// The tiles of a warp: first, first - step, ..., none before begin. From the last to the first: evaluations and sweep 2
// go the other way, so that each finds in the second-level cache what the one before it touched last.
struct WarpTiles {
    int first, begin, step;
    __device__ WarpTiles(const Pieces &pieces, int64_t n, int rows) {
        const BlockShare share = pieces.share(n, rows, block_of_pieces(pieces), gridDim.x, products_warps);
        begin = static_cast<int>(share.begin), step = static_cast<int>(share.step);
        first = static_cast<int>(share.end - 1 - (share.offset + threadIdx.x / 32));
    }
};

// The lane's own rows of a tile, h but for products in a metric. Of a fresh pair y_new = g - g_base, of which g_base is
// stored, is formed on the way; rounded as it will be stored. Where g_base has a vector of its own, y_new is stored at
// once, so that sweep 2 reads the column newest_y and not g_base: kept in the cache or not. Returns whether any of it
// is not 0.
template <bool bounds, class Real, class History, int rows>
__device__ bool load_own_rows(const StageLayout<Real, History> &place, unsigned char *stage,
                              const PanelRequest &request, int tile, [[maybe_unused]] const History *newest_y,
                              RowsAhead<Real, rows> &at) {
    const int own = threadIdx.x % 32 * rows;
    const auto mine = [&](int vector) { return place.vector(stage, vector) + own; };
    load_rows(mine(place.x), at.x);
    load_rows(mine(place.g), at.g);
    if (bounds) {
        load_rows(mine(place.l), at.l);
        load_rows(mine(place.u), at.u);
    }
    if (!request.fresh) return false;
    History *const y_new = place.column(stage, 0) + own;
    alignas(rows * sizeof(Real)) Real g_base[rows];
    if constexpr (DeviceVectors<Real, History>::apart) load_rows(mine(place.g_base), g_base);
    else load_rows(y_new, g_base);
    Elements<History, rows> y;
#pragma unroll
    for (int k = 0; k < rows; k++) y.v[k] = gradient_change<History>(at.g[k], g_base[k]);
    y.store(y_new);
    if constexpr (DeviceVectors<Real, History>::apart) {
        constexpr int tile_rows = rows_of_warp<Real, History>;
        History *const y_to = const_cast<History *>(newest_y) + int64_t{tile} * tile_rows + own;
        if (tile < kept_rows<History> / tile_rows) y.store_kept(y_to);
        else y.store(y_to);
    }
    bool any = false;
#pragma unroll
    for (int k = 0; k < rows; k++) any |= y[k] != 0;
    return any;
}

// The lanes' rows with breakpoints t that are wanted ahead. first: of the tile; factor(row, column): what scales an
// entry in a metric, 1 without. All lanes of a warp call it.
template <class Real, class History, int rows, class Factor>
__device__ void send_own_rows(const StageLayout<Real, History> &place, unsigned char *stage, int64_t first,
                              const RowsAhead<Real, rows> &at, const double (&t)[rows], int columns,
                              const SendAhead &ahead, const Factor &factor) {
    const auto entry = [&](int64_t row, int j) {
        const int in_tile = static_cast<int>(row - first);
        return factor(in_tile, j) * static_cast<double>(place.column(stage, place.stored(j))[in_tile]);
    };
#pragma unroll
    for (int k = 0; k < rows; k++) {
        const int own = threadIdx.x % 32 * rows + k;
        const double x = at.x[k], bound = bound_ahead(at.g[k], at.l[k], at.u[k]);
        send_rows(
            t[k] <= ahead.below,
            {t[k], first + own, factor(own, panel::gradient) * at.g[k], factor(own, panel::displacement) * (bound - x)},
            columns, entry, ahead.to);
    }
}

// The block's partial sums of the rows, warp after warp, straight to their place; zeros for products over the free rows
// that are not wanted. store(entry, value)
template <bool free_gram, class Store>
__device__ void store_row_sums(const ProductsLayout &layout, const double (&of_warps)[products_warps][WarpSums::size],
                               const Store &store) {
    if (threadIdx.x < WarpSums::size)
        store(threadIdx.x < row_sum_count ? threadIdx.x : layout.maximum + threadIdx.x - row_sum_count,
              WarpSums::join(of_warps, threadIdx.x));
    if (!free_gram)
        for (int e = layout.free_gram + threadIdx.x; e < layout.leading_products; e += products_threads) store(e, 0);
}

} // namespace cudaopt
