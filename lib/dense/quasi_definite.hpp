// The symmetric indefinite systems of L-BFGS-B have the form S = [-A, B'; B, C] with blocks of k x k. Both A and the
// Schur complement T = C + B A^-1 B' are positive definite. Elimination without pivoting therefore gives k negative
// pivots, followed by k positive ones:
//
//     S = V'R V,    V upper triangular,    R = diag(1 / V_ii).
//
// The signs of the pivots show whether the matrix has this form. Two matrices are factorised: the middle matrix M^-1
// (Byrd, Lu, Nocedal, Zhu 1995, eq. 3.4) and the subspace matrix M^-1 - W_F'W_F / theta (eq. 5.11). They lose this form
// only if rounding errors have made the correction pairs unusable. A factorisation costs O(k^3) operations and a solve
// O(k^2), independent of the number of variables.
//
// The GPU is idle while the host solves these systems, so the code is vectorised. All loops run along the rows of V,
// where consecutive elements are contiguous in memory. Only the back substitution adds the lanes of a vector to each
// other. Each vector has two lanes on all processors, so that the results are bitwise identical on all of them.
#pragma once

#include "dense/array.hpp"
#include "dense/numbers.hpp"
#include "dense/vectors.hpp"

namespace cudaopt::dense {

// Lanes is a vector of two doubles.
#ifdef __CUDACC__ // nvcc does not support the vector extension of GCC and clang
struct Lanes {
    double v[2];
    CUDA_OPT_HD double operator[](int i) const { return v[i]; }
    CUDA_OPT_HD void operator+=(const Lanes &o) { v[0] += o.v[0], v[1] += o.v[1]; }
    CUDA_OPT_HD void operator-=(const Lanes &o) { v[0] -= o.v[0], v[1] -= o.v[1]; }
};
CUDA_OPT_HD inline Lanes operator+(const Lanes &a, const Lanes &b) { return {{a.v[0] + b.v[0], a.v[1] + b.v[1]}}; }
CUDA_OPT_HD inline Lanes operator*(const Lanes &a, const Lanes &b) { return {{a.v[0] * b.v[0], a.v[1] * b.v[1]}}; }
CUDA_OPT_HD inline Lanes operator*(double a, const Lanes &b) { return {{a * b.v[0], a * b.v[1]}}; }
#else
// The vector type requires an alignment of 8 bytes only. If a function returns a reference to such a typedef, clang
// ignores this and generates loads that require 16 bytes. Wrapping the vector in a struct preserves the alignment of 8.
typedef double TwoDoubles __attribute__((vector_size(16), aligned(8), may_alias));
struct __attribute__((may_alias)) Lanes {
    TwoDoubles v;
    CUDA_OPT_HD_INLINE double operator[](int i) const { return v[i]; }
    CUDA_OPT_HD_INLINE void operator+=(const Lanes &o) { v += o.v; }
    CUDA_OPT_HD_INLINE void operator-=(const Lanes &o) { v -= o.v; }
};
CUDA_OPT_HD_INLINE Lanes operator+(const Lanes &a, const Lanes &b) { return {a.v + b.v}; }
CUDA_OPT_HD_INLINE Lanes operator*(const Lanes &a, const Lanes &b) { return {a.v * b.v}; }
CUDA_OPT_HD_INLINE Lanes operator*(double a, const Lanes &b) { return {a * b.v}; }
#endif

template <int most> class QuasiDefiniteOf {
  public:
    template <class Visit> CUDA_OPT_HD constexpr void each_array(int capacity, Visit &visit) {
        visit(v_, int64_t{2} * capacity * stride(capacity));
        visit(reciprocals_, 2 * capacity);
        visit(factors_, 2 * capacity);
    }

    // Prepares the object for blocks of k x k and sets all elements to 0. If the size of the arrays is set at run time
    // and k has not changed, the elements are left as they are. This suffices because factor_triangular() does not
    // write to the elements that it assumes to be 0, and the caller assigns all other elements each time.
    CUDA_OPT_HD void resize(int k) {
        if (k == k_ && most == 0) return;
        k_ = k;
        fill(v_.data(), 2 * (most > 0 ? most : k) * pitch(), 0);
        fill(reciprocals_.data(), 2 * k, 0);
    }

    // Validates an object that was loaded as bytes.
    bool is_consistent(int capacity) const { return is_within(0, k_, capacity); }

    // Returns the address of row i. The caller stores the upper triangle of S in these rows and then calls factor() or
    // factor_triangular().
    CUDA_OPT_HD double *row(int i) { return v_.data() + i * pitch(); }
    CUDA_OPT_HD const double *row(int i) const { return v_.data() + i * pitch(); }
    CUDA_OPT_HD double &operator()(int i, int j) { return row(i)[j]; }
    CUDA_OPT_HD double operator()(int i, int j) const { return row(i)[j]; }

    // Factorises S. Returns false if a pivot has the wrong sign or is not finite; pivots are never modified. In this
    // function and in those below, k is the argument of resize(). It may be a compile-time constant, of the type that
    // at_size() (dense/array.hpp) passes to its body.
    template <class Size> CUDA_OPT_HD bool factor(Size k) {
        CUDA_OPT_NOT_PURE
        CUDA_OPT_UNROLLED(2 * times_unrolled<Size>)
        for (int i = 0; i < 2 * k; i++) {
            eliminate(k, 0, i, i);
            if (!take_pivot(i, i < k)) return false;
        }
        return true;
    }

    // Factorises S, as factor() does, for a diagonal A and a strictly lower triangular B. The elements that are 0 are
    // skipped.
    template <class Size> CUDA_OPT_HD bool factor_triangular(Size k) {
        CUDA_OPT_NOT_PURE
        CUDA_OPT_UNROLLED(times_unrolled<Size>)
        for (int i = 0; i < k; i++)
            if (!take_pivot(i, true)) return false;
        CUDA_OPT_UNROLLED(times_unrolled<Size>)
        for (int i = 0; i < k; i++) {
            eliminate(k, 0, i, k + i);
            eliminate(k, k, k + i, k + i);
            if (!take_pivot(k + i, false)) return false;
        }
        return true;
    }

    // Solves the system: b is replaced by S^-1 b. The vector b has 2k elements.
    template <class Size> CUDA_OPT_HD void solve(Size k, double *b) const {
        reduce(k, b);
        substitute_back(k, b);
    }

    // Replaces b by (V'R)^-1 b, which is the first half of a solve and suffices for a bilinear form a'S^-1 b. Each step
    // processes two rows, so that all steps access b in the same pairs of elements. If a step loaded two elements that
    // the previous step had stored in different pairs, the processor would delay the load.
    template <class Size> CUDA_OPT_HD void reduce(Size k, double *b) const {
        CUDA_OPT_NOT_PURE
        const int size = 2 * k;
        const double *const reciprocals = reciprocals_.data();
        CUDA_OPT_UNROLLED(times_unrolled<Size>)
        for (int i = 0; i < size; i += 2) {
            const double *const v0 = row(i), *const v1 = row(i + 1);
            const double y0 = reciprocals[i] * b[i];
            b[i + 1] -= y0 * v0[i + 1];
            const double y1 = reciprocals[i + 1] * b[i + 1];
            for (int j = i + 2; j < size; j += 2) lanes(b + j) -= y0 * lanes(v0 + j) + y1 * lanes(v1 + j);
        }
    }

    // Applies reduce() to four vectors, which are `stride` elements apart, with the same bits. The steps of one vector
    // wait for each other, so that four vectors take little longer than one.
    CUDA_OPT_HD void reduce_four(int k, double *b, int stride) const {
        CUDA_OPT_NOT_PURE
        const int size = 2 * k;
        const double *const reciprocals = reciprocals_.data();
        for (int i = 0; i < size; i += 2) {
            const double *const v0 = row(i), *const v1 = row(i + 1);
            double y0[4], y1[4];
            for (int q = 0; q < 4; q++) {
                double *const of = b + q * stride;
                y0[q] = reciprocals[i] * of[i];
                of[i + 1] -= y0[q] * v0[i + 1];
                y1[q] = reciprocals[i + 1] * of[i + 1];
            }
            for (int j = i + 2; j < size; j += 2)
                for (int q = 0; q < 4; q++) lanes(b + q * stride + j) -= y0[q] * lanes(v0 + j) + y1[q] * lanes(v1 + j);
        }
    }

    // Returns a'S^-1 b. The function reduce() must have been applied to both a and b.
    template <class Size> CUDA_OPT_HD double reduced_form(Size k, const double *a, const double *b) const {
        const double *const reciprocals = reciprocals_.data();
        double sum = 0;
        CUDA_OPT_UNROLLED(2 * times_unrolled<Size>)
        for (int i = 0; i < 2 * k; i++) sum += a[i] * reciprocals[i] * b[i];
        return sum;
    }

    // Computes a'S^-1 b, a'S^-1 c and a'S^-1 a in one loop, with the bits of reduced_form().
    CUDA_OPT_HD void reduced_forms(int k, const double *a, const double *b, const double *c, double (&forms)[3]) const {
        const double *const reciprocals = reciprocals_.data();
        double with_b = 0, with_c = 0, with_a = 0;
        for (int i = 0; i < 2 * k; i++) {
            const double scaled = a[i] * reciprocals[i];
            with_b += scaled * b[i];
            with_c += scaled * c[i];
            with_a += scaled * a[i];
        }
        forms[0] = with_b, forms[1] = with_c, forms[2] = with_a;
    }

  private:
    CUDA_OPT_HD static Lanes &lanes(double *two) { return *reinterpret_cast<Lanes *>(two); }
    CUDA_OPT_HD static const Lanes &lanes(const double *two) { return *reinterpret_cast<const Lanes *>(two); }

    // The elimination processes the columns in groups of 4. The last group of a row may extend past the end of the row,
    // into unused padding.
    static constexpr int granule = 4;
    CUDA_OPT_HD static constexpr int stride(int k) { return 2 * k + granule; }
    CUDA_OPT_HD int pitch() const { return stride(most > 0 ? most : k_); }

    // Computes row i of V from the diagonal element on. It subtracts V_pi / V_pp v_p from row i for each earlier row p,
    // begin <= p < end, where v_p is row p.
    template <class Size> CUDA_OPT_HD_INLINE void eliminate(Size k, int begin, int end, int i) {
        const int size = 2 * k;
        const double *const reciprocals = reciprocals_.data();
        double *const factors = factors_.data();
        for (int p = begin; p < end; p++) factors[p] = row(p)[i] * reciprocals[p];
        int j = i;
        for (; j + granule < size; j += 2 * granule) eliminate_block<2 * granule>(begin, end, i, j);
        if (j < size) eliminate_block<granule>(begin, end, i, j);
    }

    template <int width> CUDA_OPT_HD_INLINE void eliminate_block(int begin, int end, int i, int j) {
        const int pitch = this->pitch();
        const double *const factors = factors_.data();
        double *const to = row(i) + j;
        const double *from = row(begin) + j;
        Lanes sums[width / 2];
        for (int l = 0; l < width / 2; l++) sums[l] = lanes(to + 2 * l);
        for (int p = begin; p < end; p++, from += pitch)
            for (int l = 0; l < width / 2; l++) sums[l] -= factors[p] * lanes(from + 2 * l);
        for (int l = 0; l < width / 2; l++) lanes(to + 2 * l) = sums[l];
    }

    // Stores the reciprocal of pivot i. Returns false if the pivot has the wrong sign, or if the pivot or its
    // reciprocal is not finite.
    CUDA_OPT_HD bool take_pivot(int i, bool negative) {
        reciprocals_[i] = 1 / row(i)[i];
        const double magnitude = negative ? -reciprocals_[i] : reciprocals_[i];
        return magnitude > 0 && magnitude <= largest_finite;
    }

    // Replaces b by V^-1 b, from the last row upwards. Row i needs element i + 1, which is computed last. Its term is
    // therefore subtracted at the end, so that the rest of the sum does not wait for it.
    template <class Size> CUDA_OPT_HD void substitute_back(Size k, double *b) const {
        CUDA_OPT_NOT_PURE
        CUDA_OPT_UNROLLED(times_unrolled<Size>)
        for (int i = 2 * k - 2; i >= 0; i -= 2) {
            const double *v0 = row(i), *v1 = row(i + 1);
            Lanes sum0 = {}, sum1 = {};
            for (int j = 2 * k - 2; j > i; j -= 2) {
                sum0 += lanes(v0 + j) * lanes(b + j);
                sum1 += lanes(v1 + j) * lanes(b + j);
            }
            b[i + 1] = reciprocals_[i + 1] * (b[i + 1] - (sum1[0] + sum1[1]));
            b[i] = reciprocals_[i] * (b[i] - (sum0[0] + sum0[1]) - v0[i + 1] * b[i + 1]);
        }
    }

    int k_ = 0;
    Array<2 * most * stride(most)> v_; // S, then V: 2k rows of 2k + 4
    Array<2 * most> reciprocals_, factors_;
};

using QuasiDefinite = QuasiDefiniteOf<0>;

} // namespace cudaopt::dense
