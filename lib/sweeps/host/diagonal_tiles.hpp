// These functions update the weights of a tile (128 variables), compute sums with them, and scale the tile before its
// inner products are formed on the host. They are used if the initial Hessian is a diagonal matrix. The weights h are
// the diagonal elements of its inverse. All arrays have tile_height elements and are aligned to 32 bytes.
#pragma once

#include "lbfgsb/learned_diagonal.hpp"
#include "sweeps/host/panel_tiles.hpp"

namespace cudaopt {

// Applies learned_weight() to each weight of a tile. d and y contain the tile's elements of one correction pair, and
// `pair` contains the scalars of the update.
void learn_tile(const double *d, const double *y, const LearnedPair &pair, double *h);

// Sums over the variables of a tile that are required only if the initial Hessian is a diagonal matrix. bad_weights is
// the number of weights that are not positive and finite. newest_y and newest_d are sums over the newest pair.
struct WeightedSums {
    double bad_weights, newest_y, newest_d;
};
// Computes these sums over the first `variables` variables. y and d are the columns of the newest pair before they are
// scaled. If the inner products are weighted with h, `weighted` is true, and newest_y and newest_d are the sums of
// y_i^2 and d_i^2. Otherwise they are the sums of h_i y_i^2 and d_i^2 / h_i.
WeightedSums weighted_sums_of_tile(const double *h, const double *y, const double *d, int variables, bool weighted);

// The factors by which the columns of a tile are scaled. The vectors y and g, in even columns, are multiplied by
// sqrt(h_i), and s and z, in odd columns, by 1 / sqrt(h_i). Their inner products are then those of a problem with the
// variables h_i^(-1/2) x_i.
struct TileScaling {
    alignas(32) double roots[tile_height], inverse_roots[tile_height];
};
void scaling_of_tile(const double *h, TileScaling &scaling);
// Scales consecutive columns of a tile, the first of which is an even one.
void scale_columns(const TileScaling &scaling, int count, double *columns);

} // namespace cudaopt
