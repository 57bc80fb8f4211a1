// RectangleProducts holds the products of one rectangle (product_rectangles.hpp) in the registers of a warp. They are
// formed on the tensor cores in single precision, from columns in bfloat16, and added in double precision
// (bfloat16_products.cuh).
#pragma once

#include "sweeps/cuda/inner_products/bfloat16_products.cuh"
#include "sweeps/cuda/inner_products/product_rectangles.hpp"

namespace cudaopt {

// PreparedTile contains, for the variables of a tile, the three parts of the gradient and a mask of the free variables.
// The 16 bits of an element of the mask are set if its variable is free.
template <class Real> struct alignas(16) PreparedTile {
    static constexpr int stride = Stage<Real, bfloat16>::stride;
    bfloat16 parts[gradient_parts][stride];
    bfloat16 mask[stride];
    int any_free; // whether the tile has a free variable
};

template <class Real, bool free_gram> class RectangleProducts {
  public:
    using Map = ProductRectangles<free_gram>;
    using Tile = Stage<Real, bfloat16>;

    // The argument `columns` is the number of multiplied columns. Octets of the rectangle may extend past the last one.
    // They then contain this column again, and the products are not used.
    __device__ RectangleProducts(const typename Map::Rectangle &of, int columns) : leading_(of.band == 0) {
        // Each lane supplies one address to the instruction ldmatrix: that of eight consecutive variables of one
        // column. One ldmatrix loads sixteen variables of two octets. The octets of pair p of the rectangle begin with
        // octet before_pairs + 2p, except those of pair 0 of the first band, which is octet 0 twice.
        const int column = threadIdx.x % 32 / 16 * column_block + threadIdx.x % 8,
                  before_pairs = leading_ ? -1 : Map::first_octet(of.band);
        const auto row = [&](int octet, int in_octets) {
            return LaneRow(min(octet * column_block + in_octets, columns - 1));
        };
        of_pair_[0] = leading_ ? row(0, column % column_block) : row(before_pairs, column);
#pragma unroll
        for (int p = 1; p < Map::pairs; p++) of_pair_[p] = row(before_pairs + 2 * p, column);
        by_[0] = row(of.column, column);
        by_[1] = row(of.column + 2, column);
        narrow_ = (of.column + 2) * column_block >= columns;
    }

    // Adds the products over the variables of a tile. If no variable is free, only pair 0 has products that are not 0.
    __device__ void add(const unsigned char *stage, const PreparedTile<Real> &prepared) {
        if (free_gram && !leading_ && !prepared.any_free) return;
        waiting_ = true;
        const unsigned columns = shared_address(stage), parts = shared_address(&prepared.parts[0][0]);
        unsigned pair_at[Map::pairs], by_at[2];
#pragma unroll
        for (int p = 0; p < Map::pairs; p++) pair_at[p] = of_pair_[p].at(columns, parts);
#pragma unroll
        for (int j = 0; j < 2; j++) by_at[j] = by_[j].at(columns, parts);
        if (narrow_) add_tile<2>(pair_at, by_at, prepared);
        else add_tile<4>(pair_at, by_at, prepared);
    }

    // Adds the single-precision sums to the double-precision ones and clears them. Frequent calls keep the number of
    // terms in the single-precision sums small.
    __device__ void pass_on() {
        if (!waiting_) return;
        waiting_ = false;
#pragma unroll
        for (int p = 0; p < Map::pairs; p++)
#pragma unroll
            for (int j = 0; j < Map::width; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) sums_[p][j][e] += part_[p][j][e], part_[p][j][e] = 0;
    }

    // Stores the products in the order of ProductRectangles::Place.
    __device__ void store(double *to) const {
        const int lane = threadIdx.x % 32, at = lane / 4 * column_block + lane % 4 * 2;
#pragma unroll
        for (int p = 0; p < Map::pairs; p++)
#pragma unroll
            for (int j = 0; j < Map::width; j++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    to[(p * Map::width + j) * Map::tile_size + e / 2 * column_block * column_block + at + e % 2] =
                        sums_[p][j][e];
    }

  private:
    static_assert(Map::width == 4);

    // Adds the products of the pairs with the first `width` of the four octets. The arguments pair_at and by_at are the
    // lane's addresses.
    template <int width>
    __device__ void add_tile(const unsigned (&pair_at)[Map::pairs], const unsigned (&by_at)[2],
                             const PreparedTile<Real> &prepared) {
#pragma unroll
        for (int group = 0; group < Tile::variables / 16; group++) {
            const int ahead = group * 16 * static_cast<int>(sizeof(bfloat16));
            unsigned of_pairs[Map::pairs][2][2], by[width][2], mask[2];
#pragma unroll
            for (int p = 0; p < Map::pairs; p++) load_matrices(pair_at[p] + ahead, of_pairs[p][0], of_pairs[p][1]);
#pragma unroll
            for (int j = 0; j < width / 2; j++) load_matrices(by_at[j] + ahead, by[2 * j], by[2 * j + 1]);
            if (free_gram) {
                const bfloat16 *const own = prepared.mask + group * 16 + threadIdx.x % 4 * 2;
                mask[0] = *reinterpret_cast<const unsigned *>(own),
                mask[1] = *reinterpret_cast<const unsigned *>(own + 8);
#pragma unroll
                for (int p = 0; p < Map::pairs; p++)
#pragma unroll
                    for (int e = 0; e < 2; e++) {
                        of_pairs[p][0][e] &= p == 0 && leading_ ? ~0u : mask[e];
                        of_pairs[p][1][e] &= mask[e];
                    }
            }
#pragma unroll
            for (int p = 0; p < Map::pairs; p++)
#pragma unroll
                for (int j = 0; j < width; j++) multiply_16x8x16(part_[p][j], of_pairs[p][0], of_pairs[p][1], by[j]);
        }
    }

    // LaneRow is the place of the eight variables that a lane supplies: a byte offset among the columns of the stage
    // or, if the multiplied column is a part of g, among the parts.
    struct LaneRow {
        bool of_parts = false;
        int offset = 0;
        LaneRow() = default;
        __device__ explicit LaneRow(int column) : of_parts(column >= 2 && column < 2 + gradient_parts) {
            const int stored = column < 2 ? column
                               : of_parts ? column - 2
                                          : column - gradient_parts,
                      first_variable = threadIdx.x % 32 / 8 % 2 * 8;
            offset = stored * Tile::column_bytes + first_variable * static_cast<int>(sizeof(bfloat16));
        }
        __device__ unsigned at(unsigned columns, unsigned parts) const { return (of_parts ? parts : columns) + offset; }
    };

    const bool leading_;
    bool waiting_ = false, narrow_; // narrow_: only the first two of the four octets contain columns
    LaneRow of_pair_[Map::pairs], by_[2];
    float part_[Map::pairs][Map::width][4] = {};
    double sums_[Map::pairs][Map::width][4] = {};
};

} // namespace cudaopt
