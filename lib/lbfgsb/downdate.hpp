// Subtracts the products of variables that the Cauchy search fixes at bounds from the products over the free ones.
#pragma once

#include "dense/vectors.hpp"
#include "lbfgsb/requests.hpp"

namespace cudaopt {

// The largest number of variables for which downdating the products takes less time than forming them again. With 12
// columns, a variable takes about 11 ns, and a sweep over the free variables on an H100 15 us and 30 ps per variable.
// The former grows with the square of the number of columns, the latter with this number. In one window, more than 512
// variables are downdated only if at least as many remain free, because too many digits would cancel otherwise.
CUDA_OPT_HD inline int64_t most_downdates(double free_variables, int columns) {
    const double most = (2e5 / columns + free_variables / 32) / columns;
    return static_cast<int64_t>(least(most, greatest(free_variables, 512.0)));
}
// The same for a small problem whose capacity of the history is a compile-time constant.
CUDA_OPT_HD inline int64_t most_downdates(double free_variables) {
    return 512 + static_cast<int64_t>(free_variables / 2000);
}

// Subtracts the products of the panel's columns for `count` variables from `gram`, packed as PanelProducts::free_gram.
// Those with g and z are left out: they are not needed, and CrossedVariable::w has no elements of these columns. Four
// variables are processed at a time, in their order, so that the bits are those of one at a time.
CUDA_OPT_HD inline void subtract_products(const CrossedVariable *variables, int64_t count, int columns, double *gram) {
    static_assert(panel::gradient == 2 && panel::displacement == 3 && panel::leading == 4,
                  "the columns that are left out lie between the leading columns y and s and the older pairs");
    // Calls subtract(row, begin, end) for the ranges of columns of each row of the packed matrix.
    const auto for_each_range = [&](const auto &subtract) {
        double *row = gram;
        for (int i = 0; i < columns; row += columns - i, i++) {
            if (i == panel::gradient || i == panel::displacement) continue;
            if (i < panel::gradient) subtract(row - i, i, i, static_cast<int>(panel::gradient));
            subtract(row - i, i, i < panel::leading ? static_cast<int>(panel::leading) : i, columns);
        }
    };
    const CrossedVariable *const end = variables + count;
    for (; end - variables >= 4; variables += 4) {
        const double *const w[] = {variables[0].w, variables[1].w, variables[2].w, variables[3].w};
        for_each_range([&](double *row, int i, int begin, int columns_end) {
            const double factors[] = {w[0][i], w[1][i], w[2][i], w[3][i]};
            dense::subtract_four(row + begin, factors, w[0] + begin, w[1] + begin, w[2] + begin, w[3] + begin,
                                 columns_end - begin);
        });
    }
    for (; variables < end; variables++)
        for_each_range([w = variables->w](double *row, int i, int begin, int columns_end) {
            dense::subtract(row + begin, w[i], w + begin, columns_end - begin);
        });
}

} // namespace cudaopt
