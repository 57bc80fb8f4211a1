// The rules that the sweeps apply to each row, for host and device, and the records of what they learn.
// Real is storage only: arithmetic is double. Vectors are n long; l, u and h may be NULL (none, none, ones).
#pragma once

#include <cmath>

#include "exec/accumulators.hpp"
#include "lbfgsb/rows.hpp"

namespace cudaopt {

constexpr int64_t no_index = INT64_MAX;

// Least index of a row with some property.
struct FirstIndex {
    int64_t v = no_index;
    CUDA_OPT_HD void add(int64_t i, bool yes) { v = yes && i < v ? i : v; }
    CUDA_OPT_HD void join(const FirstIndex &o) { v = o.v < v ? o.v : v; }
};

template <class Real> struct BoxArrays {
    const Real *l, *u;
    CUDA_OPT_HD double lower(int64_t i) const { return l ? static_cast<double>(l[i]) : -infinity; }
    CUDA_OPT_HD double upper(int64_t i) const { return u ? static_cast<double>(u[i]) : infinity; }
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

// ---- the line search

template <class Real> struct TakeStep { // reads x_base, d, l, u; writes x
    Real *x;
    const Real *x_base, *d;
    BoxArrays<Real> box;
    double step;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const Real to = static_cast<Real>(static_cast<double>(x_base[i]) + step * static_cast<double>(d[i]));
        x[i] = static_cast<Real>(clamp_to_box<double>(to, box.lower(i), box.upper(i)));
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
    const Trial trial = trial_of_row(at, request, h, move);
    const Real d = static_cast<Real>(trial.x - at.x);
    record.slope.add(at.g * static_cast<double>(d));
    record.d_squared.add(static_cast<double>(d) * static_cast<double>(d));
    record.projected.add(trial.projected);
    const Real stepped = request.step == 1 ? static_cast<Real>(trial.x)
                                           : static_cast<Real>(at.x + request.step * static_cast<double>(d));
    return {d, static_cast<Real>(clamp_to_box<double>(stepped, at.l, at.u))};
}

} // namespace cudaopt
