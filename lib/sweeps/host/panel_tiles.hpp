// Inner products of a tile of panel columns on the host.
#pragma once

namespace cudaopt {

constexpr int tile_height = 128; // variables; a tile of a few dozen columns fits into the first-level cache

// The columns of a tile are tile_height elements apart. The tile is padded with columns of zeros to a multiple of 4,
// and elements past the last variable are 0.
constexpr int padded_columns(int columns) { return (columns + 3) / 4 * 4; }

// Writes the columns with each variable multiplied by its weight.
void weigh_variables(const double *tile, int columns, const double *weights, double *to);
// Adds the products of columns i <= j to `packed` (panel::gram_index).
void add_symmetric_products(const double *tile, int columns, double *packed);
// Adds the products of the first 4 columns with all columns to `full` (4 x columns).
void add_special_products(const double *tile, int columns, double *full);

} // namespace cudaopt
