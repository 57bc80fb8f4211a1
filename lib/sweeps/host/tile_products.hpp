// These functions add the products over the free variables of a tile (128 variables) on the host.
#pragma once

#include "lbfgsb/panel.hpp"
#include "sweeps/host/panel_tiles.hpp"
#include "sweeps/products_layout.hpp"

namespace cudaopt {

// Adds the products of all columns over the free variables. free[i] is 1 if variable i is free, and otherwise 0.
// `free_tile` is workspace with the size of the tile.
inline void add_free_products(const double *tile, int columns, const double *free, double free_variables,
                              double *free_tile, double *packed) {
    if (free_variables == tile_height) return add_symmetric_products(tile, tile, all_groups(), columns, packed);
    const VariableGroups groups = groups_with_weights(free);
    weigh_variables(tile, columns, free, groups, free_tile);
    add_symmetric_products(free_tile, tile, groups, columns, packed);
}

// Forms Y'Y, where the columns of Y are the gradient differences y of the pairs. It is used in problems without bounds
// if no other products over the free variables are required. The products with the newest y are copied from the
// products of the leading columns, so that add_leading_products() must be called first. Those of the older y are added.
inline void add_yy(const double *tile, const ProductsLayout &layout, double *out) {
    const int pairs = panel::pairs(layout.columns);
    double *const packed = out + layout.free_gram;
    for (int age = 0; age < pairs; age++)
        packed[panel::y_column(age)] = out[layout.leading_products + panel::y_column(age)];
    add_products_of_every_second(tile + panel::leading * tile_height, panel::older(pairs),
                                 {panel::leading, 2, layout.columns}, packed);
}

} // namespace cudaopt
