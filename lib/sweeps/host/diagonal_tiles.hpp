// These functions serve the inner products of a tile (128 variables) on the host if the initial Hessian is a diagonal.
// The weights h are the diagonal of its inverse. All arrays have tile_height elements and are aligned to 32 bytes.
#pragma once

#include "lbfgsb/learned_diagonal.hpp"
#include "sweeps/host/panel_tiles.hpp"

namespace cudaopt {

// Updates the learned weights of a tile with a pair, whose elements are d and y (learned_weight()).
void learn_tile(const double *d, const double *y, const LearnedPair &pair, double *h);

// The sums over a tile that are required only if the initial Hessian is a diagonal (VariableSum).
struct WeightedSums {
    double bad_weights, newest_y, newest_d;
};
// Computes these sums over the first `variables` variables. y and d are the columns of the newest pair before they are
// scaled. `weighted` says whether the inner products are weighted with h.
WeightedSums weighted_sums_of_tile(const double *h, const double *y, const double *d, int variables, bool weighted);

// Scales the columns of a tile by h. The vectors y and g, in even columns, are multiplied by sqrt(h_i), and s and z, in
// odd columns, by 1 / sqrt(h_i). Their inner products are then those of a problem with the variables h_i^(-1/2) x_i.
void scale_tile(const double *h, int columns, double *tile);

} // namespace cudaopt
