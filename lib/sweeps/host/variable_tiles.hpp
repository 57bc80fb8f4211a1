// The rules of a variable applied to a tile of variables on the host, four at a time.
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

// Facts of the first `variables` variables: free[r] is 1 where the breakpoint lies beyond the threshold, else 0, and
// z[r] the way to the bound of a variable that the threshold has passed.
void facts_of_tile(const TileVariables &tile, int variables, double threshold, double *free, double *z,
                   TileFacts &facts);

// The trial point of step 1 for each variable, no breakpoint crossed: P(x + move), or x where it is held; largest is
// the largest number that can be stored. Returns how many variables the projection cut short.
double trial_of_tile(const TileVariables &tile, int variables, const double *move, double largest, double *trial);

double dot_of_tile(const double *a, const double *b);

} // namespace cudaopt
