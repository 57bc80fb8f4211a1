// The numbers of a gather as one array, so that one loop joins two of them: row sums, products over the free rows,
// products over all rows; then the two that are not sums.
#pragma once

#include "exec/annotations.hpp"
#include "lbfgsb/panel.hpp"

namespace cudaopt {

struct GatherLayout {
    int columns, masked, full, maximum, minimum, size;

    explicit GatherLayout(int columns_)
        : columns(columns_), masked(row_sum_count), full(masked + panel::masked_count(columns)),
          maximum(full + panel::special * columns), minimum(maximum + 1), size(minimum + 1) {}

    // What such an array says; it stays where it is.
    PanelSums products(const double *v) const {
        PanelSums sums{};
        for (int i = 0; i < row_sum_count; i++) sums.row_sums[i] = v[i];
        sums.columns = columns;
        sums.masked = v + masked;
        sums.full = v + full;
        sums.projected_gradient_max = v[maximum];
        sums.first_breakpoint = v[minimum];
        return sums;
    }
};

} // namespace cudaopt
