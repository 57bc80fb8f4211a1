// Applies the operations on single variables (sweeps/rules.hpp) to a tile of 128 variables on the host, four variables
// at a time.
#pragma once

#include "sweeps/host/panel_tiles.hpp"

namespace cudaopt {

// The values x, g, l, u and the weights h of the variables of a tile: tile_height values each, aligned to 32 bytes.
struct TileVariables {
    alignas(32) double x[tile_height], g[tile_height], l[tile_height], u[tile_height], h[tile_height];
};

struct TileFacts {
    double projected_gradient_squared, x_squared, at_lower, at_upper, free_variables, not_finite;
    double projected_gradient_max, first_breakpoint;
};

// Computes sums over the first `variables` variables of a tile. It sets free[r] to 1 if the breakpoint of variable r
// lies beyond the threshold, and to 0 otherwise. z[r] is the displacement to its bound of a variable whose breakpoint t
// satisfies 0 < t <= threshold, because the Cauchy path has fixed it there; otherwise z[r] is 0.
void facts_of_tile(const TileVariables &tile, int variables, double threshold, double *free, double *z,
                   TileFacts &facts);

// Computes the trial point of step 1 for each variable if no breakpoint was crossed: P(x + move), or x if the variable
// is active. largest: the largest finite number of the storage type. Returns the number of variables that the
// projection changes.
double trial_of_tile(const TileVariables &tile, int variables, const double *move, double largest, double *trial);

double dot_of_tile(const double *a, const double *b);

} // namespace cudaopt
