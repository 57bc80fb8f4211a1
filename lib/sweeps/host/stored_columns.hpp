// A tile's variables of vectors as they are stored, on the host: to doubles, and from doubles to columns of S and Y
// that have fewer bits than x.
#pragma once

#include <algorithm>

#include "dense/bfloat16.hpp"
#include "sweeps/host/variable_tiles.hpp"

namespace cudaopt {

// to[r] = column[r], and 0 for variables past the end.
inline void load_column(const double *column, int variables, double *to) {
    std::copy(column, column + variables, to);
    std::fill(to + variables, to + tile_height, 0.0);
}
void load_column(const float *column, int variables, double *to);
void load_column(const bfloat16 *column, int variables, double *to);

// to[r] += factor column[r]
void add_column(double factor, const float *column, int variables, double *to);
void add_column(double factor, const bfloat16 *column, int variables, double *to);

// column[r] = trial[r] - x[r], rounded, and d[r] the same as a double, 0 for variables past the end. False where a
// variable that was to arrive at a bound does not: stored_direction() is the rule for such variables.
bool round_direction(const TileVariables &tile, const double *trial, int variables, float *column, double *d);
bool round_direction(const TileVariables &tile, const double *trial, int variables, bfloat16 *column, double *d);

// x[r] = P(x + step d), as it is stored.
void step_tile(const TileVariables &tile, const double *d, double step, int variables, double *x);
void step_tile(const TileVariables &tile, const double *d, double step, int variables, float *x);

} // namespace cudaopt
