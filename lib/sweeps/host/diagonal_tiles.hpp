// These functions add the contributions of a tile (128 variables) to the inner products on the host, if the initial
// Hessian is a diagonal.
#pragma once

#include <algorithm>
#include <cmath>

#include "lbfgsb/panel.hpp"
#include "sweeps/host/panel_tiles.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// Adds those sums to `sums` that are required only if the initial Hessian is a diagonal: bad_weights, newest_y_sum and
// newest_d_sum (VariableSum). The function must be called before the columns are scaled.
template <class Real>
void add_weighted_sums(const Real *diagonal, int variables, bool weighted, const double *tile, double *sums) {
    const double *const y = tile + panel::y_new * tile_height, *const d = tile + panel::s_new * tile_height;
    for (int r = 0; r < variables; r++) {
        const double h = diagonal[r], other = weighted ? 1 : h;
        sums[bad_weights] += !is_weight(h);
        sums[newest_y_sum] += y[r] * y[r] * other;
        sums[newest_d_sum] += d[r] * d[r] / other;
    }
}

// Scales the columns of a tile by the diagonal h of the initial inverse Hessian: y and g are
// multiplied by sqrt(h_i), s and z are divided by it. Their inner products are then those of a problem with the
// variables h_i^(-1/2) x_i.
inline void scale_tile(const double *h, int variables, int columns, double *tile) {
    // factors[0] contains sqrt(h) for the even columns (y and g), factors[1] contains 1 / sqrt(h) for the odd columns
    // (s and z).
    double factors[2][tile_height];
    for (int r = 0; r < variables; r++) {
        const panel::Scaling by = panel::scaling_of(h[r]);
        factors[0][r] = by.root, factors[1][r] = by.inverse_root;
    }
    for (int c = 0; c < columns; c++) {
        const double *const factor = factors[panel::inverse(c)];
        for (int r = 0; r < variables; r++) tile[c * tile_height + r] *= factor[r];
    }
}

// Adds the inner products of the s columns of the older pairs with each other to `packed`, in the order of
// panel::gram_index. These columns are first copied to `scratch`, which has the size of the tile.
inline void add_older_products(const double *tile, int pairs, double *scratch, double *packed) {
    const int older = panel::older(pairs);
    for (int age = 1; age <= older; age++) {
        const double *const column = tile + panel::s_column(age) * tile_height;
        std::copy(column, column + tile_height, scratch + (age - 1) * tile_height);
    }
    std::fill(scratch + older * tile_height, scratch + padded_columns(older) * tile_height, 0.0);
    add_symmetric_products(scratch, older, packed);
}

} // namespace cudaopt
