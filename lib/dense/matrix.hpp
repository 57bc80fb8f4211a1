// A small dense matrix of doubles, row by row. Its storage is reserved once: resizing within the reserve never
// allocates.
#pragma once

#include <algorithm>
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
    // Each element of a square matrix moves up by one row and left by one column, all in one go; the last row and
    // column are left to be written.
    void drop_first() {
        if (rows_ > 1) std::copy(values_.begin() + columns_ + 1, values_.end(), values_.begin());
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

// b -= factor a. The two do not overlap.
inline void subtract(double *__restrict b, double factor, const double *__restrict a, int n) {
    for (int i = 0; i < n; i++) b[i] -= factor * a[i];
}

} // namespace cudaopt::dense
