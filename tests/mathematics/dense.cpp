#include "dense.hpp"

#include <algorithm>
#include <cmath>

namespace reference {

namespace {

void add_outer(Matrix &a, Number factor, const Vector &v) {
    for (int i = 0; i < a.rows(); i++)
        for (int j = 0; j < a.columns(); j++) a(i, j) += factor * v[i] * v[j];
}

Number infinity_norm(const Matrix &a) {
    Number largest = 0;
    for (int i = 0; i < a.rows(); i++) {
        Number sum = 0;
        for (int j = 0; j < a.columns(); j++) sum += std::fabs(a(i, j));
        largest = std::max(largest, sum);
    }
    return largest;
}

} // namespace

Number dot(const Vector &a, const Vector &b) {
    Number sum = 0;
    for (std::size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
    return sum;
}

Number norm(const Vector &a) { return std::sqrt(dot(a, a)); }

Vector operator*(const Matrix &a, const Vector &b) {
    Vector product(a.rows());
    for (int i = 0; i < a.rows(); i++)
        for (int j = 0; j < a.columns(); j++) product[i] += a(i, j) * b[j];
    return product;
}

Vector solve(Matrix a, Vector b) {
    const int n = a.rows();
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
        for (int j = 0; j < n; j++) std::swap(a(k, j), a(pivot, j));
        std::swap(b[k], b[pivot]);
        for (int i = k + 1; i < n; i++) {
            const Number factor = a(i, k) / a(k, k);
            for (int j = k; j < n; j++) a(i, j) -= factor * a(k, j);
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= a(i, j) * b[j];
        b[i] /= a(i, i);
    }
    return b;
}

Conditioning conditioning(const Matrix &a, const Vector &scale) {
    const int n = a.rows();
    Matrix scaled(n, n), inverse(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) scaled(i, j) = a(i, j) / (scale[i] * scale[j]);
    for (int j = 0; j < n; j++) {
        Vector unit(n);
        unit[j] = 1;
        const Vector column = solve(scaled, unit);
        for (int i = 0; i < n; i++) inverse(i, j) = column[i];
    }
    const Number inverse_norm = infinity_norm(inverse);
    return {infinity_norm(scaled) * inverse_norm, inverse_norm};
}

Number scale_of(const Pairs &pairs) {
    return dot(pairs.back().y, pairs.back().y) / dot(pairs.back().s, pairs.back().y);
}

Matrix basis(const Pairs &pairs, Number theta, int n) {
    const int k = static_cast<int>(pairs.size());
    Matrix w(n, 2 * k);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            w(i, j) = pairs[j].y[i];
            w(i, k + j) = theta * pairs[j].s[i];
        }
    return w;
}

Matrix inverse_middle(const Pairs &pairs, Number theta) {
    const int k = static_cast<int>(pairs.size());
    Matrix middle(2 * k, 2 * k);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            const Number sy = dot(pairs[i].s, pairs[j].y);
            if (i == j) middle(i, i) = -sy;
            if (i > j) middle(k + i, j) = middle(j, k + i) = sy;
            middle(k + i, k + j) = theta * dot(pairs[i].s, pairs[j].s);
        }
    return middle;
}

Vector middle_scale(const Pairs &pairs, Number theta) {
    const Matrix middle = inverse_middle(pairs, theta);
    Vector scale;
    for (int i = 0; i < middle.rows(); i++) scale.push_back(std::sqrt(std::fabs(middle(i, i))));
    return scale;
}

Matrix subspace_matrix(const Pairs &pairs, Number theta, const std::vector<bool> &free) {
    const int n = static_cast<int>(free.size());
    const Matrix w = basis(pairs, theta, n);
    Matrix k = inverse_middle(pairs, theta);
    for (int row = 0; row < n; row++)
        for (int i = 0; free[row] && i < k.rows(); i++)
            for (int j = 0; j < k.rows(); j++) k(i, j) -= w(row, i) * w(row, j) / theta;
    return k;
}

Matrix compact_hessian(const Pairs &pairs, Number theta, int n) {
    const Matrix w = basis(pairs, theta, n), middle = inverse_middle(pairs, theta);
    Matrix b(n, n);
    for (int j = 0; j < n; j++) {
        Vector row(w.columns());
        for (int c = 0; c < w.columns(); c++) row[c] = w(j, c);
        const Vector column = w * solve(middle, row);
        for (int i = 0; i < n; i++) b(i, j) = (i == j ? theta : 0) - column[i];
    }
    return b;
}

Matrix recursive_hessian(const Pairs &pairs, Number theta, int n) {
    Matrix b(n, n);
    for (int i = 0; i < n; i++) b(i, i) = theta;
    for (const Pair &pair : pairs) {
        const Vector bs = b * pair.s;
        add_outer(b, -1 / dot(pair.s, bs), bs);
        add_outer(b, 1 / dot(pair.s, pair.y), pair.y);
    }
    return b;
}

CauchyPoint cauchy_point(const Matrix &hessian, Number theta, const Path &path, bool one_segment, double beyond) {
    const std::size_t n = path.g.size();
    CauchyPoint at;
    Vector d(n);
    at.z.resize(n);
    at.free.resize(n);
    std::vector<double> sorted;
    for (std::size_t i = 0; i < n; i++) {
        at.free[i] = path.breakpoints[i] > 0;
        at.free_variables += at.free[i];
        d[i] = at.free[i] ? -path.g[i] : 0;
        at.moving += d[i] != 0;
        if (path.breakpoints[i] > 0 && path.breakpoints[i] < infinity) sorted.push_back(path.breakpoints[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    sorted.push_back(infinity);
    const Number steepness = dot(d, d);
    at.moving_at_start = at.moving;

    bool first = true;
    for (const double next : sorted) {
        const Vector bd = hessian * d;
        const Number slope = dot(path.g, d) + dot(bd, at.z), curvature = dot(d, bd);
        const Number dt = slope < 0 && curvature > 0 ? -slope / curvature : 0, minimiser = at.t + dt;
        if (first) at.t_first = std::min<Number>(minimiser, next);
        first = false;
        if (curvature > 0) {
            at.uncertainty =
                std::max((steepness + theta * steepness * minimiser) / curvature + minimiser, at.uncertainty);
            // The search decides here whether the slope changes its sign before the next breakpoint.
            const Number reached = std::min<Number>(minimiser, next);
            const Number size = steepness + (theta * steepness + curvature) * reached;
            if (next < infinity) at.margin = std::min(at.margin, std::fabs(slope + curvature * (next - at.t)) / size);
        }
        const bool found = (minimiser < next && next > beyond) || at.moving == 0 || one_segment;
        const Number t = found ? std::min<Number>(minimiser, next) : next;
        for (std::size_t i = 0; i < n; i++) at.z[i] += (t - at.t) * d[i];
        at.t = t;
        if (found) break;
        for (std::size_t i = 0; i < n; i++) {
            if (path.breakpoints[i] != next) continue;
            at.z[i] = path.way[i];
            d[i] = 0;
            at.free[i] = false;
            at.free_variables--;
            at.moving--;
            at.passed++;
        }
        at.threshold = next;
        at.segments++;
    }
    return at;
}

Vector subspace_minimiser(const Matrix &hessian, const Vector &g, const CauchyPoint &point) {
    std::vector<int> free;
    for (std::size_t i = 0; i < g.size(); i++)
        if (point.free[i]) free.push_back(static_cast<int>(i));
    const int count = static_cast<int>(free.size());
    const Vector bz = hessian * point.z;
    Matrix reduced(count, count);
    Vector residual(count);
    for (int i = 0; i < count; i++) {
        residual[i] = -(g[free[i]] + bz[free[i]]);
        for (int j = 0; j < count; j++) reduced(i, j) = hessian(free[i], free[j]);
    }
    const Vector d = solve(reduced, residual);
    Vector way = point.z;
    for (int i = 0; i < count; i++) way[free[i]] += d[i];
    return way;
}

} // namespace reference
