// These functions add the products over the free variables of a tile (128 variables) on the host.
#pragma once

#include "lbfgsb/requests.hpp"
#include "sweeps/host/panel_tiles.hpp"
#include "sweeps/products_layout.hpp"

namespace cudaopt {

// Returns how many of the products over the free variables, from the first one on, are formed for each tile: all of
// them, the rows of the leading columns, or none. The changes of the others are added to the sums of a segment instead,
// because nearly all tiles have none.
inline int free_products_of_tile(const ProductsRequest &request, const ProductsLayout &layout) {
    if (request.free_changes) return panel::gram_index(panel::leading, panel::leading, layout.columns);
    return request.free_gram || request.only_yy ? panel::gram_count(layout.columns) : 0;
}

// Copies the products of y_new, s_new and g with all columns, which have been formed over all variables of the tile, to
// those over the free variables.
inline void copy_first_rows(const ProductsLayout &layout, double *out) {
    for (int i = 0; i < panel::displacement; i++) {
        const double *const row = out + layout.leading_products + i * layout.columns;
        std::copy(row + i, row + layout.columns, out + layout.free_gram + panel::gram_index(i, i, layout.columns));
    }
}

// Adds the products of the older columns with each other over the free variables. If not all variables are free,
// free[i] is 1 if variable i is free, and otherwise 0. `free_tile` is workspace with the size of the tile.
inline void add_older_free_products(const double *tile, const ProductsLayout &layout, bool all_are_free,
                                    const double *free, const VariableGroups &groups, double *free_tile, double *out) {
    constexpr int first = panel::leading * tile_height;
    const int older = layout.columns - panel::leading;
    if (!all_are_free) weigh_variables(tile + first, older, free, groups, free_tile + first);
    add_symmetric_products((all_are_free ? tile : free_tile) + first, tile + first, groups, older,
                           {panel::leading, 1, layout.columns}, out + layout.free_gram);
}

// Collects the variables of a segment whose freedom has changed, until there are enough of them for a product. They are
// few and scattered, and each would otherwise cost as much as the group of 8 variables that it belongs to.
class ChangedVariables {
  public:
    // `room` has the size of a padded tile (padded_columns()). Its leading columns are not used. The upper half of each
    // other column contains elements of that column, and the lower half the same elements multiplied by the signs.
    ChangedVariables(double *room, int columns) : room_(room), columns_(columns) {}
    bool empty() const { return count_ == 0; }
    int left() const { return most - count_; } // number of variables that can be appended
    // Appends the given variables of a tile, at most left(). column(c) is the address of the tile's variables in column
    // c. sign[r]: 1 if variable r has become free, -1 if it is free no longer.
    template <class Column> void append(const Column &column, const int *variables, int count, const double *sign) {
        for (int c = panel::leading; c < columns_; c++) {
            const double *const from = column(c);
            double *const to = room_ + c * tile_height + count_;
            for (int k = 0; k < count; k++) {
                to[k] = from[variables[k]];
                to[most + k] = sign[variables[k]] * to[k];
            }
        }
        count_ += count;
    }
    // Adds the products of the older columns with each other over the variables that were appended, and forgets these.
    void add_products(double *packed) {
        constexpr int first = panel::leading * tile_height;
        VariableGroups groups;
        for (int r = 0; r < count_; r += VariableGroups::size) groups.begin[groups.count++] = r;
        const int padding = groups.count * VariableGroups::size - count_;
        for (int c = panel::leading; c < columns_; c++) {
            double *const end = room_ + c * tile_height + count_;
            std::fill(end, end + padding, 0.0);
            std::fill(end + most, end + most + padding, 0.0);
        }
        count_ = 0;
        add_symmetric_products(room_ + first + most, room_ + first, groups, columns_ - panel::leading,
                               {panel::leading, 1, columns_}, packed);
    }

  private:
    static constexpr int most = tile_height / 2;
    double *const room_;
    const int columns_;
    int count_ = 0;
};

// Forms Y'Y, where the columns of Y are the gradient differences y of the pairs. It is used in problems without bounds
// if no other products over the free variables are required. The products with the newest y are copied from the
// products of the leading columns, so that add_leading_products() must be called first. Those of the older y are added.
inline void add_yy(const double *tile, const VariableGroups &groups, const ProductsLayout &layout, double *out) {
    const int pairs = panel::pairs(layout.columns);
    double *const packed = out + layout.free_gram;
    for (int age = 0; age < pairs; age++)
        packed[panel::y_column(age)] = out[layout.leading_products + panel::y_column(age)];
    add_products_of_every_second(tile + panel::leading * tile_height, groups, panel::older(pairs),
                                 {panel::leading, 2, layout.columns}, packed);
}

} // namespace cudaopt
