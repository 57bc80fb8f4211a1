// The symmetric indefinite systems of L-BFGS-B have one form, with symmetric positive definite A and T = C + B A^-1 B':
//
//     | -A  B' | | u |   | r |
//     |  B  C  | | v | = | s |      =>      T v = s + B A^-1 r,   A u = B' v - r.
//
// Two Cholesky factorisations decide whether the form is kept: the middle matrix M^-1 (Byrd, Lu, Nocedal, Zhu 1995,
// eq. 3.4) and the subspace matrix M^-1 - W_F'W_F / theta (eq. 5.11) both break down only where the memory has become
// useless. O(k^3) once, O(k^2) a solve; independent of n.
#pragma once

#include "dense/matrix.hpp"

namespace cudaopt::dense {

class QuasiDefinite {
  public:
    explicit QuasiDefinite(int capacity) {
        for (Matrix *m : {&a, &b, &c, &half_}) m->reserve(capacity, capacity);
    }

    void resize(int k) {
        for (Matrix *m : {&a, &b, &c, &half_}) m->resize(k, k);
    }

    // The blocks, to be filled in before factor(), which overwrites a and c.
    Matrix a, b, c;

    // False: breakdown.
    bool factor() {
        const int k = a.rows();
        if (!cholesky(a)) return false;
        // half = B J^-T row by row, where A = J J'; then T = C + half half'.
        for (int i = 0; i < k; i++) {
            for (int j = 0; j < k; j++) half_(i, j) = b(i, j);
            solve_lower(a, half_.row(i));
        }
        for (int i = 0; i < k; i++)
            for (int j = 0; j <= i; j++) c(i, j) += dot(half_.row(i), half_.row(j), k);
        return cholesky(c);
    }

    // Overwrites (r, s), 2k numbers, with (u, v).
    void solve(double *rs) const {
        const int k = a.rows();
        double *r = rs, *s = rs + k;
        solve_lower(a, r);
        for (int i = 0; i < k; i++) s[i] += dot(half_.row(i), r, k);
        solve_lower(c, s);
        solve_lower_transposed(c, s);
        for (int j = 0; j < k; j++) r[j] = -r[j];
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) r[j] += half_(i, j) * s[i];
        solve_lower_transposed(a, r);
    }

  private:
    Matrix half_;
};

} // namespace cudaopt::dense
