// Conversions for a tile (128 variables) on the host: from stored vectors to doubles, and from doubles to columns of S
// and Y that have fewer bits than x.
#pragma once

#include <algorithm>

#include "dense/bfloat16.hpp"
#include "sweeps/host/variable_tiles.hpp"

namespace cudaopt {

// Sets to[r] = column[r], and to[r] = 0 for elements past the last variable.
inline void load_column(const double *column, int variables, double *to) {
    std::copy(column, column + variables, to);
    std::fill(to + variables, to + tile_height, 0.0);
}
void load_column(const float *column, int variables, double *to);
void load_column(const bfloat16 *column, int variables, double *to);

// Adds factor * column[r] to to[r].
void add_column(double factor, const float *column, int variables, double *to);
void add_column(double factor, const bfloat16 *column, int variables, double *to);

// Computes column[r] = trial[r] - x[r], rounded, and d[r] as the same value in double precision, or 0 past the last
// variable. Returns false if rounding makes some variable miss the bound that its trial point is at. Such variables
// require stored_direction().
bool round_direction(const TileVariables &tile, const double *trial, int variables, float *column, double *d);
bool round_direction(const TileVariables &tile, const double *trial, int variables, bfloat16 *column, double *d);

// Computes x[r] = P(x + step d), rounded to the storage type.
void step_tile(const TileVariables &tile, const double *d, double step, int variables, double *x);
void step_tile(const TileVariables &tile, const double *d, double step, int variables, float *x);

} // namespace cudaopt
