// These functions compute inner products of the columns of a tile on the host. A tile contains 128 elements of each
// column of the panel. The columns are the stored vectors y and s, the gradient g and the displacement z.
#pragma once

namespace cudaopt {

// A tile has 128 variables. If it has a few dozen columns, it fits in the first-level cache.
constexpr int tile_height = 128;

// Returns the number of columns of a padded tile. Columns of zeros are added up to a multiple of 4. The columns are
// tile_height elements apart, and elements past the last variable are 0.
constexpr int padded_columns(int columns) { return (columns + 3) / 4 * 4; }

// Multiplies the elements of variable i in all columns of the tile by weights[i], and writes the resulting columns to
// another tile.
void weigh_variables(const double *tile, int columns, const double *weights, double *to);
// Adds the inner products of column i with column j, for all i <= j, to `packed`, in the order of panel::gram_index.
void add_symmetric_products(const double *tile, int columns, double *packed);
// Adds the inner products of the first 4 columns with all columns to the matrix `full`, which has one row for each of
// the first 4 columns.
void add_special_products(const double *tile, int columns, double *full);

} // namespace cudaopt
