// A small dense matrix of doubles, row by row. Its storage is reserved once: resizing within the reserve never
// allocates.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace cudaopt::dense {

using Vector = std::vector<double>;

class Matrix {
  public:
    Matrix() = default;
    Matrix(int rows, int columns) { resize(rows, columns); }

    void reserve(int rows, int columns) { values_.reserve(static_cast<std::size_t>(rows) * columns); }
    // All elements become 0.
    void resize(int rows, int columns) {
        rows_ = rows;
        columns_ = columns;
        values_.assign(static_cast<std::size_t>(rows) * columns, 0.0);
    }
    int rows() const { return rows_; }
    int columns() const { return columns_; }
    double &operator()(int i, int j) { return values_[static_cast<std::size_t>(i) * columns_ + j]; }
    double operator()(int i, int j) const { return values_[static_cast<std::size_t>(i) * columns_ + j]; }
    double *row(int i) { return values_.data() + static_cast<std::size_t>(i) * columns_; }
    const double *row(int i) const { return values_.data() + static_cast<std::size_t>(i) * columns_; }

  private:
    int rows_ = 0, columns_ = 0;
    std::vector<double> values_;
};

inline double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// a becomes its lower Cholesky factor (the upper triangle is left alone). False when a pivot is not positive: the
// matrix is not positive definite, or not finite. Pivots are never modified.
inline bool cholesky(Matrix &a) {
    for (int j = 0; j < a.rows(); j++) {
        const double pivot = a(j, j) - dot(a.row(j), a.row(j), j);
        if (!(pivot > 0) || pivot > 1.7e308) return false;
        a(j, j) = std::sqrt(pivot);
        for (int i = j + 1; i < a.rows(); i++) a(i, j) = (a(i, j) - dot(a.row(i), a.row(j), j)) / a(j, j);
    }
    return true;
}

// b <- L^-1 b, with the lower triangle L of a.
inline void solve_lower(const Matrix &a, double *b) {
    for (int i = 0; i < a.rows(); i++) b[i] = (b[i] - dot(a.row(i), b, i)) / a(i, i);
}

// b <- L^-T b.
inline void solve_lower_transposed(const Matrix &a, double *b) {
    for (int i = a.rows() - 1; i >= 0; i--) {
        b[i] /= a(i, i);
        for (int j = 0; j < i; j++) b[j] -= a(i, j) * b[i];
    }
}

// b <- R^-1 b and b <- R^-T b, with the upper triangle R of the leading k x k block of a.
inline void solve_upper(const Matrix &a, int k, double *b) {
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) b[i] -= a(i, j) * b[j];
        b[i] /= a(i, i);
    }
}

inline void solve_upper_transposed(const Matrix &a, int k, double *b) {
    for (int i = 0; i < k; i++) {
        b[i] /= a(i, i);
        for (int j = i + 1; j < k; j++) b[j] -= a(i, j) * b[i];
    }
}

} // namespace cudaopt::dense
