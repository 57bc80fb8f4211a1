// This header computes the inner products of the columns of the panel (y, s, g and z, lbfgsb/panel.hpp) on the tensor
// cores in double precision. The sweep that needs them is called sweep 1. Each instruction processes eight variables.
#pragma once

#include "sweeps/cuda/inner_products/matrix_unit.cuh"
#include "sweeps/cuda/support/device_variables.cuh"

namespace cudaopt {

// The kernel multiplies matrices whose columns are panel columns. Returns the number of columns of the second factor.
// It begins with all columns of the panel. If products over the free variables are requested, these columns contain
// only the free variables. The leading columns (y and s of the newest pair, g and z) then follow a second time, with
// all variables. Products with the first appearance of a column are sums over the free variables, and products with its
// second appearance are sums over all variables. A panel of one block of 8 columns needs no second appearance, because
// one instruction then computes both kinds of sums.
constexpr int multiplied_columns(int columns, InnerProducts kind) {
    return over_free_variables(kind) && columns > column_block ? columns + panel::leading : columns;
}
constexpr int column_blocks(int columns) { return (columns + column_block - 1) / column_block; }

// Returns the largest number of pairs for which the multiplied columns fill the given number of blocks of 8 columns.
constexpr int most_pairs(int blocks, InnerProducts kind) {
    int pairs = 0;
    while (column_blocks(multiplied_columns(panel::columns(pairs + 1), kind)) <= blocks) pairs++;
    return pairs;
}

// BlockProduct is one tensor-core instruction. It multiplies two blocks of 8 columns, `first` and `second`, by the
// block `by`.
struct BlockProduct {
    int first, second, by;
    // If only one block is multiplied by `by`, first = second, and the lower half of the result is not used.
    constexpr bool of(int block, int other) const { return by == other && (first == block || second == block); }
};

// BlockProducts lists the tensor-core instructions for the inner products of the given number of blocks of 8 columns.
// One instruction computes two products of blocks with a common factor `by`. The products are symmetric, so either of
// two blocks may be this factor. Among the blocks before the last two, at most one half of an instruction is wasted.
// The last two blocks contain the second appearances of columns (multiplied_columns()). They are factors `by` of
// products with all blocks up to themselves. Without products over the free variables, all blocks are multiplied by
// block 0.
template <int blocks, InnerProducts kind> struct BlockProducts {
    int count = 0;
    BlockProduct list[blocks * (blocks + 1) / 2] = {};

    constexpr BlockProducts() {
        if (!over_free_variables(kind)) {
            times(0, blocks, 0);
        } else {
            const int symmetric = blocks > 2 ? blocks - 2 : 0;
            for (int by = 0; by < symmetric; by++) {
                // Block `by` is multiplied by itself and by the later blocks, two per instruction. If their number is
                // odd, the product with the last of them is left to times_last(), so that an even number remains.
                const bool left = (symmetric - by) % 2 == 1 && by + 1 < symmetric;
                if (by + 1 < symmetric) times(by, left ? symmetric - 1 : symmetric, by);
                else times_last(by);
            }
            for (int by = symmetric; by < blocks; by++) times(0, by + 1, by);
        }
    }
    // Returns whether the list contains all required products. A product with one of the last two blocks must have this
    // block as the factor `by`.
    constexpr bool complete() const {
        for (int by = 0; by < blocks; by++)
            for (int block = 0; block < blocks; block++) {
                const bool wanted = over_free_variables(kind) ? block <= by : by == 0;
                const bool either = over_free_variables(kind) && by < blocks - 2;
                if (wanted && !has(block, by) && !(either && has(by, block))) return false;
            }
        return true;
    }
    constexpr bool has(int block, int by) const {
        for (int t = 0; t < count; t++)
            if (list[t].of(block, by)) return true;
        return false;
    }

  private:
    constexpr void add(int first, int second, int by) { list[count++] = {first, second, by}; }
    constexpr void times(int from, int to, int by) {
        for (int i = from; i < to; i += 2) add(i, i + 1 < to ? i + 1 : i, by);
    }
    constexpr void times_last(int last) {
        int waiting = last;
        for (int i = 0; i < last; i++) {
            // The constructor has already listed the product of blocks i and `last`, with block i as the factor `by`.
            if ((last + 1 - i) % 2 == 0) continue;
            if (waiting < 0) waiting = i;
            else add(waiting, i, last), waiting = -1;
        }
        if (waiting >= 0) add(waiting, waiting, last);
    }
};

// LaneProducts contains the accumulators of a lane. Each instruction of BlockProducts accumulates a tile of 16 x 8
// products, of which the lane holds four. The instruction for 16 rows has twice the throughput of the instruction for 8
// rows.
template <int blocks, InnerProducts kind> struct LaneProducts {
    static constexpr bool free_gram = over_free_variables(kind);
    // The flag one_tile is true if all columns are in one block. One tile then contains all products. Its upper half is
    // over the free variables, and its lower half is over all variables.
    static constexpr bool one_tile = free_gram && blocks == 1;
    static constexpr BlockProducts<blocks, kind> products{};
    static_assert(products.complete(), "each pair of blocks has its product");
    static constexpr int tiles = products.count, tile_size = 2 * column_block * column_block,
                         elements = tiles * tile_size;

    double sums[tiles][4] = {};

    // Adds to `sums` the products of the columns w with the columns v over eight variables. The columns are in blocks
    // of eight. Four lanes share one column of each block, and each of them has two of its eight elements
    // (matrix_unit.cuh). Only the blocks b of v with from <= b may have elements that are not 0.
    template <int from = 0> __device__ void add(const double (&w)[blocks][2], const double (&v)[blocks][2]) {
        if constexpr (one_tile) {
            multiply_16x8x8(sums[0], v[0][0], w[0][0], v[0][1], w[0][1], w[0][0], w[0][1]);
        } else {
            constexpr BlockProducts<blocks, kind> all{};
#pragma unroll
            for (int t = 0; t < tiles; t++) {
                const int i = all.list[t].first, second = all.list[t].second, by = all.list[t].by;
                if (by >= from)
                    multiply_16x8x8(sums[t], w[i][0], w[second][0], w[i][1], w[second][1], v[by][0], v[by][1]);
            }
        }
    }

    // Writes the tiles one after the other. Element (row, column) of a tile has the index 8 row + column.
    __device__ void store(double *to) const {
        const int lane = threadIdx.x % 32, at = lane / 4 * column_block + lane % 4 * 2;
#pragma unroll
        for (int t = 0; t < tiles; t++) {
            double *const tile_to = to + t * tile_size + at;
            tile_to[0] = sums[t][0], tile_to[1] = sums[t][1];
            tile_to[column_block * column_block] = sums[t][2];
            tile_to[column_block * column_block + 1] = sums[t][3];
        }
    }
    // These functions return the index of the product of panel columns i and j in the array that store() writes. The
    // function place_over_free() is for products over the free variables, with i <= j. The function place_over_all() is
    // for products over all variables, where column i is y or s of the newest pair, g or z.
    __device__ static int place_over_free(int i, int j) { return place(i, j); }
    __device__ static int place_over_all(int i, int j, int columns) {
        return one_tile ? (column_block + i) * column_block + j : free_gram ? place(j, columns + i) : place(j, i);
    }

  private:
    // Returns the index of the product of columns i and j, which may be stored as the product of j and i.
    __device__ static int place(int i, int j) {
        constexpr BlockProducts<blocks, kind> all{};
        const int block_i = i / column_block, block_j = j / column_block;
        int found = 0, turned = 0;
#pragma unroll
        for (int t = 0; t < tiles; t++) {
            const BlockProduct product = all.list[t];
            if (product.of(block_i, block_j)) found = place_in(t, product.first != block_i, i, j);
            else if (product.of(block_j, block_i)) turned = place_in(t, product.first != block_j, j, i);
        }
        return found > 0 ? found - 1 : turned - 1;
    }
    __device__ static int place_in(int tile, bool second, int i, int j) {
        return 1 + tile * tile_size + (second ? column_block * column_block : 0) + i % column_block * column_block +
               j % column_block;
    }
};

} // namespace cudaopt
