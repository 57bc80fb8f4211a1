// These functions add and subtract multiples of short vectors, which have a few dozen elements.
#pragma once

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

// Computes b += factor * a. The vectors must not overlap.
CUDA_OPT_HD inline void add(double *__restrict b, double factor, const double *__restrict a, int n) {
    for (int i = 0; i < n; i++) b[i] += factor * a[i];
}

CUDA_OPT_HD inline void copy(const double *from, int n, double *to) {
    for (int i = 0; i < n; i++) to[i] = from[i];
}

CUDA_OPT_HD inline void fill(double *to, int n, double value) {
    for (int i = 0; i < n; i++) to[i] = value;
}

} // namespace cudaopt::dense
