// This header divides the inner products of many columns among warps (wide_products.cuh). The columns are multiplied in
// octets, which are groups of eight. Each tensor-core instruction multiplies a pair of octets, which are sixteen
// columns, by a third octet and gives a tile of 16 x 8 products.
//
// Pair 0 contains octet 0 twice. Its upper half is multiplied over all variables, because octet 0 contains the leading
// columns, whose products with all columns are needed over all variables. Its lower half is multiplied over the free
// variables, and so are both octets of pair p = 1, 2, ..., which are 2p - 1 and 2p. The products are symmetric, so that
// a pair is multiplied only by the octets from its own first one on.
//
// A rectangle contains the tiles of `pairs` consecutive pairs and four consecutive octets. One warp holds its sums in
// registers. The larger the rectangle, the fewer octets have to be loaded from shared memory per instruction: those of
// the pairs and the four others are loaded once for 4 * pairs instructions.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt {

// If no products over the free variables are needed, pair 0 alone is multiplied.
template <bool free_gram> struct ProductRectangles {
    static constexpr int pairs = free_gram ? 3 : 1, width = 4, octet = 8;
    static constexpr int tiles = pairs * width, tile_size = 2 * octet * octet, elements = tiles * tile_size;

    int octets; // the number of octets that contain the columns

    // A band contains the rectangles of the same pairs, which are 3b, 3b + 1 and 3b + 2 in band b. Their octets are
    // those from first_octet(b) on.
    CUDA_OPT_HD int bands() const { return free_gram ? octets / 2 / pairs + 1 : 1; }
    CUDA_OPT_HD static int first_octet(int band) { return band == 0 ? 0 : 2 * pairs * band - 1; }
    CUDA_OPT_HD int in_band(int band) const { return (octets - first_octet(band) + width - 1) / width; }
    // Returns the number of rectangles in the bands before this one.
    CUDA_OPT_HD int before(int band) const {
        int count = 0;
        for (int b = 0; b < band; b++) count += in_band(b);
        return count;
    }
    CUDA_OPT_HD int count() const { return before(bands()); }

    struct Rectangle {
        int band;
        int column; // the first of the four octets by which the pairs are multiplied
    };
    CUDA_OPT_HD Rectangle at(int index) const {
        int band = 0;
        for (; index >= in_band(band); band++) index -= in_band(band);
        return {band, first_octet(band) + width * index};
    }

    // Place is the position of a product: the index of the rectangle, and the index among the products of the
    // rectangle. The products of a rectangle are stored tile by tile, and element (row, column) of a tile has the index
    // 8 row + column. Tile 4p + j contains the products of the p-th pair with the j-th octet.
    struct Place {
        int rectangle, element;
    };
    // These functions return the place of the product of columns i and j: over the free variables, with i <= j, and
    // over all variables, with column i in octet 0.
    CUDA_OPT_HD Place over_free(int i, int j) const {
        const int of_i = i / octet;
        return place((of_i + 1) / 2, of_i == 0 ? 1 : (of_i + 1) % 2, i, j);
    }
    CUDA_OPT_HD Place over_all(int i, int j) const { return place(0, 0, i, j); }

  private:
    CUDA_OPT_HD Place place(int pair, int half, int i, int j) const {
        const int band = pair / pairs, column = j / octet - first_octet(band),
                  tile = pair % pairs * width + column % width;
        return {before(band) + column / width, ((tile * 2 + half) * octet + i % octet) * octet + j % octet};
    }
};

} // namespace cudaopt
