// Inner products of the columns of a tile on the host. A tile contains the elements of all columns of the panel (the
// stored vectors y and s, the gradient g and the displacement z) for 128 variables.
#pragma once

namespace cudaopt {

constexpr int tile_height = 128; // variables of a tile; a tile of a few dozen columns fits into the first-level cache

// Returns the number of columns of a padded tile. The columns of a tile are tile_height elements apart. Columns of
// zeros are added up to a multiple of 4, and elements past the last variable are 0.
constexpr int padded_columns(int columns) { return (columns + 3) / 4 * 4; }

// Multiplies the elements of each variable by its weight, and writes the resulting columns to another tile.
void weigh_variables(const double *tile, int columns, const double *weights, double *to);
// Adds the inner products of columns i <= j to `packed`, in the order of panel::gram_index.
void add_symmetric_products(const double *tile, int columns, double *packed);
// Adds the inner products of the first 4 columns with all columns to the matrix `full` (4 x columns).
void add_special_products(const double *tile, int columns, double *full);

} // namespace cudaopt
