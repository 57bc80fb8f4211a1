// A tile's rows of vectors as they are stored, on the host: to doubles, and from doubles to columns of S and Y that
// have fewer bits than x.
#pragma once

#include <algorithm>

#include "dense/bfloat16.hpp"
#include "sweeps/host/row_tiles.hpp"

namespace cudaopt {

// to[r] = column[r], and 0 for rows past the end.
inline void load_column(const double *column, int rows, double *to) {
    std::copy(column, column + rows, to);
    std::fill(to + rows, to + tile_height, 0.0);
}
void load_column(const float *column, int rows, double *to);
void load_column(const bfloat16 *column, int rows, double *to);

// to[r] += factor column[r]
void add_column(double factor, const float *column, int rows, double *to);
void add_column(double factor, const bfloat16 *column, int rows, double *to);

// column[r] = trial[r] - x[r], rounded, and d[r] the same as a double, 0 for rows past the end. False where a row that
// was to arrive at a bound does not: stored_direction() is the rule for such rows.
bool round_direction(const TileRows &tile, const double *trial, int rows, float *column, double *d);
bool round_direction(const TileRows &tile, const double *trial, int rows, bfloat16 *column, double *d);

// x[r] = P(x + step d), as it is stored.
void step_tile(const TileRows &tile, const double *d, double step, int rows, double *x);
void step_tile(const TileRows &tile, const double *d, double step, int rows, float *x);

} // namespace cudaopt
