// These functions apply the operations on single variables (sweeps/rules.hpp) to a tile of 128 variables on the host,
// four variables at a time.
#pragma once

#include "dense/bfloat16.hpp"
#include "lbfgsb/learned_diagonal.hpp"
#include "sweeps/host/panel_tiles.hpp"

namespace cudaopt {

// TileVariables contains x, g, l, u and the weights h, the diagonal of the initial inverse Hessian, of the variables of
// a tile. Each array has tile_height values and is aligned to 32 bytes.
struct TileVariables {
    alignas(32) double x[tile_height], g[tile_height], l[tile_height], u[tile_height], h[tile_height];
};

// Computes sums over the first `variables` variables of a tile, and two values for each variable r. `threshold` is the
// last breakpoint that the Cauchy search has passed, or 0. If the breakpoint of variable r lies beyond the threshold,
// free[r] is 1, and otherwise 0. If the breakpoint t satisfies 0 < t <= threshold, the Cauchy path has fixed the
// variable at its bound. In that case z[r] is the displacement to that bound, and otherwise 0. The sums are the first
// elements of VariableSum, up to not_finite. `largest` is the largest |(P g)_i|, and `first` the least breakpoint of a
// free variable.
void measure_tile(const TileVariables &tile, int variables, double threshold, double *free, double *z, double *sums,
                  double &largest, double &first);

// Returns whether the first `variables` variables of a tile may include one that is not active and whose breakpoint is
// at most t > 0. The test needs no division. If it returns false, there is no such variable.
bool may_have_breakpoint_within(const TileVariables &tile, int variables, double t);

// Compares the free variables of a tile at two points, with the threshold 0. sign[r] is 1 if variable r is free at
// `now` alone, -1 if it is free at `base` alone, and otherwise 0. Returns whether a sign differs from 0.
bool changes_of_tile(const TileVariables &now, const TileVariables &base, int variables, double *sign);

// Computes the trial point of step length 1 for each variable of a tile, if the Cauchy search has passed none of their
// breakpoints.
// The trial point is P(x + move), or x if the variable is active. `move` is the displacement from x to the subspace
// minimiser without bounds, and `largest` is the largest finite number of the storage type. The function returns the
// number of variables that the projection changes.
double trial_of_tile(const TileVariables &tile, int variables, const double *move, double largest, double *trial);

// Computes the rounded direction trial[r] - x[r] and stores it in column[r]. It also stores the rounded value as a
// double in d[r], and 0 past the last variable. Returns false if rounding makes any variable miss the bound at which
// its trial point lies. The caller must then compute such variables by stored_direction().
bool round_direction(const TileVariables &tile, const double *trial, int variables, float *column, double *d);
bool round_direction(const TileVariables &tile, const double *trial, int variables, bfloat16 *column, double *d);

// Computes x[r] = P(x + step d), rounded to the storage type. P is the projection onto the box.
void step_tile(const TileVariables &tile, const double *d, double step, int variables, double *x);
void step_tile(const TileVariables &tile, const double *d, double step, int variables, float *x);

// The next functions are used if the initial Hessian is a diagonal matrix. They update the weights of a tile, compute
// sums with them, and scale the tile before its inner products are formed. The weights h are the diagonal elements of
// the inverse. All arrays have tile_height elements and are aligned to 32 bytes.

// Applies learned_weight() to each weight of a tile. d and y contain the tile's elements of one correction pair, and
// `pair` contains the scalars of the update.
void learn_tile(const double *d, const double *y, int variables, const LearnedPair &pair, double *h);

// Sets the elements bad_weights, newest_y_sum and newest_d_sum of VariableSum to their sums over the first `variables`
// variables. y and d are the columns of the newest pair before they are scaled. `weighted` is true if the inner
// products are weighted with h.
void measure_weights(const double *h, const double *y, const double *d, int variables, bool weighted, double *sums);

// The factors by which the columns of a tile are scaled. The vectors y and g, in even columns, are multiplied by
// sqrt(h_i), and s and z, in odd columns, by 1 / sqrt(h_i). Their inner products are then those of a problem with the
// variables h_i^(-1/2) x_i.
struct TileScaling {
    alignas(32) double roots[tile_height], inverse_roots[tile_height];
};
void scaling_of_tile(const double *h, int variables, TileScaling &scaling);
// Scales consecutive columns of a tile, the first of which is an even one.
void scale_columns(const TileScaling &scaling, int variables, int count, double *columns);

} // namespace cudaopt
