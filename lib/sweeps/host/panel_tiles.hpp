// Inner products of a tile of panel columns on the host.
#pragma once

namespace cudaopt {

constexpr int tile_height = 128; // variables; a tile of a few dozen columns stays in the first-level cache

// Columns of a tile stand tile_height apart, padded with columns of zeros to a multiple of 4; variables past the end
// are 0.
constexpr int padded_columns(int columns) { return (columns + 3) / 4 * 4; }

// The columns with each variable times its weight.
void weigh_variables(const double *tile, int columns, const double *weights, double *to);
// Products of columns i <= j, added to `packed` (panel::gram_index).
void add_symmetric_products(const double *tile, int columns, double *packed);
// Products of the first 4 columns with all, added to `full` (4 x columns).
void add_special_products(const double *tile, int columns, double *full);

} // namespace cudaopt
