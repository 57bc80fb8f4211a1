// The symmetric indefinite systems of L-BFGS-B have one form, S = [-A, B'; B, C] in blocks of k x k, with A and
// T = C + B A^-1 B' positive definite. Elimination in the given order therefore meets k negative pivots and then k
// positive ones, and needs no others:
//
//     S = V'R V,    V upper triangular,    R = diag(1 / V_ii).
//
// The signs of the pivots decide whether the form is kept: the middle matrix M^-1 (Byrd, Lu, Nocedal, Zhu 1995,
// eq. 3.4) and the subspace matrix M^-1 - W_F'W_F / theta (eq. 5.11) both break down only where the memory has become
// useless. O(k^3) once, O(k^2) a solve; independent of n.
//
// The host does this while a GPU waits. So everything goes along rows, where a vector instruction finds its numbers
// side by side, and no sum runs across the lanes of one but in the solve. The lanes are two, which every 64-bit
// processor has: the bits are the same on all that round alike.
#pragma once

#include <limits>

#include "dense/matrix.hpp"

namespace cudaopt::dense {

class QuasiDefinite {
  public:
    explicit QuasiDefinite(int capacity) {
        v_.reserve(2 * capacity, padded(2 * capacity));
        reciprocals_.reserve(2 * capacity);
        factors_.resize(2 * capacity);
    }

    // All elements become 0, but only where k changes: factor_triangular() leaves the zeros it passes over as they are,
    // and the others have to be filled in each time.
    void resize(int k) {
        if (k == k_) return;
        k_ = k;
        v_.resize(2 * k, padded(2 * k));
        reciprocals_.resize(2 * k);
    }

    // The upper triangle of S, to be filled in before it is factorised.
    double &operator()(int i, int j) { return v_(i, j); }
    double *row(int i) { return v_.row(i); }

    // False: breakdown. Pivots are never modified.
    bool factor() {
        for (int i = 0; i < 2 * k_; i++) {
            eliminate(0, i, i);
            if (!take_pivot(i)) return false;
        }
        return true;
    }

    // The same for diagonal A and strictly lower triangular B: what is 0 is passed over.
    bool factor_triangular() {
        for (int i = 0; i < k_; i++)
            if (!take_pivot(i)) return false;
        for (int i = 0; i < k_; i++) {
            eliminate(0, i, k_ + i);
            eliminate(k_, k_ + i, k_ + i);
            if (!take_pivot(k_ + i)) return false;
        }
        return true;
    }

    // b <- S^-1 b, 2k numbers.
    void solve(double *b) const {
        reduce(b);
        substitute_back(b);
    }

    // b <- (V'R)^-1 b, half of a solve, which is all that a form a'S^-1 b needs. Two rows at a time, so that pairs of
    // elements are written and read again as the same pairs.
    void reduce(double *b) const {
        for (int i = 0; i < 2 * k_; i += 2) {
            const double *v0 = v_.row(i), *v1 = v_.row(i + 1);
            const double y0 = reciprocals_[i] * b[i];
            b[i + 1] -= y0 * v0[i + 1];
            const double y1 = reciprocals_[i + 1] * b[i + 1];
            for (int j = i + 2; j < 2 * k_; j += 2) lanes(b + j) -= y0 * lanes(v0 + j) + y1 * lanes(v1 + j);
        }
    }

    // a'S^-1 b of a and b that have been reduced.
    double reduced_form(const double *a, const double *b) const {
        double sum = 0;
        for (int i = 0; i < 2 * k_; i++) sum += a[i] * reciprocals_[i] * b[i];
        return sum;
    }

  private:
    typedef double Lanes __attribute__((vector_size(16), aligned(8), may_alias));
    static Lanes &lanes(double *two) { return *reinterpret_cast<Lanes *>(two); }
    static const Lanes &lanes(const double *two) { return *reinterpret_cast<const Lanes *>(two); }

    static constexpr int granule = 4; // columns; a row's last one may reach beyond its end, to what is of no use
    static int padded(int columns) { return columns + granule; }

    // Row i of V, from its diagonal on: v_i -= sum of V_pi / V_pp v_p over the rows p in [begin, end).
    void eliminate(int begin, int end, int i) {
        for (int p = begin; p < end; p++) factors_[p] = v_(p, i) * reciprocals_[p];
        int j = i;
        for (; j + granule < 2 * k_; j += 2 * granule) eliminate_block<2 * granule>(begin, end, i, j);
        if (j < 2 * k_) eliminate_block<granule>(begin, end, i, j);
    }

    template <int width> void eliminate_block(int begin, int end, int i, int j) {
        Lanes sums[width / 2];
        for (int l = 0; l < width / 2; l++) sums[l] = lanes(v_.row(i) + j + 2 * l);
        for (int p = begin; p < end; p++)
            for (int l = 0; l < width / 2; l++) sums[l] -= factors_[p] * lanes(v_.row(p) + j + 2 * l);
        for (int l = 0; l < width / 2; l++) lanes(v_.row(i) + j + 2 * l) = sums[l];
    }

    // False when the pivot has not the sign it must have, or it or its reciprocal is not finite.
    bool take_pivot(int i) {
        reciprocals_[i] = 1 / v_(i, i);
        const double magnitude = i < k_ ? -reciprocals_[i] : reciprocals_[i];
        return magnitude > 0 && magnitude <= std::numeric_limits<double>::max();
    }

    // b <- V^-1 b, from the last row up; the sums end with what was found last, so that they need not wait for it.
    void substitute_back(double *b) const {
        for (int i = 2 * k_ - 2; i >= 0; i -= 2) {
            const double *v0 = v_.row(i), *v1 = v_.row(i + 1);
            Lanes sum0 = {}, sum1 = {};
            for (int j = 2 * k_ - 2; j > i; j -= 2) {
                sum0 += lanes(v0 + j) * lanes(b + j);
                sum1 += lanes(v1 + j) * lanes(b + j);
            }
            b[i + 1] = reciprocals_[i + 1] * (b[i + 1] - (sum1[0] + sum1[1]));
            b[i] = reciprocals_[i] * (b[i] - (sum0[0] + sum0[1]) - v0[i + 1] * b[i + 1]);
        }
    }

    int k_ = 0;
    Matrix v_; // S, then V
    Vector reciprocals_, factors_;
};

} // namespace cudaopt::dense
