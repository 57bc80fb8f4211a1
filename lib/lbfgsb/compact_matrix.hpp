// The compact representation B = theta I - W M W' of the limited-memory matrix, with W = [Y, theta S] (Byrd, Nocedal,
// Schnabel 1994; Byrd, Lu, Nocedal, Zhu 1995, eq. 3.2). This file contains what does not depend on n: the products of
// the stored pairs, the factorised middle matrix, and the conversion between panel columns and the basis of W.
//
// A vector in the basis of W has 2k elements: first those for y_1 .. y_k, then those for theta s_1 .. theta s_k, with
// the oldest pair first. The m + 1 slots of S and Y are numbered cyclically; the spare slot receives the next pair.
// That pair is called fresh while its slot of Y still contains the previous gradient.
//
// Here k is the number of correction pairs in the model, and m is the capacity of the history. A history may be full
// from the start. Then k = m, and pairs that do not exist yet are represented as the oldest ones, with s = y = 0, and
// with 1 in place of s'y and s's. GPU threads that solve different problems then execute the same instructions.
#pragma once

#include "dense/quasi_definite.hpp"
#include "lbfgsb/requests.hpp"

namespace cudaopt {

// The template argument M is the capacity m if it is a compile-time constant. The arrays are then members of the
// object. If M is 0, m is set at run time, and the arrays are placed behind the object (dense/array.hpp).
template <int M> class CompactMatrix {
  public:
    template <class Visit> CUDA_OPT_HD constexpr void each_array(int m, Visit &visit) {
        m_.set(m);
        const int64_t size = int64_t{m} * m;
        visit(ss_, size), visit(ys_, size), visit(yy_, size);
        visit(step_, m), visit(y_scale_, m);
    }
    // Validates an object that was read as bytes: it has the capacity for m pairs, and all its slots exist.
    bool is_consistent(int m) const {
        return m_ == m && dense::is_within(0, k_, m) && dense::is_within(0, spare_, m) &&
               dense::are_bools(unscaled_, full_) && !full_;
    }

    CUDA_OPT_HD int capacity() const { return m_; }
    CUDA_OPT_HD int pairs() const { return k_; } // the number of stored pairs
    // The number of pairs k in the model, including those that only fill a full history.
    CUDA_OPT_HD int model_pairs() const { return is_full() ? static_cast<int>(m_) : k_; }
    CUDA_OPT_HD int spare_slot() const { return spare_; }
    CUDA_OPT_HD int newest_slot() const { return (spare_ + m_) % (m_ + 1); }
    // Returns the slot of a pair. Pair 0 is the oldest.
    CUDA_OPT_HD int slot(int pair) const { return (spare_ + m_ + 1 - k_ + pair) % (m_ + 1); }
    CUDA_OPT_HD double theta() const { return theta_; }
    // The factors of a stored pair: s = step d, and y is y_scale times the stored difference of the gradients.
    CUDA_OPT_HD double step(int pair) const { return step_[pair]; }
    CUDA_OPT_HD double y_scale(int pair) const { return y_scale_[pair]; }
    // Returns the pair with the largest curvature y'y / s'y, counted from the oldest. There must be a pair.
    CUDA_OPT_HD int stiffest_pair() const {
        const int first = model_pairs() - k_;
        int stiffest = first;
        for (int j = first + 1; j < model_pairs(); j++)
            if (at(yy_, j, j) * at(ys_, stiffest, stiffest) >= at(yy_, stiffest, stiffest) * at(ys_, j, j))
                stiffest = j;
        return stiffest - first;
    }
    // s'y of a pair, with the stored difference of the gradients as y.
    CUDA_OPT_HD double curvature(int pair) const {
        const int j = model_pairs() - k_ + pair;
        return at(ys_, j, j) / y_scale_[j];
    }
    // Returns whether the stored inner products are unweighted and over all variables.
    CUDA_OPT_HD bool is_unscaled() const { return unscaled_; }
    // Returns the number that identifies the diagonal with which the stored inner products are weighted.
    CUDA_OPT_HD int64_t weights() const { return weights_; }

    // Discards all pairs and sets B = I. full: the history counts as full. It always does if M suits unrolled loops.
    CUDA_OPT_HD_CALL inline void begin(bool full) {
        full_ = full;
        drop_pairs(false);
    }

    // Discards all pairs. B becomes theta I with the last theta, which reflects the scales, if keep_theta, otherwise I.
    CUDA_OPT_HD_CALL inline void drop_pairs(bool keep_theta) {
        k_ = 0;
        unscaled_ = true;
        weights_ = no_weights;
        if (!keep_theta) unscaled_theta_ = 1;
        theta_ = unscaled_theta_;
        if (is_full()) {
            for (int i = 0; i < m_ * m_; i++) ys_.data()[i] = i % (m_ + 1) == 0, yy_.data()[i] = 0; // the unit matrix
            dense::copy(ys_.data(), m_ * m_, ss_.data());
            dense::fill(step_.data(), m_, 0), dense::fill(y_scale_.data(), m_, 1);
        }
    }

    // Sets B = theta I. There must be no pairs.
    CUDA_OPT_HD void set_scale(double theta) { theta_ = unscaled_theta_ = theta; }
    // Returns whether the fresh pair in the spare slot can be used: its inner products are normal numbers.
    CUDA_OPT_HD_INLINE static bool usable(const PanelProducts &sums, double step) {
        const double curvature = step * sums.over_all(panel::y_new, panel::s_new),
                     theta = sums.over_all(panel::y_new, panel::y_new) / curvature;
        return is_normal(curvature) && is_normal(theta) && is_normal(1 / theta) &&
               is_normal(step * step * sums.over_all(panel::s_new, panel::s_new));
    }

    // The pair in the spare slot becomes the newest one: s = step d, and y is y_scale times the difference of the
    // gradients. If there are m pairs, the oldest is discarded. `sums` are the inner products with this pair, formed
    // when it was fresh (in the spare slot), and `weights` identifies the diagonal with which they are weighted.
    // keeps_ss says whether S'S is updated, which only factor() needs. The caller must have checked that s'y > 0.
    CUDA_OPT_HD_INLINE void append(const PanelProducts &sums, double step, int64_t weights, double y_scale,
                                   bool keeps_ss) {
        // The products of older pairs may have other weights than those of the newest, until rescale_products().
        weights_ = k_ == 0 || weights == weights_ ? weights : other_weights;
        unscaled_ = unscaled_ && weights_ == no_weights;
        if (is_full() || k_ == m_) {
            dense::copy(step_.data() + 1, m_ - 1, step_.data());
            dense::copy(y_scale_.data() + 1, m_ - 1, y_scale_.data());
            if (keeps_ss) drop_oldest(ss_);
            drop_oldest(ys_), drop_oldest(yy_);
        }
        if (k_ < m_) k_++;
        const int newest = model_pairs() - 1;
        step_[newest] = step;
        y_scale_[newest] = y_scale;
        dense::at_size<M>(model_pairs(), [&](auto k) { set_newest(k, sums, keeps_ss); });
        theta_ = unscaled_theta_ = at(yy_, newest, newest) / at(ys_, newest, newest);
        if (weights != no_weights) {
            const double unscaled = y_scale * y_scale * sums.variable_sums[newest_y_sum] / at(ys_, newest, newest);
            if (is_normal(unscaled) && is_normal(1 / unscaled)) unscaled_theta_ = unscaled;
        }
        spare_ = (spare_ + 1) % (m_ + 1);
    }

    // Returns whether inner products with the stored pairs of n variables may be formed in single precision.
    CUDA_OPT_HD_CALL inline bool fits_single_precision(int64_t n) const {
        for (int i = 0; i < k_; i++)
            if (!panel::fits_single_precision(at(yy_, i, i) / (y_scale_[i] * y_scale_[i]), static_cast<double>(n)) ||
                !panel::fits_single_precision(at(ss_, i, i) / (step_[i] * step_[i]), static_cast<double>(n)))
                return false;
        return true;
    }

    // stored_panel() describes the columns y and s of the stored pairs, whose inner products the model needs, and
    // tentative_panel() those that result if the pair in the spare slot is appended. That pair is then the newest and
    // fresh: y has to be formed. free_gram: whether the products over the variables that are free at x are needed. The
    // Cauchy search corrects them for the variables that reach a bound.
    CUDA_OPT_HD inline PanelRequest stored_panel(bool free_gram = true) const {
        return {k_, newest_slot(), 0, false, free_gram, false};
    }
    CUDA_OPT_HD inline PanelRequest tentative_panel(bool free_gram = true) const {
        return {(k_ < m_ ? k_ : m_ - 1) + 1, spare_, 0, true, free_gram, false};
    }

    // Replaces the stored inner products by those in coordinates scaled by a diagonal. This changes S'S. S'Y does not
    // depend on the scaling, and only its newest row and column are set. `sums` are the weighted products of the stored
    // pairs, with s_i's_j of all pairs. theta is the scale of B_0, or 0 for y'y / s'y of the newest pair.
    CUDA_OPT_HD_INLINE void rescale_products(const PanelProducts &sums, double theta, int64_t weights) {
        if (theta > 0) theta_ = theta;
        if (k_ == 0) return;
        unscaled_ = false;
        weights_ = weights;
        // If the history counts as full, only the newest k_ of the k pairs exist, and the others fill the history.
        const int k = model_pairs(), newest = k - 1;
        for (int i = k - k_; i < k; i++) {
            const int age_i = newest - i, y_i = panel::y_column(age_i);
            at(ys_, newest, i) = y_scale_[newest] * step_[i] * sums.over_all(panel::y_new, panel::s_column(age_i));
            at(ys_, i, newest) = step_[newest] * y_scale_[i] * sums.over_all(panel::s_new, y_i);
            for (int j = i; j < k; j++) at(ss_, i, j) = step_[i] * step_[j] * sums.steps_over_all(newest - j, age_i);
        }
        if (!(theta > 0)) {
            const double scale = y_scale_[newest];
            theta_ = scale * scale * sums.over_all(panel::y_new, panel::y_new) / at(ys_, newest, newest);
        }
    }

    // Sets Y'Y from weighted products, which contain it over the free variables only: it is used only if all are free.
    CUDA_OPT_HD_INLINE void load_free_yy(const PanelProducts &sums) {
        const int k = model_pairs();
        if (k_ > 0) unscaled_ = false;
        for (int i = k - k_; i < k; i++)
            for (int j = i; j < k; j++)
                at(yy_, i, j) = at(yy_, j, i) =
                    y_scale_[i] * y_scale_[j] * sums.over_free(panel::y_column(k - 1 - j), panel::y_column(k - 1 - i));
    }

    // Replaces all stored inner products by the unweighted products of the same pairs over all variables.
    CUDA_OPT_HD_CALL inline void load_unscaled(const PanelProducts &over_all) {
        unscaled_ = true;
        weights_ = no_weights;
        theta_ = unscaled_theta_;
        for (int i = 0; i < k_; i++)
            for (int j = 0; j < k_; j++) {
                const int y_i = panel::y_column(k_ - 1 - i), s_i = panel::s_column(k_ - 1 - i),
                          y_j = panel::y_column(k_ - 1 - j), s_j = panel::s_column(k_ - 1 - j);
                at(yy_, i, j) = y_scale_[i] * y_scale_[j] * over_all.over_free(y_i, y_j);
                at(ss_, i, j) = step_[i] * step_[j] * over_all.over_free(s_i, s_j);
                at(ys_, i, j) = y_scale_[i] * step_[j] * over_all.over_free(y_i, s_j);
            }
    }

    // Factorises the inverse of the middle matrix, M^-1 = [-D, L'; L, theta S'S], where D is the diagonal of S'Y and L
    // its strictly lower triangle. Returns false on breakdown.
    using Factors = dense::QuasiDefiniteOf<M>;
    CUDA_OPT_HD_INLINE bool factor(Factors &middle) const {
        middle.resize(model_pairs());
        return dense::at_size<M>(model_pairs(), [&](auto k) {
            CUDA_OPT_NOT_PURE
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++) {
                middle(i, i) = -at(ys_, i, i);
                for (int j = i + 1; j < k; j++) middle(i, k + j) = at(ys_, i, j);
                for (int j = i; j < k; j++) middle(k + i, k + j) = theta_ss(i, j);
            }
            return middle.factor_triangular(k);
        });
    }

    // reduce_by_middle() replaces a vector v of 2k elements by (V'R)^-1 v, where the factorisation is M^-1 = V'R V.
    // middle_form() returns a'M b for two vectors a and b after both have been reduced.
    CUDA_OPT_HD_INLINE void reduce_by_middle(const Factors &middle, double *v) const {
        dense::at_size<M>(model_pairs(), [&](auto k) { middle.reduce(k, v); });
    }
    CUDA_OPT_HD_INLINE double middle_form(const Factors &middle, const double *a, const double *b) const {
        return dense::at_size<M>(model_pairs(), [&](auto k) { return middle.reduced_form(k, a, b); });
    }

    // Replaces v by K^-1 v for the subspace minimisation (Byrd et al. 1995, eq. 5.11). K is M^-1 - W_F'W_F / theta, and
    // W_F consists of the rows of W of the free variables. over_free contains the products of the columns over them,
    // packed as in PanelProducts. `system` receives the factors of K. Returns false on breakdown.
    CUDA_OPT_HD_INLINE bool solve_subspace(Factors &system, const double *over_free, double *v) const {
        return dense::at_size<M>(model_pairs(), [&](auto k) {
            const int columns = panel::columns(k);
            const double theta = theta_, reciprocal = 1 / theta_;
            system.resize(k);
            CUDA_OPT_NOT_PURE
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int j = 0; j < k; j++) {
                const int y_j = panel::y_column(k - 1 - j), s_j = panel::s_column(k - 1 - j);
                const double *with_y = over_free + panel::gram_index(y_j, 0, columns),
                             *with_s = over_free + panel::gram_index(s_j, 0, columns);
                const double step = step_[j], y_scale = y_scale_[j];
                double *y_s = system.row(j) + k;
                // In the panel, older pairs are stored in later columns.
                for (int i = 0, y_i = columns - 2, s_i = columns - 1; i < j; i++, y_i -= 2, s_i -= 2) {
                    system(i, j) = -reciprocal * (y_scale * y_scale_[i] * with_y[y_i]);
                    system(i, k + j) = at(ys_, i, j) - step * y_scale_[i] * with_s[y_i];
                    y_s[i] = -step_[i] * y_scale * with_y[s_i];
                    system(k + i, k + j) = theta_ss(i, j) - theta * (step * step_[i] * with_s[s_i]);
                }
                system(j, j) = -at(ys_, j, j) - reciprocal * (y_scale * y_scale * with_y[y_j]);
                y_s[j] = -step * y_scale * with_y[s_j];
                system(k + j, k + j) = theta_ss(j, j) - theta * (step * step * with_s[s_j]);
            }
            if (!system.factor(k)) return false;
            system.solve(k, v);
            return true;
        });
    }

    // Replaces v by K^-1 v if all variables are free. Then K = [-(D + Y'Y / theta), -R'; -R, 0] with R the upper
    // triangle of S'Y, and no factorisation is needed (the inverse form of Byrd, Nocedal, Schnabel 1994, eq. 3.1).
    CUDA_OPT_HD_INLINE void apply_full_space_inverse(double *v) const {
        dense::at_size<M>(model_pairs(), [&](auto k) {
            double *y_part = v, *s_part = v + k;
            // Solve R u = -s_part, then R'w = -(y_part + (D + Y'Y / theta) u). Both are computed in place; at the end u
            // becomes the y part and w the s part. The rows of Y'S are the columns of R.
            CUDA_OPT_NOT_PURE
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++) s_part[i] = -s_part[i];
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = k - 1; i >= 0; i--) {
                s_part[i] *= 1 / at(ys_, i, i);
                dense::subtract(s_part, s_part[i], row(ys_, i), i);
            }
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++) y_part[i] = -y_part[i] - at(ys_, i, i) * s_part[i];
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++) dense::subtract(y_part, s_part[i] / theta_, row(yy_, i), k);
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++)
                y_part[i] = (y_part[i] - dense::dot(row(ys_, i), y_part, i)) * (1 / at(ys_, i, i));
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++) {
                const double u = s_part[i];
                s_part[i] = y_part[i];
                y_part[i] = u;
            }
        });
    }

    // to_basis() converts numbers in the order of the panel's columns (y, s, g and z of the newest pair, then y and s
    // of the older pairs; panel.hpp) to the basis of W. They are one row of W, or the products of one column with all
    // others. to_panel() converts coefficients in the basis to the panel's order.
    CUDA_OPT_HD_INLINE void to_basis(const double *panel_entries, double *basis) const {
        dense::at_size<M>(model_pairs(), [&](auto k) {
            const double theta = theta_, *const step = step_.data();
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++) {
                basis[i] = y_scale_[i] * panel_entries[panel::y_column(k - 1 - i)];
                basis[k + i] = theta * step[i] * panel_entries[panel::s_column(k - 1 - i)];
            }
        });
    }

    CUDA_OPT_HD_INLINE void to_panel(const double *basis, double *panel_entries) const {
        dense::at_size<M>(model_pairs(), [&](auto k) {
            const double theta = theta_, *const step = step_.data();
            CUDA_OPT_UNROLLED(dense::times_unrolled<decltype(k)>)
            for (int i = 0; i < k; i++) {
                panel_entries[panel::y_column(k - 1 - i)] = y_scale_[i] * basis[i];
                panel_entries[panel::s_column(k - 1 - i)] = theta * step[i] * basis[k + i];
            }
        });
    }

  private:
    using Matrix = dense::Array<M * M>;
    CUDA_OPT_HD bool is_full() const { return M > 0 ? dense::is_unrolled<M> : full_; }
    CUDA_OPT_HD double *row(Matrix &matrix, int i) { return matrix.data() + i * m_; }
    CUDA_OPT_HD const double *row(const Matrix &matrix, int i) const { return matrix.data() + i * m_; }
    CUDA_OPT_HD double &at(Matrix &matrix, int i, int j) { return row(matrix, i)[j]; }
    CUDA_OPT_HD double at(const Matrix &matrix, int i, int j) const { return row(matrix, i)[j]; }
    CUDA_OPT_HD double theta_ss(int i, int j) const { return theta_ * at(ss_, i, j); } // i <= j
    // Discards the first row and column. The others move up and left, and the last ones are left to be written.
    CUDA_OPT_HD_INLINE void drop_oldest(Matrix &matrix) {
        dense::copy(matrix.data() + m_ + 1, m_ * m_ - m_ - 1, matrix.data());
    }

    template <class Size> CUDA_OPT_HD_INLINE void set_newest(Size k, const PanelProducts &sums, bool keeps_ss) {
        const int newest = k - 1, known = M > 0 ? k : panel::pairs(sums.columns);
        const double step = step_[newest], y_scale = y_scale_[newest];
        CUDA_OPT_NOT_PURE
        CUDA_OPT_UNROLLED(dense::times_unrolled<Size>)
        for (int i = 0; i < k; i++) {
            if (newest - i >= known) continue;
            const int y = panel::y_column(newest - i), s = panel::s_column(newest - i);
            at(yy_, newest, i) = at(yy_, i, newest) = y_scale * y_scale_[i] * sums.over_all(panel::y_new, y);
            if (keeps_ss) at(ss_, i, newest) = step * step_[i] * sums.over_all(panel::s_new, s);
            at(ys_, newest, i) = y_scale * step_[i] * sums.over_all(panel::y_new, s);
            at(ys_, i, newest) = step * y_scale_[i] * sums.over_all(panel::s_new, y);
        }
    }

    dense::Known<M> m_;
    int k_ = 0, spare_ = 0;
    double theta_ = 1, unscaled_theta_ = 1;
    bool unscaled_ = true, full_ = false;
    int64_t weights_ = no_weights;
    // The m x m matrices S'S (its upper triangle), Y'S and Y'Y, by rows, with the oldest pair first.
    Matrix ss_, ys_, yy_;
    dense::Array<M> step_;    // s_j = step_j d_j
    dense::Array<M> y_scale_; // y_j = y_scale_j times the stored difference of the gradients
};

} // namespace cudaopt
