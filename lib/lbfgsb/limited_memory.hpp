// The compact limited-memory matrix B = theta I - W M W' with W = [Y, theta S] (Byrd, Nocedal, Schnabel 1994;
// Byrd, Lu, Nocedal, Zhu 1995, eq. 3.2), as far as it does not depend on n: the inner products of the stored pairs,
// the factorised middle matrix, and the way between the panel's columns and the basis of W.
//
// A vector "in the basis" has 2k numbers: those of y_1 .. y_k, then of theta s_1 .. theta s_k, oldest pair first.
#pragma once

#include "dense/quasi_definite.hpp"
#include "lbfgsb/sweeps.hpp"

namespace cudaopt {

class LimitedMemory {
  public:
    explicit LimitedMemory(int m);

    int capacity() const { return m_; }
    int pairs() const { return k_; }
    int spare_slot() const { return spare_; }
    int newest_slot() const { return (spare_ + m_) % (m_ + 1); }
    // The slot of a pair, from the oldest, 0, on.
    int slot(int pair) const { return (spare_ + m_ + 1 - k_ + pair) % (m_ + 1); }
    double theta() const { return theta_; }

    // Forget everything: B = I.
    void clear();
    // Drop all pairs: B = theta I with the last pair's theta, whose scale is that of f and x, or B = I.
    void drop_pairs(bool keep_theta);
    // B = theta I; only without pairs.
    void set_scale(double theta) { theta_ = theta; }
    // Whether the fresh pair's products are numbers to calculate with.
    static bool usable(const PanelSums &sums, double step);
    // The spare slot becomes the newest pair, s = step * d; the oldest is dropped when there are m. The products come
    // from a gather with this pair as the fresh one. Curvature s'y > 0 is the caller's to check.
    void append(const PanelSums &sums, double step);

    // Panel of the stored pairs, or of what append() would make of them, with the spare slot as the fresh pair.
    GatherRequest stored_panel() const;
    GatherRequest tentative_panel() const;

    // Factorise M^-1 = [-D, L'; L, theta S'S]. With a user's diagonal theta is 1 and S'S has to be given anew, as
    // products weighted by it over all rows. False: breakdown.
    bool factor(bool user_diagonal, const PanelSums *weighted_over_all);
    // v <- (V'R)^-1 v with M^-1 = V'R V, 2k numbers in the basis; then a'M b of two that have been reduced.
    void reduce_by_middle(double *v) const { middle_.reduce(v); }
    double middle_form(const double *a, const double *b) const { return middle_.reduced_form(a, b); }

    // Factorise K = M^-1 - W_F'W_F / theta, whose inverse the subspace minimisation needs (eq. 5.11), from the panel's
    // products over the free rows, packed as in PanelSums. False: breakdown.
    bool factor_subspace(const double *over_free);
    void apply_subspace_inverse(double *v) const { subspace_.solve(v); }
    // v <- K^-1 v where all rows are free: K = [-(D + Y'Y / theta), -R'; -R, 0] with R the upper triangle of S'Y, and
    // nothing has to be factorised (the inverse form of Byrd, Nocedal, Schnabel 1994, eq. 3.1).
    void apply_full_space_inverse(double *v) const;

    // Panel entries (one row of W, or products of one column with all) to the basis, and coefficients back.
    void to_basis(const double *panel_entries, double *basis) const;
    void to_panel(const double *basis, double *panel_entries) const;

    // All of its numbers, to or from an archive.
    template <class Archive> void exchange(Archive &archive) {
        archive(k_), archive(spare_), archive(theta_);
        for (dense::Matrix *matrix : {&ss_, &ys_, &yy_}) archive.array(matrix->row(0), m_ * m_);
        archive.array(step_.data(), m_);
    }

  private:
    int m_, k_ = 0, spare_ = 0;
    double theta_ = 1;
    dense::Matrix ss_, ys_, yy_; // S'S (its upper triangle), Y'S, Y'Y, oldest first
    dense::Vector step_;         // s_j = step_j d_j
    dense::Matrix theta_ss_;     // theta S'S as in M^-1, its upper triangle; K needs it, too
    dense::QuasiDefinite middle_, subspace_;
};

} // namespace cudaopt
