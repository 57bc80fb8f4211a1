// These functions add and subtract multiples of short vectors, which have a few dozen elements.
#pragma once

#include <algorithm>

#include "exec/annotations.hpp"

namespace cudaopt::dense {

CUDA_OPT_HD inline double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Computes b -= factor * a. The vectors must not overlap.
CUDA_OPT_HD inline void subtract(double *__restrict b, double factor, const double *__restrict a, int n) {
    for (int i = 0; i < n; i++) b[i] -= factor * a[i];
}

// Computes b -= factors[0] * a0, then b -= factors[1] * a1, and so on, with the same rounding as four calls of
// subtract(). The vector b is loaded and stored once. It must not overlap with the others.
CUDA_OPT_HD inline void subtract_four(double *__restrict b, const double *factors, const double *__restrict a0,
                                      const double *__restrict a1, const double *__restrict a2,
                                      const double *__restrict a3, int n) {
    const double f0 = factors[0], f1 = factors[1], f2 = factors[2], f3 = factors[3];
    for (int i = 0; i < n; i++) b[i] = b[i] - f0 * a0[i] - f1 * a1[i] - f2 * a2[i] - f3 * a3[i];
}

// Computes b += factor * a. The vectors must not overlap.
CUDA_OPT_HD inline void add(double *__restrict b, double factor, const double *__restrict a, int n) {
    for (int i = 0; i < n; i++) b[i] += factor * a[i];
}

// Copies n elements. The ranges may overlap if `to` < `from`. A compiler therefore cannot vectorise a loop for the
// host.
CUDA_OPT_HD inline void copy(const double *from, int n, double *to) {
#ifdef __CUDA_ARCH__
    for (int i = 0; i < n; i++) to[i] = from[i];
#else
    std::copy_n(from, n, to);
#endif
}

CUDA_OPT_HD inline void fill(double *to, int n, double value) {
    for (int i = 0; i < n; i++) to[i] = value;
}

} // namespace cudaopt::dense
