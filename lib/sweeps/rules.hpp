// The rules that the sweeps apply to each row, for host and device, and the records of what they learn.
// Real is storage only: arithmetic is double. Vectors are n long; l, u and h may be NULL: one number for all, or 1.
#pragma once

#include <cmath>
#include <limits>

#include "exec/accumulators.hpp"
#include "dense/numbers.hpp"
#include "lbfgsb/rows.hpp"

namespace cudaopt {

constexpr int64_t no_index = INT64_MAX;
template <class Real> constexpr double largest_number = static_cast<double>(std::numeric_limits<Real>::max());

// Least index of a row with some property.
struct FirstIndex {
    int64_t v = no_index;
    CUDA_OPT_HD void add(int64_t i, bool yes) { v = yes && i < v ? i : v; }
    CUDA_OPT_HD void join(const FirstIndex &o) { v = o.v < v ? o.v : v; }
};

// The bounds; a side without an array has one number for all rows, which Real holds exactly.
template <class Real> struct BoxArrays {
    const Real *l, *u;
    double lower_all = -infinity, upper_all = infinity;
    CUDA_OPT_HD double lower(int64_t i) const { return l ? static_cast<double>(l[i]) : lower_all; }
    CUDA_OPT_HD double upper(int64_t i) const { return u ? static_cast<double>(u[i]) : upper_all; }
};

// ---- the start

struct StartRecord {
    FirstIndex x_nan, bound_nan, crossed;
    Count projected, boxed, bounded;
    CUDA_OPT_HD void join(const StartRecord &o) {
        x_nan.join(o.x_nan), bound_nan.join(o.bound_nan), crossed.join(o.crossed);
        projected.join(o.projected), boxed.join(o.boxed), bounded.join(o.bounded);
    }
};

inline StartReport report_of(const StartRecord &r, int64_t n) {
    return {least(r.x_nan.v, n), least(r.bound_nan.v, n), least(r.crossed.v, n), r.projected.v, r.boxed.v, r.bounded.v};
}

template <class Real> struct CheckStart { // reads x, l, u
    const Real *x;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i, StartRecord &record) const {
        const double l = box.lower(i), u = box.upper(i), xi = x[i];
        record.bound_nan.add(i, l != l || u != u);
        record.crossed.add(i, l > u || l == infinity || u == -infinity);
        record.x_nan.add(i, !std::isfinite(xi));
        record.boxed.add(std::isfinite(l) && std::isfinite(u));
        record.bounded.add(std::isfinite(l) || std::isfinite(u));
        record.projected.add(xi < l || xi > u);
    }
};

template <class Real> struct MoveIntoBox { // reads x, l, u; writes x
    Real *x;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i) const {
        x[i] = static_cast<Real>(clamp_to_box<double>(x[i], box.lower(i), box.upper(i)));
    }
};

template <class Real> struct FindBadDiagonal { // reads h
    const Real *h;
    CUDA_OPT_HD void operator()(int64_t i, FirstIndex &first) const {
        first.add(i, !(h[i] > 0) || !std::isfinite(h[i]));
    }
};

// ---- norms, where the squares leave the range of numbers

// sum of squares = scale^2 squares, with scale the largest magnitude.
struct ScaledSquares {
    double scale = 0, squares = 0;
    CUDA_OPT_HD void add(double v) { join({std::fabs(v), 1}); }
    CUDA_OPT_HD void join(const ScaledSquares &o) {
        if (o.scale == 0) return;
        if (o.scale > scale) squares = o.squares + squares * (scale / o.scale) * (scale / o.scale), scale = o.scale;
        else squares += o.squares * (o.scale / scale) * (o.scale / scale);
    }
    CUDA_OPT_HD double norm() const { return scale * std::sqrt(squares); }
};

template <class Real> struct MeasureX { // reads x
    const Real *x;
    CUDA_OPT_HD void operator()(int64_t i, ScaledSquares &record) const { record.add(x[i]); }
};

template <class Real> struct MeasureProjectedGradient { // reads x, g, l, u
    const Real *x, *g;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i, ScaledSquares &record) const {
        record.add(projected_gradient<double>(x[i], g[i], box.lower(i), box.upper(i)));
    }
};

// ---- the line search

// P(x + step d) as it is stored.
template <class Real> CUDA_OPT_HD_INLINE Real stepped_row(double x, double d, double step, double l, double u) {
    const Real to = static_cast<Real>(x + step * d);
    return static_cast<Real>(place_in_box<double>(to, x, l, u, largest_number<Real>));
}

template <class Real> struct TakeStep { // reads x_base, d, l, u; writes x
    Real *x;
    const Real *x_base, *d;
    BoxArrays<Real> box;
    double step;
    CUDA_OPT_HD void operator()(int64_t i) const {
        x[i] = stepped_row<Real>(x_base[i], d[i], step, box.lower(i), box.upper(i));
    }
};

template <class Real> struct FindLargestStep { // reads x_base, d, l, u
    const Real *x_base, *d;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i, Min &least) const {
        least.add(largest_step_of_row(x_base[i], d[i], box.lower(i), box.upper(i)));
    }
};

template <class Real> struct Restore { // reads x_base, g_base; writes x, g and, once, f
    Real *x, *g;
    const Real *x_base, *g_base;
    double *f, f_base;
    CUDA_OPT_HD void operator()(int64_t i) const {
        x[i] = x_base[i];
        g[i] = g_base[i];
        if (i == 0) *f = f_base;
    }
};

template <class Real> struct CopyIterate { // reads x and g; writes them elsewhere
    Real *x, *g;
    const Real *from_x, *from_g;
    CUDA_OPT_HD void operator()(int64_t i) const {
        x[i] = from_x[i];
        g[i] = from_g[i];
    }
};

template <class Real> struct FinishPair { // reads g; y holds g_base and becomes y
    Real *y;
    const Real *g;
    CUDA_OPT_HD void operator()(int64_t i) const {
        y[i] = static_cast<Real>(static_cast<double>(g[i]) - static_cast<double>(y[i]));
    }
};

// ---- sweep 2: from the move to the trial point

struct DirectionRecord {
    Sum slope, d_squared, projected;
    CUDA_OPT_HD void join(const DirectionRecord &o) {
        slope.join(o.slope), d_squared.join(o.d_squared), projected.join(o.projected);
    }
};

template <class Real> struct TrialArrays {
    Real *x;
    const Real *g;
    Real *d, *g_base, *x_base;
    Real *y_fresh; // holds the old g_base, becomes y; NULL: no fresh pair
};

template <class Real> struct TrialRow { Real d, x; };

// d = P(x + move) - x as stored, and the trial point P(x + step d).
template <class Real>
CUDA_OPT_HD TrialRow<Real> take_trial(const Row &at, const DirectionRequest &request, double h, double move,
                                      DirectionRecord &record) {
    const Trial trial = trial_of_row(at, request, h, move, largest_number<Real>);
    const Real d = static_cast<Real>(trial.x - at.x);
    record.slope.add(at.g * static_cast<double>(d));
    record.d_squared.add(static_cast<double>(d) * static_cast<double>(d));
    record.projected.add(trial.projected);
    if (request.step == 1) return {d, static_cast<Real>(trial.x)};
    return {d, stepped_row<Real>(at.x, d, request.step, at.l, at.u)};
}

} // namespace cudaopt
