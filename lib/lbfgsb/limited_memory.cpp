#include "lbfgsb/limited_memory.hpp"

#include <algorithm>

namespace cudaopt {

using namespace panel;

LimitedMemory::LimitedMemory(int m) : m_(m), step_(m), middle_(m), subspace_(m) {
    for (dense::Matrix *matrix : {&ss_, &sy_, &yy_}) matrix->resize(m, m);
    theta_ss_.reserve(m, m);
}

void LimitedMemory::clear() {
    k_ = 0;
    theta_ = 1;
}

GatherRequest LimitedMemory::stored_panel() const {
    const int slots = m_ + 1;
    return {k_, (spare_ + slots - 1) % slots, false, 0, true, false};
}

GatherRequest LimitedMemory::tentative_panel() const {
    return {(k_ < m_ ? k_ : m_ - 1) + 1, spare_, true, 0, true, false};
}

void LimitedMemory::append(const PanelSums &sums, double step) {
    if (k_ == m_) {
        for (int i = 1; i < m_; i++) {
            step_[i - 1] = step_[i];
            for (int j = 1; j < m_; j++)
                for (dense::Matrix *matrix : {&ss_, &sy_, &yy_}) (*matrix)(i - 1, j - 1) = (*matrix)(i, j);
        }
        k_--;
    }
    const int newest = k_++;
    step_[newest] = step;
    for (int i = 0; i <= newest; i++) {
        const int y = y_column(newest - i), s = s_column(newest - i);
        yy_(newest, i) = yy_(i, newest) = sums.over_all(0, y);
        ss_(newest, i) = ss_(i, newest) = step * step_[i] * sums.over_all(1, s);
        sy_(i, newest) = step_[i] * sums.over_all(0, s);
        sy_(newest, i) = step * sums.over_all(1, y);
    }
    theta_ = yy_(newest, newest) / sy_(newest, newest);
    spare_ = (spare_ + 1) % (m_ + 1);
}

bool LimitedMemory::factor(bool user_diagonal, const PanelSums *weighted_over_all) {
    if (user_diagonal) theta_ = 1;
    theta_ss_.resize(k_, k_);
    middle_.resize(k_);
    for (int i = 0; i < k_; i++)
        for (int j = 0; j < k_; j++) {
            theta_ss_(i, j) =
                theta_ *
                (weighted_over_all
                     ? step_[i] * step_[j] * weighted_over_all->over_free(s_column(k_ - 1 - i), s_column(k_ - 1 - j))
                     : ss_(i, j));
            middle_.a(i, j) = i == j ? sy_(i, i) : 0;
            middle_.b(i, j) = i > j ? sy_(i, j) : 0;
            middle_.c(i, j) = theta_ss_(i, j);
        }
    return middle_.factor();
}

bool LimitedMemory::factor_subspace(const dense::Matrix &gram) {
    subspace_.resize(k_);
    for (int i = 0; i < k_; i++)
        for (int j = 0; j < k_; j++) {
            const double d = i == j ? sy_(i, i) : 0, l = i > j ? sy_(i, j) : 0;
            subspace_.a(i, j) = d + gram(i, j) / theta_;
            subspace_.b(i, j) = l - gram(k_ + i, j) / theta_;
            subspace_.c(i, j) = theta_ss_(i, j) - gram(k_ + i, k_ + j) / theta_;
        }
    return subspace_.factor();
}

void LimitedMemory::apply_full_space_inverse(double *v) const {
    double *y_part = v, *s_part = v + k_;
    // -R u = s_part, then -R' w = y_part + (D + Y'Y / theta) u; u and w change places with the right-hand sides.
    for (int i = 0; i < k_; i++) s_part[i] = -s_part[i];
    dense::solve_upper(sy_, k_, s_part);
    for (int i = 0; i < k_; i++)
        y_part[i] = -y_part[i] - sy_(i, i) * s_part[i] - dense::dot(yy_.row(i), s_part, k_) / theta_;
    dense::solve_upper_transposed(sy_, k_, y_part);
    std::swap_ranges(y_part, y_part + k_, s_part);
}

void LimitedMemory::to_basis(const double *panel_entries, double *basis) const {
    for (int i = 0; i < k_; i++) {
        basis[i] = panel_entries[y_column(k_ - 1 - i)];
        basis[k_ + i] = theta_ * step_[i] * panel_entries[s_column(k_ - 1 - i)];
    }
}

void LimitedMemory::to_panel(const double *basis, double *panel_entries) const {
    for (int i = 0; i < k_; i++) {
        panel_entries[y_column(k_ - 1 - i)] = basis[i];
        panel_entries[s_column(k_ - 1 - i)] = theta_ * step_[i] * basis[k_ + i];
    }
}

void LimitedMemory::gram_over_free(const PanelSums &sums, dense::Matrix &gram) const {
    gram.resize(2 * k_, 2 * k_);
    for (int i = 0; i < k_; i++)
        for (int j = 0; j < k_; j++) {
            const int yi = y_column(k_ - 1 - i), yj = y_column(k_ - 1 - j), si = yi + 1, sj = yj + 1;
            const double scale_i = theta_ * step_[i], scale_j = theta_ * step_[j];
            gram(i, j) = sums.over_free(yi, yj);
            gram(k_ + i, j) = scale_i * sums.over_free(si, yj);
            gram(j, k_ + i) = gram(k_ + i, j);
            gram(k_ + i, k_ + j) = scale_i * scale_j * sums.over_free(si, sj);
        }
}

} // namespace cudaopt
