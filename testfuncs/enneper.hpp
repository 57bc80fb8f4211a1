// Enneper's minimal surface over the sides of the square (-1/2, 1/2)^2:
//
//     v(x, y) = p^2 - q^2,   x = p + p q^2 - p^3 / 3,   y = -q - p^2 q + q^3 / 3
//
// Exchanging x and y changes the sign of v; changing the sign of x or y does not change v. Therefore one even function
// b describes all four sides: v = b(x) for |y| = 1/2, and v = -b(y) for |x| = 1/2. A polynomial in x^2 interpolates b
// to rounding error. It costs a few operations per evaluation, on host and device.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt::testfuncs {

class EnneperSide {
  public:
    EnneperSide();

    // Returns b(s) for |s| <= 1/2, by Clenshaw's recurrence for the Chebyshev sum of coefficient_[k] T_k(8 s^2 - 1).
    CUDA_OPT_HD double operator()(double s) const {
        const double t = 8 * s * s - 1;
        double later = 0, last = 0;
        for (int k = terms - 1; k > 0; k--) {
            const double sum = coefficient_[k] + 2 * t * last - later;
            later = last;
            last = sum;
        }
        return coefficient_[0] + t * last - later;
    }

  private:
    static constexpr int terms = 16;
    double coefficient_[terms];
};

} // namespace cudaopt::testfuncs
