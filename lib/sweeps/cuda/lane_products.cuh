// The inner products of sweep 1 as the matrix unit forms them, eight rows at a time.
#pragma once

#include "sweeps/cuda/matrix_unit.cuh"
#include "sweeps/cuda/device_rows.cuh"

namespace cudaopt {

// The panel as the kernel multiplies it: its columns and, where the products over the free variables are wanted, the
// leading columns once more. Products with a column are over the free rows; with its second appearance, over all rows.
// A panel of one block needs no second appearance: one instruction multiplies both its free rows and all its rows by
// it. In a new metric those of the older steps are wanted over all rows, too: they appear last, and are multiplied over
// the rows that are not free, which in many octets are none.
constexpr int multiplied_columns(int columns, InnerProducts kind) {
    if (!over_free_rows(kind) || columns <= column_block) return columns;
    return columns + panel::leading + (kind == InnerProducts::new_metric ? panel::older(panel::pairs(columns)) : 0);
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

// What a lane accumulates: its elements of tiles of 16 x 8 products, two blocks of columns times one. The instruction
// for 16 rows has twice the rate of the one for 8.
template <int blocks, InnerProducts kind> struct LaneProducts {
    static constexpr bool free_gram = over_free_rows(kind), new_metric = kind == InnerProducts::new_metric;
    static constexpr int pairs = ((new_metric ? PanelsOfBlocks(blocks, kind).rows_of_products() : blocks) + 1) / 2;
    static constexpr bool one_tile = free_gram && blocks == 1; // upper half: over the free rows; lower half: over all
    // Of the symmetric products, tiles (p, j) with j >= 2 p; without those over the free variables, all columns times
    // block 0.
    static constexpr bool wanted(int p, int j) { return free_gram ? j >= 2 * p : j == 0; }
    __host__ __device__ static constexpr int tile(int p, int j) {
        return free_gram ? p * blocks - p * (p - 1) + j - 2 * p : p;
    }
    static constexpr int tiles = free_gram ? pairs * blocks - pairs * (pairs - 1) : pairs;
    static constexpr int elements = tiles * 2 * column_block * column_block;

    double sums[pairs][free_gram ? blocks : 1][4] = {};

    // Eight rows, two a lane: w'v, where the columns of v are 0 but for those of the blocks from, ..., to - 1.
    template <int from = 0, int to = blocks>
    __device__ void add(const double (&w)[blocks][2], const double (&v)[blocks][2]) {
        if constexpr (one_tile) {
            multiply_16x8x8(sums[0][0], v[0][0], w[0][0], v[0][1], w[0][1], w[0][0], w[0][1]);
        } else {
#pragma unroll
            for (int p = 0; p < pairs; p++) {
                const int i = 2 * p, partner = i + 1 < blocks ? i + 1 : i;
#pragma unroll
                for (int j = from; j < to; j++)
                    if (wanted(p, j))
                        multiply_16x8x8(sums[p][j], w[i][0], w[partner][0], w[i][1], w[partner][1], v[j][0], v[j][1]);
            }
        }
    }

    // To `to`, tile after tile; an element of a tile stands at 8 row + column.
    __device__ void store(double *to) const {
        const int lane = threadIdx.x % 32, at = lane / 4 * column_block + lane % 4 * 2;
#pragma unroll
        for (int p = 0; p < pairs; p++)
#pragma unroll
            for (int j = 0; j < blocks; j++)
                if (wanted(p, j)) {
                    double *const tile_to = to + tile(p, j) * 2 * column_block * column_block + at;
                    tile_to[0] = sums[p][j][0], tile_to[1] = sums[p][j][1];
                    tile_to[column_block * column_block] = sums[p][j][2];
                    tile_to[column_block * column_block + 1] = sums[p][j][3];
                }
    }
    // Where the product of columns i <= j over the free rows stands, and of leading column i with j over all rows.
    __device__ static int place_over_free(int i, int j) { return place(i, j); }
    __device__ static int place_over_all(int i, int j, int columns) {
        return one_tile ? place(column_block + i, j) : free_gram ? place(j, columns + i) : place(j, i);
    }

    // Where the product of column i with the step of this age stands, over the rows that are not free.
    __device__ static int place_over_held(int i, int age, int columns) {
        return place(i, columns + panel::leading + age - 1);
    }

  private:
    __device__ static int place(int i, int j) {
        return (tile(i / (2 * column_block), j / column_block) * 2 * column_block + i % (2 * column_block)) *
                   column_block +
               j % column_block;
    }
};

} // namespace cudaopt
