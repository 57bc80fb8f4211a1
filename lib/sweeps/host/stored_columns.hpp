// These functions convert between stored vectors and tiles of 128 doubles on the host. They also convert doubles to
// columns of S and Y that are stored with fewer bits than x.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/bfloat16.hpp"
#include "sweeps/host/panel_tiles.hpp"

namespace cudaopt {

// Sets to[r] = column[r] for each variable r of a tile, and to[r] = 0 past the last variable.
inline void load_column(const double *column, int variables, double *to) {
    std::copy(column, column + variables, to);
    std::fill(to + variables, to + tile_height, 0.0);
}
void load_column(const float *column, int variables, double *to);
void load_column(const bfloat16 *column, int variables, double *to);

// Adds sum_k factors[k] * columns[k][r] to to[r] for each variable r of a tile. The columns are those of `count` stored
// vectors, from their variable `begin` on.
void add_columns(const double *factors, const double *const *columns, int count, int64_t begin, int variables,
                 double *to);
void add_columns(const double *factors, const float *const *columns, int count, int64_t begin, int variables,
                 double *to);
void add_columns(const double *factors, const bfloat16 *const *columns, int count, int64_t begin, int variables,
                 double *to);

} // namespace cudaopt
