#include "lbfgsb/limited_memory.hpp"

#include <algorithm>
#include <cmath>

namespace cudaopt {

using namespace panel;

LimitedMemory::LimitedMemory(int m) : m_(m), step_(m), middle_(m), subspace_(m) {
    for (dense::Matrix *matrix : {&ss_, &ys_, &yy_, &theta_ss_}) matrix->resize(m, m);
}

void LimitedMemory::clear() {
    k_ = 0;
    theta_ = 1;
}

void LimitedMemory::drop_pairs(bool keep_theta) {
    k_ = 0;
    if (!keep_theta) theta_ = 1;
}

bool LimitedMemory::usable(const PanelSums &sums, double step) {
    const double curvature = step * sums.over_all(0, 1), theta = sums.over_all(0, 0) / curvature;
    return std::isnormal(curvature) && std::isnormal(theta) && std::isnormal(1 / theta) &&
           std::isnormal(step * step * sums.over_all(1, 1));
}

GatherRequest LimitedMemory::stored_panel() const { return {k_, newest_slot(), false, 0, true, false}; }

GatherRequest LimitedMemory::tentative_panel() const {
    return {(k_ < m_ ? k_ : m_ - 1) + 1, spare_, true, 0, true, false};
}

void LimitedMemory::append(const PanelSums &sums, double step) {
    if (k_ == m_) {
        std::copy(step_.begin() + 1, step_.end(), step_.begin());
        for (dense::Matrix *matrix : {&ss_, &ys_, &yy_}) matrix->drop_first();
        k_--;
    }
    const int newest = k_++;
    step_[newest] = step;
    for (int i = 0; i <= newest; i++) {
        const int y = y_column(newest - i), s = s_column(newest - i);
        yy_(newest, i) = yy_(i, newest) = sums.over_all(0, y);
        ss_(i, newest) = step * step_[i] * sums.over_all(1, s);
        ys_(newest, i) = step_[i] * sums.over_all(0, s);
        ys_(i, newest) = step * sums.over_all(1, y);
    }
    theta_ = yy_(newest, newest) / ys_(newest, newest);
    spare_ = (spare_ + 1) % (m_ + 1);
}

bool LimitedMemory::factor(bool user_diagonal, const PanelSums *weighted_over_all) {
    if (user_diagonal) theta_ = 1;
    for (int i = 0; i < k_; i++) {
        double *row = theta_ss_.row(i);
        const double *ss = ss_.row(i);
        if (weighted_over_all)
            for (int j = i; j < k_; j++)
                row[j] = step_[i] * step_[j] * weighted_over_all->over_free(s_column(k_ - 1 - i), s_column(k_ - 1 - j));
        else
            for (int j = i; j < k_; j++) row[j] = theta_ * ss[j];
    }
    middle_.resize(k_);
    for (int i = 0; i < k_; i++) {
        middle_(i, i) = -ys_(i, i);
        std::copy(ys_.row(i) + i + 1, ys_.row(i) + k_, middle_.row(i) + k_ + i + 1);
        std::copy(theta_ss_.row(i) + i, theta_ss_.row(i) + k_, middle_.row(k_ + i) + k_ + i);
    }
    return middle_.factor_triangular();
}

bool LimitedMemory::factor_subspace(const double *over_free) {
    const int columns = panel::columns(k_);
    const double theta = theta_, reciprocal = 1 / theta_;
    subspace_.resize(k_);
    for (int j = 0; j < k_; j++) {
        const int y_j = y_column(k_ - 1 - j), s_j = s_column(k_ - 1 - j);
        const double *with_y = over_free + masked_index(y_j, 0, columns),
                     *with_s = over_free + masked_index(s_j, 0, columns);
        const double step = step_[j];
        double *row = subspace_.row(j) + k_;
        // The older pairs stand further right in the panel, the oldest last.
        for (int i = 0, y_i = columns - 2, s_i = columns - 1; i < j; i++, y_i -= 2, s_i -= 2) {
            subspace_(i, j) = -reciprocal * with_y[y_i];
            subspace_(i, k_ + j) = ys_(i, j) - step * with_s[y_i];
            row[i] = -step_[i] * with_y[s_i];
            subspace_(k_ + i, k_ + j) = theta_ss_(i, j) - theta * (step * step_[i] * with_s[s_i]);
        }
        subspace_(j, j) = -ys_(j, j) - reciprocal * with_y[y_j];
        row[j] = -step * with_y[s_j];
        subspace_(k_ + j, k_ + j) = theta_ss_(j, j) - theta * (step * step * with_s[s_j]);
    }
    return subspace_.factor();
}

void LimitedMemory::apply_full_space_inverse(double *v) const {
    double *y_part = v, *s_part = v + k_;
    // R u = -s_part, then R' w = -(y_part + (D + Y'Y / theta) u); u and w change places with the right-hand sides.
    // The rows of Y'S are the columns of R.
    for (int i = 0; i < k_; i++) s_part[i] = -s_part[i];
    for (int i = k_ - 1; i >= 0; i--) {
        s_part[i] *= 1 / ys_(i, i);
        dense::subtract(s_part, s_part[i], ys_.row(i), i);
    }
    for (int i = 0; i < k_; i++) y_part[i] = -y_part[i] - ys_(i, i) * s_part[i];
    for (int i = 0; i < k_; i++) dense::subtract(y_part, s_part[i] / theta_, yy_.row(i), k_);
    for (int i = 0; i < k_; i++) y_part[i] = (y_part[i] - dense::dot(ys_.row(i), y_part, i)) * (1 / ys_(i, i));
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

} // namespace cudaopt
