// ProductsLayout describes how the results of Sweeps::inner_products() are stored in one array of doubles. A single
// loop can then add two sets of results. The array begins with the sums that are not inner products (VariableSum).
// These are followed by the products of all columns over the free variables, and by the products of the leading columns
// y_new, s_new, g and z with all columns over all variables. If requested, the products of the older s columns with
// each other follow. The last two elements are not sums, but a maximum and a minimum.
#pragma once

#include <algorithm>

#include "exec/annotations.hpp"
#include "lbfgsb/box.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

struct ProductsLayout {
    int columns;
    bool with_older;
    int free_gram, leading_products, older_steps, maximum, minimum, size;

    ProductsLayout(int columns_, bool with_older_)
        : columns(columns_), with_older(with_older_), free_gram(variable_sum_count),
          leading_products(free_gram + panel::gram_count(columns)),
          older_steps(leading_products + panel::leading * columns),
          maximum(older_steps + (with_older ? panel::older_count(panel::pairs(columns)) : 0)), minimum(maximum + 1),
          size(minimum + 1) {}

    // Writes the results to an array v of `size` doubles.
    void write(const PanelProducts &sums, double *v) const {
        for (int i = 0; i < variable_sum_count; i++) v[i] = sums.variable_sums[i];
        for (int i = free_gram; i < leading_products; i++) v[i] = sums.free_gram[i - free_gram];
        for (int i = leading_products; i < older_steps; i++) v[i] = sums.leading_products[i - leading_products];
        for (int i = older_steps; i < maximum; i++) v[i] = sums.older_steps[i - older_steps];
        v[maximum] = sums.projected_gradient_max;
        v[minimum] = sums.first_breakpoint;
    }
    // Returns the results that are stored in an array v of `size` doubles. The returned object contains pointers into
    // v.
    PanelProducts products(const double *v) const {
        PanelProducts sums{};
        for (int i = 0; i < variable_sum_count; i++) sums.variable_sums[i] = v[i];
        sums.columns = columns;
        sums.free_gram = v + free_gram;
        sums.leading_products = v + leading_products;
        sums.older_steps = with_older ? v + older_steps : nullptr;
        sums.projected_gradient_max = v[maximum];
        sums.first_breakpoint = v[minimum];
        return sums;
    }
};

// The function join() adds the results of another set of variables, and join_extremes() only the maximum and the
// minimum.
inline void join_extremes(const ProductsLayout &layout, double *to, const double *from) {
    const double largest = from[layout.maximum];
    if (largest > to[layout.maximum] || largest != largest) to[layout.maximum] = largest;
    to[layout.minimum] = std::min(to[layout.minimum], from[layout.minimum]);
}

inline void join(const ProductsLayout &layout, double *to, const double *from) {
    for (int i = 0; i < layout.maximum; i++) to[i] += from[i];
    join_extremes(layout, to, from);
}

} // namespace cudaopt
