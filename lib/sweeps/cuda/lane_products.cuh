// The inner products of sweep 1 as the matrix unit forms them, eight rows at a time.
#pragma once

#include "sweeps/cuda/matrix_unit.cuh"
#include "sweeps/cuda/device_variables.cuh"

namespace cudaopt {

// The panel as the kernel multiplies it: its columns and, where the products over the free variables are wanted, the
// leading columns once more. Products with a column are over the free rows; with its second appearance, over all rows.
// A panel of one block needs no second appearance: one instruction multiplies both its free rows and all its rows by
// it. In a new metric those of the older steps are wanted over all rows, too: they appear last, and are multiplied over
// the rows that are not free, which in many octets are none.
constexpr int multiplied_columns(int columns, InnerProducts kind) {
    if (!over_free_variables(kind) || columns <= column_block) return columns;
    return columns + panel::leading + (kind == InnerProducts::new_diagonal ? panel::older(panel::pairs(columns)) : 0);
}
constexpr int column_blocks(int columns) { return (columns + column_block - 1) / column_block; }

// Which panels are multiplied as so many blocks of columns.
struct PanelsOfBlocks {
    int least_pairs = 0, most_pairs = 0; // 0: none
    constexpr PanelsOfBlocks(int blocks, InnerProducts kind) {
        for (int pairs = 1; column_blocks(multiplied_columns(panel::columns(pairs), kind)) <= blocks; pairs++)
            if (column_blocks(multiplied_columns(panel::columns(pairs), kind)) == blocks) {
                if (least_pairs == 0) least_pairs = pairs;
                most_pairs = pairs;
            }
    }
    // Blocks with columns' first appearances; those that octets of free rows alone need; the first that octets
    // without a free row need.
    constexpr int rows_of_products() const { return column_blocks(panel::columns(most_pairs)); }
    constexpr int over_free_alone() const { return column_blocks(panel::columns(most_pairs) + panel::leading); }
    constexpr int second_from() const { return panel::columns(least_pairs) / column_block; }
};

// One instruction of the matrix unit: two blocks of columns times one.
struct BlockProduct {
    int first, second, by;
    // A tile of a lone block has it twice, and its lower half is not used.
    constexpr bool of(int block, int other) const { return by == other && (first == block || second == block); }
};

// The instructions for a panel of so many blocks. The products are symmetric, so it is free which of two blocks a pair
// of them is multiplied by, and two pairs with a block in common are one instruction: no more than one half of those
// before the last two blocks is in vain. By the last two, where second appearances stand, all blocks before them are
// multiplied. Without products over the free variables, all columns times block 0.
template <int blocks, InnerProducts kind> struct BlockProducts {
    int count = 0;
    BlockProduct list[blocks * (blocks + 1) / 2] = {};

    constexpr BlockProducts() {
        if (!over_free_variables(kind)) {
            times(0, blocks, 0);
        } else if (kind == InnerProducts::new_diagonal) {
            const int of_rows = PanelsOfBlocks(blocks, kind).rows_of_products();
            for (int i = 0; i < of_rows; i += 2)
                for (int by = i; by < blocks; by++) add(i, i + 1 < of_rows ? i + 1 : i, by);
        } else {
            const int symmetric = blocks > 2 ? blocks - 2 : 0;
            for (int by = 0; by < symmetric; by++) {
                // With itself and those behind it, and those before it that were left to it: an even number, where the
                // last of these blocks can take what would be one too many.
                const bool left = (symmetric - by) % 2 == 1 && by + 1 < symmetric;
                if (by + 1 < symmetric) times(by, left ? symmetric - 1 : symmetric, by);
                else times_last(by);
            }
            for (int by = symmetric; by < blocks; by++) times(0, by + 1, by);
        }
    }
    // Whether each product that is wanted is there; by the last two blocks, with those as the factor.
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
            if ((last + 1 - i) % 2 == 0) continue; // it was multiplied by i
            if (waiting < 0) waiting = i;
            else add(waiting, i, last), waiting = -1;
        }
        if (waiting >= 0) add(waiting, waiting, last);
    }
};

// What a lane accumulates: its elements of tiles of 16 x 8 products, two blocks of columns times one. The instruction
// for 16 rows has twice the rate of the one for 8.
template <int blocks, InnerProducts kind> struct LaneProducts {
    static constexpr bool free_gram = over_free_variables(kind);
    static constexpr bool one_tile = free_gram && blocks == 1; // upper half: over the free rows; lower half: over all
    static constexpr BlockProducts<blocks, kind> products{};
    static_assert(products.complete() || kind == InnerProducts::new_diagonal, "each pair of blocks has its product");
    static constexpr int tiles = products.count, tile_size = 2 * column_block * column_block,
                         elements = tiles * tile_size;

    double sums[tiles][4] = {};

    // Eight rows, two a lane: w'v, where the columns of v are 0 but for those of the blocks from, ..., to - 1.
    template <int from = 0, int to = blocks>
    __device__ void add(const double (&w)[blocks][2], const double (&v)[blocks][2]) {
        if constexpr (one_tile) {
            multiply_16x8x8(sums[0], v[0][0], w[0][0], v[0][1], w[0][1], w[0][0], w[0][1]);
        } else {
            constexpr BlockProducts<blocks, kind> all{};
#pragma unroll
            for (int t = 0; t < tiles; t++) {
                const int i = all.list[t].first, second = all.list[t].second, by = all.list[t].by;
                if (by >= from && by < to)
                    multiply_16x8x8(sums[t], w[i][0], w[second][0], w[i][1], w[second][1], v[by][0], v[by][1]);
            }
        }
    }

    // To `to`, tile after tile; an element of a tile stands at 8 row + column.
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
    // Where the product of columns i <= j over the free rows stands, and of leading column i with j over all rows.
    __device__ static int place_over_free(int i, int j) { return place(i, j); }
    __device__ static int place_over_all(int i, int j, int columns) {
        return one_tile ? (column_block + i) * column_block + j : free_gram ? place(j, columns + i) : place(j, i);
    }

    // Where the product of column i with the step of this age stands, over the rows that are not free.
    __device__ static int place_over_held(int i, int age, int columns) {
        return place(i, columns + panel::leading + age - 1);
    }

  private:
    // Of column i times column j, or, where their blocks are multiplied the other way round, of j times i.
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
