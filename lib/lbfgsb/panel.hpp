// The panel: the columns whose inner products one sweep forms, in one order for every backend.
//
//   column   0      1      2   3   4       5       6       7       ...
//            y_new  s_new  g   z   y_1old  s_1old  y_2old  s_2old  ...      (newest pair first)
//
// The first four stand in the same block of eight, the granule of the GPU's matrix instructions, because their products
// with all columns are wanted over all variables; those of the others only over the variables that are free.
// s_j is stored as the direction d_j it came from; the step length that makes it s_j is a scalar kept elsewhere.
#pragma once

#include <cmath>

#include "exec/annotations.hpp"

namespace cudaopt {

namespace panel {

constexpr int y_new = 0, s_new = 1;
constexpr int gradient = 2;     // column of g
constexpr int displacement = 3; // column of z, the way from x to the bound for each variable that was crossed: where
                                // the threshold is 0 there is none, and its products are not set
constexpr int leading = 4;      // y_new, s_new, g, z: the rows of the products over all variables

CUDA_OPT_HD constexpr int columns(int pairs) { return leading + (pairs > 1 ? 2 * (pairs - 1) : 0); }
CUDA_OPT_HD constexpr int y_column(int age) { return age == 0 ? 0 : leading + 2 * (age - 1); } // age 0: the newest pair
CUDA_OPT_HD constexpr int s_column(int age) { return y_column(age) + 1; }

CUDA_OPT_HD constexpr int age(int column) { return column < leading ? 0 : (column - leading) / 2 + 1; }
CUDA_OPT_HD constexpr int pairs(int columns) { return (columns - leading) / 2 + 1; } // of a panel with one at least

// The coordinates that a diagonal h scales: y and g, in even columns, stand there times sqrt(h), s and z, in odd ones,
// divided by it.
CUDA_OPT_HD constexpr bool inverse(int column) { return column % 2 == 1; }
struct Scaling {
    double root, inverse_root; // of h; both 1 without a diagonal
    CUDA_OPT_HD_INLINE double of(int column) const { return inverse(column) ? inverse_root : root; }
};
// Of operations that round alike everywhere.
CUDA_OPT_HD_INLINE Scaling scaling_of(double h) {
    const double root = std::sqrt(h);
    return {root, 1 / root};
}

// Products of columns i <= j over the free variables, packed by rows of the upper triangle.
CUDA_OPT_HD constexpr int gram_count(int columns) { return columns * (columns + 1) / 2; }
CUDA_OPT_HD constexpr int gram_index(int i, int j, int columns) { return i * columns - i * (i - 1) / 2 + (j - i); }

// Products over all variables of the steps s but the newest's, whose are among the leading columns': of ages i <= j
// from 1 on, packed as those over the free variables.
CUDA_OPT_HD constexpr int older(int pairs) { return pairs > 1 ? pairs - 1 : 0; }
CUDA_OPT_HD constexpr int older_count(int pairs) { return gram_count(older(pairs)); }
CUDA_OPT_HD constexpr int older_index(int i, int j, int pairs) { return gram_index(i - 1, j - 1, older(pairs)); }

// Whether products with a column of n numbers, of which this is the sum of squares, keep their digits in single
// precision: none overflows, and what underflows, less than 2^-126 a product, is not missed.
CUDA_OPT_HD_INLINE bool fits_single_precision(double squares, double n) {
    return squares >= n * 0x1p-102 && squares <= 0x1p126;
}

} // namespace panel

// What one sweep over the variables learns besides the inner products. Over all variables unless said otherwise.
enum VariableSum {
    projected_gradient_squared, // sum of (P g)_i^2
    x_squared,                  // sum of x_i^2
    at_lower,                   // variables with x = l
    at_upper,                   // variables with x = u > l
    free_variables,             // variables whose breakpoint lies beyond the threshold
    not_finite,                 // variables whose g is NaN or Inf
    // Of products in a metric alone:
    bad_weights,  // variables whose h is not positive and finite
    newest_y_sum, // sum of y_i^2 of the newest pair where the products are weighted, of h_i y_i^2 where they are not
    newest_d_sum, // likewise of d_i^2, or of d_i^2 / h_i
    variable_sum_count
};

// Where the products stand belongs to the sweeps, until their next inner products.
struct PanelProducts {
    double variable_sums[variable_sum_count];
    double projected_gradient_max;  // max |(P g)_i|
    double first_breakpoint;        // least breakpoint beyond the threshold
    double f;                       // the caller's f, read on the way
    int columns;                    // of the panel
    const double *free_gram;        // panel::gram_count(columns): over the free variables
    const double *leading_products; // leading x columns, by rows: over all variables
    const double *older_steps;      // panel::older_count(pairs): over all variables. NULL: not asked for

    CUDA_OPT_HD double over_free(int i, int j) const {
        return i <= j ? free_gram[panel::gram_index(i, j, columns)] : free_gram[panel::gram_index(j, i, columns)];
    }
    CUDA_OPT_HD double over_all(int leading_column, int j) const {
        return leading_products[leading_column * columns + j];
    }
    // s_i's_j of ages i <= j, where those of the older steps have been asked for.
    CUDA_OPT_HD double steps_over_all(int i, int j) const {
        return i == 0 ? over_all(panel::s_new, panel::s_column(j))
                      : older_steps[panel::older_index(i, j, panel::pairs(columns))];
    }
    // Whether those of the newest columns keep their digits where they were formed in single precision; of the older
    // ones that has been known since they were new.
    CUDA_OPT_HD bool fit_single_precision(double n) const {
        const auto fits = [&](int j) { return panel::fits_single_precision(over_all(j, j), n); };
        return fits(panel::y_new) && fits(panel::s_new) && fits(panel::gradient);
    }
};

} // namespace cudaopt
