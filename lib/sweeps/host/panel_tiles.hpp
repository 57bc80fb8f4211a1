// These functions load the columns of a tile on the host and compute their inner products. A tile contains 128 elements
// of each column of the panel. The columns are the stored vectors y and s, the gradient g and the displacement z.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/bfloat16.hpp"

namespace cudaopt {

// A tile has 128 variables. If it has a few dozen columns, it fits in the first-level cache.
constexpr int tile_height = 128;

// The addresses of four columns of 128 elements, which need not be adjacent or aligned.
struct FourColumns {
    const double *at[4];
};

// Returns the number of columns of a padded tile. Adjacent columns are tile_height elements apart. If fewer
// variables than tile_height are left, the remaining elements of each column are 0. The functions below multiply blocks
// of 4 columns, which are adjacent or every second column of the tile. Therefore they read up to 6 columns beyond the
// last one. The products with these are discarded.
constexpr int padded_columns(int columns) { return columns + 6; }

// The groups of 8 consecutive variables of a tile that take part in inner products. Group k begins at variable
// begin[k].
struct VariableGroups {
    static constexpr int size = 8;
    int count = 0;
    int begin[tile_height / size] = {};
};
// Returns the groups of the first `variables` variables. The groups after them contain padding only.
VariableGroups first_groups(int variables);
// Returns those of these groups in which at least one weight is not 0.
VariableGroups groups_with_weights(const double *weights, int variables);
// Returns `variables` rounded up to whole groups. The functions of a tile process no elements beyond this number.
constexpr int padded_variables(int variables) {
    return (variables + VariableGroups::size - 1) / VariableGroups::size * VariableGroups::size;
}

// Multiplies the elements of variable i in all columns of the tile by weights[i], and writes the resulting columns to
// another tile. Only the given groups are read and written.
void weigh_variables(const double *tile, int columns, const double *weights, const VariableGroups &groups, double *to);

// PackedPlace says where the products of selected columns are stored in a packed symmetric matrix with `columns`
// columns (panel::gram_index). The product of the selected columns i and j is in row origin + step * i and column
// origin + step * j.
struct PackedPlace {
    int origin, step, columns;
};
// Adds the inner products of column i of `left` with column j of `right`, for all i <= j < count. The sums are over the
// variables of the given groups. `right` points to a column of a tile, and `left` to the same column of the same tile
// or of one with weighted variables.
void add_symmetric_products(const double *left, const double *right, const VariableGroups &groups, int count,
                            const PackedPlace &place, double *packed);

// Adds the inner products of `count` columns of a tile with each other over the variables of the given groups. These
// are every second column, beginning with the first one.
void add_products_of_every_second(const double *tile, const VariableGroups &groups, int count, const PackedPlace &place,
                                  double *packed);

// Adds the inner products of each of the first `leading` columns of a tile, which are 3 or 4, with `count` <= 4 columns
// to a matrix of 4 rows of `columns` elements. The sums are over the variables of the given groups. `full` points to
// the first of these columns of the matrix. With 3 leading columns, the last row is not changed.
void add_leading_products(const double *tile, const VariableGroups &groups, int leading, const FourColumns &right,
                          int count, int columns, double *full);

// Adds to the first three rows of a packed matrix of `columns` columns: the inner products of column i < 3 of `left`
// with columns j >= i, over the variables of the given groups. The columns j are the `count` <= 4 columns from column c
// on.
void add_first_rows(const double *left, const VariableGroups &groups, int c, const FourColumns &right, int count,
                    int columns, double *packed);

// Returns the inner product of two columns of a tile with `variables` variables.
double dot_of_tile(const double *a, const double *b, int variables);

// Adds the `count` elements of an array to those of another one.
void add_elements(const double *from, int count, double *to);

// Sets to[r] = column[r] for each variable r of a tile, and to[r] = 0 past the last variable, up to `height` elements.
inline void load_column(const double *column, int variables, double *to, int height = tile_height) {
    std::copy(column, column + variables, to);
    std::fill(to + variables, to + height, 0.0);
}
void load_column(const float *column, int variables, double *to, int height = tile_height);
void load_column(const bfloat16 *column, int variables, double *to, int height = tile_height);

// Adds sum_k factors[k] * columns[k][r] to to[r] for each variable r of a tile. The columns are those of `count` stored
// vectors, from their variable `begin` on.
void add_columns(const double *factors, const double *const *columns, int count, int64_t begin, int variables,
                 double *to);
void add_columns(const double *factors, const float *const *columns, int count, int64_t begin, int variables,
                 double *to);
void add_columns(const double *factors, const bfloat16 *const *columns, int count, int64_t begin, int variables,
                 double *to);

} // namespace cudaopt
