// The panel: the columns whose inner products one sweep gathers, in one order for every executor.
//
//   column   0      1      2   3   4       5       6       7       ...
//            y_new  s_new  g   z   y_1old  s_1old  y_2old  s_2old  ...      (newest pair first)
//
// The first four stand in the same block of eight, the granule of the GPU's matrix instructions, because their products
// with all columns are wanted over all rows; those of the others only over the rows that are free.
// s_j is stored as the direction d_j it came from; the step length that makes it s_j is a scalar kept elsewhere.
#pragma once

#include <cstdint>

#include "exec/annotations.hpp"

namespace cudaopt {

namespace panel {

constexpr int gradient = 2;     // column of g
constexpr int displacement = 3; // column of z, the way from x to the bound for each row that was crossed
constexpr int special = 4;      // y_new, s_new, g, z: the rows of the products over all rows

CUDA_OPT_HD constexpr int columns(int pairs) { return special + (pairs > 1 ? 2 * (pairs - 1) : 0); }
CUDA_OPT_HD constexpr int y_column(int age) { return age == 0 ? 0 : special + 2 * (age - 1); } // age 0: the newest pair
CUDA_OPT_HD constexpr int s_column(int age) { return y_column(age) + 1; }

// Products of columns i <= j over the free rows, packed by rows of the upper triangle.
CUDA_OPT_HD constexpr int masked_count(int columns) { return columns * (columns + 1) / 2; }
CUDA_OPT_HD constexpr int masked_index(int i, int j, int columns) { return i * columns - i * (i - 1) / 2 + (j - i); }

} // namespace panel

// What one sweep over the rows learns besides the inner products. Over all rows unless said otherwise.
enum RowSum {
    projected_gradient_squared, // sum of (P g)_i^2
    x_squared,                  // sum of x_i^2
    at_lower,                   // rows with x = l
    at_upper,                   // rows with x = u > l
    free_rows,                  // rows whose breakpoint lies beyond the threshold
    not_finite,                 // rows whose g is NaN or Inf
    row_sum_count
};

// Where the products stand belongs to the sweeps, until their next gather.
struct PanelSums {
    double row_sums[row_sum_count];
    double projected_gradient_max; // max |(P g)_i|
    double first_breakpoint;       // least breakpoint beyond the threshold
    double f;                      // the caller's f, read on the way
    int columns;                   // of the panel
    const double *masked;          // panel::masked_count(columns): over the free rows
    const double *full;            // special x columns, by rows: over all rows

    CUDA_OPT_HD double over_free(int i, int j) const {
        return i <= j ? masked[panel::masked_index(i, j, columns)] : masked[panel::masked_index(j, i, columns)];
    }
    CUDA_OPT_HD double over_all(int special_row, int j) const { return full[special_row * columns + j]; }
};

} // namespace cudaopt
