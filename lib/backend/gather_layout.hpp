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

    void unpack(const double *v, PanelSums &sums) const {
        for (int i = 0; i < row_sum_count; i++) sums.row_sums[i] = v[i];
        sums.columns = columns;
        sums.masked.assign(v + masked, v + full);
        sums.full.assign(v + full, v + maximum);
        sums.projected_gradient_max = v[maximum];
        sums.first_breakpoint = v[minimum];
    }
};

} // namespace cudaopt
