// The numbers of the inner products as one array, so that one loop joins two of them: row sums, products over the free
// rows, products over all rows; then the two that are not sums.
#pragma once

#include "exec/annotations.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

struct ProductsLayout {
    int columns, free_gram, leading_products, maximum, minimum, size;

    explicit ProductsLayout(int columns_)
        : columns(columns_), free_gram(row_sum_count), leading_products(free_gram + panel::gram_count(columns)),
          maximum(leading_products + panel::leading * columns), minimum(maximum + 1), size(minimum + 1) {}

    // What such an array says; it stays where it is.
    PanelProducts products(const double *v) const {
        PanelProducts sums{};
        for (int i = 0; i < row_sum_count; i++) sums.row_sums[i] = v[i];
        sums.columns = columns;
        sums.free_gram = v + free_gram;
        sums.leading_products = v + leading_products;
        sums.projected_gradient_max = v[maximum];
        sums.first_breakpoint = v[minimum];
        return sums;
    }
};

} // namespace cudaopt
