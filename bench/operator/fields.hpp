// Problems on a square grid whose inverse Hessian resembles that of the Laplacian. A field u has side x side inner
// points with the spacing h = 1 / (side + 1), row by row, and given values on the border.
//
//     torsion           the integral of |grad u|^2 / 2 - 5 u, where |u| is at most the distance to the border
//     minimal surface   the area of u with two triangles per cell; free, or with u >= 1 on the middle square
//     p-Laplacian       the integral of (|grad u|^2 + 1e-4)^2 / 4 - u with 0 <= u <= 1/4
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cudaopt::bench {

using Vector = std::vector<double>;

enum class FieldKind { minimal_surface, p_laplacian, torsion, obstacle };

// The largest component of the projected gradient, as the library measures it for CUDA_OPT_PGTOL.
inline double projected_gradient(const Vector &x, const Vector &g, const Vector &lower, const Vector &upper) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
        const double to_bound = g[i] > 0 ? x[i] - lower[i] : upper[i] - x[i];
        largest = std::max(largest, std::min(std::fabs(g[i]), to_bound));
    }
    return largest;
}

class Field {
  public:
    Field(FieldKind kind, int side) : kind_(kind), side_(side), h_(1.0 / (side + 1)) {
        const double infinity = std::numeric_limits<double>::infinity();
        const auto n = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
        start.assign(n, 0.0), lower.assign(n, -infinity), upper.assign(n, infinity);
        u_.assign(static_cast<std::size_t>(side + 2) * static_cast<std::size_t>(side + 2), 0.0), g_ = u_;
        if (kind == FieldKind::minimal_surface || kind == FieldKind::obstacle)
            for (int j = 0; j <= side + 1; j++) at(u_, 0, j) = at(u_, side + 1, j) = 1 - square(2 * j * h_ - 1);
        for (int i = 1; i <= side; i++)
            for (int j = 1; j <= side; j++) set_bounds(i, j);
        Vector g(n);
        evaluate(start, g);
        tolerance = kind == FieldKind::torsion ? 1e-6 * h_ : 1e-6 * projected_gradient(start, g, lower, upper);
    }

    const char *name() const {
        switch (kind_) {
        case FieldKind::minimal_surface: return "minimal surface";
        case FieldKind::p_laplacian: return "p-Laplacian";
        case FieldKind::torsion: return "torsion";
        default: return "minimal surface over an obstacle";
        }
    }
    // Returns whether the operator is the inverse of the rows and columns of the free variables, or otherwise the
    // inverse of the whole Laplacian, restricted to the free variables.
    bool inverts_free_block() const { return kind_ == FieldKind::torsion || kind_ == FieldKind::obstacle; }
    bool bounded() const { return kind_ != FieldKind::minimal_surface; }

    // Returns f, and stores the gradient.
    double evaluate(const Vector &x, Vector &g) {
        for (int i = 1; i <= side_; i++) std::copy_n(&x[index(i, 1)], static_cast<std::size_t>(side_), &at(u_, i, 1));
        std::fill(g_.begin(), g_.end(), 0.0);
        double f = 0;
        for (int i = 0; i <= side_; i++) {
            double row = 0;
            for (int j = 0; j <= side_; j++) row += cell(i, j);
            f += row;
        }
        const double load = kind_ == FieldKind::torsion ? 5 * h_ * h_ : kind_ == FieldKind::p_laplacian ? h_ * h_ : 0;
        double sum = 0;
        for (int i = 1; i <= side_; i++)
            for (int j = 1; j <= side_; j++) {
                g[index(i, j)] = at(g_, i, j) - load;
                sum += at(u_, i, j);
            }
        return f - load * sum;
    }

    Vector start, lower, upper;
    double tolerance;

  private:
    static double square(double v) { return v * v; }
    std::size_t index(int i, int j) const {
        return static_cast<std::size_t>(i - 1) * side_ + static_cast<std::size_t>(j - 1);
    }
    double &at(Vector &v, int i, int j) const {
        return v[static_cast<std::size_t>(i) * static_cast<std::size_t>(side_ + 2) + static_cast<std::size_t>(j)];
    }

    void set_bounds(int i, int j) {
        const std::size_t k = index(i, j);
        const double near = std::min(std::min(i, j), side_ + 1 - std::max(i, j)) * h_;
        const auto in_middle = [&](int l) { return std::fabs(l * h_ - 0.5) <= 0.25; };
        const double pi = std::acos(-1.0);
        switch (kind_) {
        case FieldKind::torsion: lower[k] = -near, upper[k] = start[k] = near; break;
        case FieldKind::p_laplacian:
            lower[k] = 0, upper[k] = 0.25, start[k] = 0.01 * std::sin(pi * i * h_) * std::sin(pi * j * h_);
            break;
        case FieldKind::obstacle:
            if (in_middle(i) && in_middle(j)) lower[k] = start[k] = 1;
            break;
        case FieldKind::minimal_surface: break;
        }
    }

    // The integral over the cell whose corners are (i, j) to (i + 1, j + 1); its gradient is added to g.
    double cell(int i, int j) {
        double *const u = &at(u_, i, j), *const g = &at(g_, i, j);
        const std::ptrdiff_t down = side_ + 2, right = 1;
        const double a = (u[down] - u[0]) / h_, b = (u[right] - u[0]) / h_;
        if (kind_ == FieldKind::torsion || kind_ == FieldKind::p_laplacian) {
            const double q = a * a + b * b, soft = q + 1e-4;
            const double weight = h_ * (kind_ == FieldKind::torsion ? 1 : soft);
            g[down] += weight * a, g[right] += weight * b, g[0] -= weight * (a + b);
            return h_ * h_ * (kind_ == FieldKind::torsion ? q / 2 : soft * soft / 4);
        }
        const double c = (u[down + right] - u[right]) / h_, d = (u[down + right] - u[down]) / h_;
        const double s = std::sqrt(1 + a * a + b * b), t = std::sqrt(1 + c * c + d * d), weight = h_ / 2;
        g[down] += weight * (a / s - d / t), g[right] += weight * (b / s - c / t);
        g[0] -= weight * (a + b) / s, g[down + right] += weight * (c + d) / t;
        return h_ * h_ / 2 * (s + t);
    }

    const FieldKind kind_;
    const int side_;
    const double h_;
    Vector u_, g_; // with the border
};

} // namespace cudaopt::bench
