// Loops over a few dozen numbers.
#pragma once

#include "exec/annotations.hpp"

namespace cudaopt::dense {

CUDA_OPT_HD inline double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// b -= factor a. The two do not overlap.
CUDA_OPT_HD inline void subtract(double *__restrict b, double factor, const double *__restrict a, int n) {
    for (int i = 0; i < n; i++) b[i] -= factor * a[i];
}

// b += factor a, likewise.
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
