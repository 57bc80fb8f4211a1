// The panel consists of the columns whose inner products one sweep forms. Their order is the same for every backend:
//
//   column   0      1      2   3   4       5       6       7       ...
//            y_new  s_new  g   z   y_1old  s_1old  y_2old  s_2old  ...      (newest pair first)
//
// The first four columns are in the same block of eight, the tile size of the GPU's matrix instructions, because their
// products with all columns are needed over all variables, and the others over the free variables only. s_j is stored
// as the direction d_j. The step length with s_j = step_j d_j is a scalar in CompactMatrix.
#pragma once

#include <cmath>

#include "exec/annotations.hpp"

namespace cudaopt {

namespace panel {

constexpr int y_new = 0, s_new = 1;
constexpr int gradient = 2; // column of g
// Column of z. z_i = bound - x_i for each variable whose breakpoint lies in (0, threshold], and 0 for the others. The
// Cauchy search has crossed the breakpoints up to the threshold. If it is 0, the products with z are not set.
constexpr int displacement = 3;
constexpr int leading = 4; // number of leading columns: y_new, s_new, g, z

CUDA_OPT_HD constexpr int columns(int pairs) { return leading + (pairs > 1 ? 2 * (pairs - 1) : 0); }
CUDA_OPT_HD constexpr int y_column(int age) { return age == 0 ? 0 : leading + 2 * (age - 1); } // age 0: the newest pair
CUDA_OPT_HD constexpr int s_column(int age) { return y_column(age) + 1; }

CUDA_OPT_HD constexpr int age(int column) { return column < leading ? 0 : (column - leading) / 2 + 1; }
// Returns the number of correction pairs in a panel, which must contain at least one.
CUDA_OPT_HD constexpr int pairs(int columns) { return (columns - leading) / 2 + 1; }

// In coordinates scaled by h, y and g (even columns) are multiplied by sqrt(h), s and z (odd columns) divided by it.
CUDA_OPT_HD constexpr bool inverse(int column) { return column % 2 == 1; }
struct Scaling {
    double root, inverse_root; // sqrt(h) and 1 / sqrt(h); both are 1 without a diagonal
    CUDA_OPT_HD_INLINE double of(int column) const { return inverse(column) ? inverse_root : root; }
};
// sqrt and division are correctly rounded on every backend, so that all backends obtain the same scaling.
CUDA_OPT_HD_INLINE Scaling scaling_of(double h) {
    const double root = std::sqrt(h);
    return {root, 1 / root};
}

// The products of the columns i <= j over the free variables are packed by rows of the upper triangle.
CUDA_OPT_HD constexpr int gram_count(int columns) { return columns * (columns + 1) / 2; }
CUDA_OPT_HD constexpr int gram_index(int i, int j, int columns) { return i * columns - i * (i - 1) / 2 + (j - i); }

// The products s_i's_j of the older pairs, with ages 1 <= i <= j, are over all variables. They are packed in the same
// way as the products over the free variables. Products with the newest step are among those of the leading columns.
CUDA_OPT_HD constexpr int older(int pairs) { return pairs > 1 ? pairs - 1 : 0; }
CUDA_OPT_HD constexpr int older_count(int pairs) { return gram_count(older(pairs)); }
CUDA_OPT_HD constexpr int older_index(int i, int j, int pairs) { return gram_index(i - 1, j - 1, older(pairs)); }

// Returns whether the products with a column of n numbers, the sum of whose squares is `squares`, can be formed in
// single precision: no product overflows, and those that underflow, each less than 2^-126, are negligible.
CUDA_OPT_HD_INLINE bool fits_single_precision(double squares, double n) {
    return squares >= n * 0x1p-102 && squares <= 0x1p126;
}

} // namespace panel

// Sums that the same sweep forms. They are over all variables unless stated otherwise.
enum VariableSum {
    projected_gradient_squared, // sum of (P g)_i^2
    x_squared,                  // sum of x_i^2
    at_lower,                   // number of variables with x = l
    at_upper,                   // number of variables with x = u > l
    free_variables,             // number of variables whose breakpoint exceeds PanelRequest::threshold
    not_finite,                 // number of variables whose g is NaN or Inf
    // The following sums involve the diagonal h of B_0 = theta diag(1 / h). They are set only if
    // PanelRequest::in_metric() is true.
    bad_weights,  // number of variables whose h is not positive and finite
    newest_y_sum, // newest pair: sum of y_i^2 if the products are weighted, otherwise sum of h_i y_i^2
    newest_d_sum, // newest pair: sum of d_i^2 if the products are weighted, otherwise sum of d_i^2 / h_i
    variable_sum_count
};

// The results of inner products. The arrays belong to the backend and are valid until its next inner products.
struct PanelProducts {
    double variable_sums[variable_sum_count];
    double projected_gradient_max; // max |(P g)_i|
    double first_breakpoint;       // least breakpoint beyond the threshold
    double f;                      // the value of f, which the same sweep reads from the caller's memory
    int columns;                   // number of columns of the panel
    // The panel::gram_count(columns) products over the free variables.
    const double *free_gram;
    // The products of the leading columns with all columns, over all variables, stored by rows.
    const double *leading_products;
    // The panel::older_count(pairs) products s_i's_j of the older pairs over all variables, or NULL.
    const double *older_steps;

    CUDA_OPT_HD double over_free(int i, int j) const {
        return i <= j ? free_gram[panel::gram_index(i, j, columns)] : free_gram[panel::gram_index(j, i, columns)];
    }
    CUDA_OPT_HD double over_all(int leading_column, int j) const {
        return leading_products[leading_column * columns + j];
    }
    // s_i's_j of the pairs with ages i <= j. For i > 0 the products of the older steps must have been requested.
    CUDA_OPT_HD double steps_over_all(int i, int j) const {
        return i == 0 ? over_all(panel::s_new, panel::s_column(j))
                      : older_steps[panel::older_index(i, j, panel::pairs(columns))];
    }
    // Returns whether the products with y_new, s_new and g can be formed in single precision. The older columns are
    // tested before the request, by CompactMatrix::fits_single_precision().
    CUDA_OPT_HD bool fit_single_precision(double n) const {
        const auto fits = [&](int j) { return panel::fits_single_precision(over_all(j, j), n); };
        return fits(panel::y_new) && fits(panel::s_new) && fits(panel::gradient);
    }
};

} // namespace cudaopt
