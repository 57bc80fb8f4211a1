// Contributions of a tile (128 variables) of the panel to the inner products with a diagonal initial Hessian, on the
// host.
#pragma once

#include <algorithm>
#include <cmath>

#include "lbfgsb/panel.hpp"
#include "sweeps/host/panel_tiles.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// Computes the sums over the tile's variables that a diagonal requires, and adds them to `sums`, which is indexed by
// VariableSum. It is called before the columns are scaled.
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

// Scales the columns of the panel, so that they belong to the scaled variables h_i^(-1/2) x_i.
inline void scale_tile(const double *h, int variables, int columns, double *tile) {
    double factors[2][tile_height]; // factors of even columns (y, g) and of odd columns (s, z)
    for (int r = 0; r < variables; r++) {
        const panel::Scaling by = panel::scaling_of(h[r]);
        factors[0][r] = by.root, factors[1][r] = by.inverse_root;
    }
    for (int c = 0; c < columns; c++) {
        const double *const factor = factors[panel::inverse(c)];
        for (int r = 0; r < variables; r++) tile[c * tile_height + r] *= factor[r];
    }
}

// Adds the inner products of the s columns of the older pairs to `packed`. scratch: memory of the size of the tile
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
