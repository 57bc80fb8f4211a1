// Applies the rules of single variables to a tile of variables on the host, four at a time.
#pragma once

#include "sweeps/host/panel_tiles.hpp"

namespace cudaopt {

// x, g, l, u and the weights h of a tile's variables, tile_height values each, aligned to 32 bytes.
struct TileVariables {
    alignas(32) double x[tile_height], g[tile_height], l[tile_height], u[tile_height], h[tile_height];
};

struct TileFacts {
    double projected_gradient_squared, x_squared, at_lower, at_upper, free_variables, not_finite;
    double projected_gradient_max, first_breakpoint;
};

// Computes sums over the first `variables` variables. free[r] is 1 if the breakpoint lies beyond the threshold,
// otherwise 0; z[r] is the displacement to its bound of a variable whose breakpoint the threshold has passed, otherwise
// 0.
void facts_of_tile(const TileVariables &tile, int variables, double threshold, double *free, double *z,
                   TileFacts &facts);

// Computes the trial point of step 1 for each variable if no breakpoint was crossed: P(x + move), or x if the variable
// is active. largest is the largest finite number of the storage type. Returns the number of variables that the
// projection affects.
double trial_of_tile(const TileVariables &tile, int variables, const double *move, double largest, double *trial);

double dot_of_tile(const double *a, const double *b);

} // namespace cudaopt
