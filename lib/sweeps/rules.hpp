// A sweep is an operation on all n variables (sweeps/sweeps.hpp). This header defines what a sweep does with a single
// variable, called a rule, and the records of the results. Host and device use the same rules. Real is the type of the
// caller's vectors, and History is that of the stored columns of S and Y. These types are used for storage only, and
// arithmetic is in double precision. All vectors have n elements. If l or u is NULL, this bound has the same value for
// all variables. The weights h are the diagonal of the initial inverse Hessian approximation. If h is NULL, all weights
// are 1.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "exec/accumulators.hpp"
#include "dense/bfloat16.hpp"
#include "dense/numbers.hpp"
#include "lbfgsb/variables.hpp"

namespace cudaopt {

constexpr int64_t no_index = INT64_MAX;

// FirstIndex accumulates the lowest index of a variable that has a given property.
struct FirstIndex {
    int64_t v = no_index;
    CUDA_OPT_HD void add(int64_t i, bool yes) { v = yes && i < v ? i : v; }
    CUDA_OPT_HD void join(const FirstIndex &o) { v = o.v < v ? o.v : v; }
};

// BoxArrays contains the bounds. If there is no array of lower or upper bounds, this bound has the same value for all
// variables, which is exactly representable in Real.
template <class Real> struct BoxArrays {
    const Real *l, *u;
    double lower_all = -infinity, upper_all = infinity;
    CUDA_OPT_HD bool exists() const { return l || u || lower_all > -infinity || upper_all < infinity; }
    CUDA_OPT_HD double lower(int64_t i) const { return l ? static_cast<double>(l[i]) : lower_all; }
    CUDA_OPT_HD double upper(int64_t i) const { return u ? static_cast<double>(u[i]) : upper_all; }
};

// Returns the bounds among the caller's arrays (UserArrays).
template <class Real, class Arrays> BoxArrays<Real> box_of(const Arrays &a) {
    return {static_cast<const Real *>(a.lower), static_cast<const Real *>(a.upper), a.lower_all, a.upper_all};
}

// ---- The following rules are applied at the start of a solve.

struct StartRecord {
    FirstIndex x_nan, bound_nan, crossed;
    Count projected, boxed, bounded;
    Min narrowest;
    CUDA_OPT_HD void join(const StartRecord &o) {
        x_nan.join(o.x_nan), bound_nan.join(o.bound_nan), crossed.join(o.crossed);
        projected.join(o.projected), boxed.join(o.boxed), bounded.join(o.bounded);
        narrowest.join(o.narrowest);
    }
};

template <class Real> CUDA_OPT_HD inline StartReport report_of(const StartRecord &r, int64_t n) {
    return {least(r.x_nan.v, n), least(r.bound_nan.v, n),           least(r.crossed.v, n), r.projected.v, r.boxed.v,
            r.bounded.v,         std::numeric_limits<Real>::digits, r.narrowest.v};
}

// Checks the starting point and the bounds. The rule reads x, l and u.
template <class Real, class Values = const Real *> struct CheckStart {
    Values x;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i, StartRecord &record) const {
        const double l = box.lower(i), u = box.upper(i), xi = x[i];
        record.bound_nan.add(i, l != l || u != u);
        record.crossed.add(i, l > u || l == infinity || u == -infinity);
        record.x_nan.add(i, !std::isfinite(xi));
        record.boxed.add(std::isfinite(l) && std::isfinite(u));
        record.bounded.add(std::isfinite(l) || std::isfinite(u));
        record.projected.add(xi < l || xi > u);
        if (u > l) record.narrowest.add(u - l);
    }
};

// Projects x onto the box. The rule reads x, l and u, and writes x.
template <class Real, class Values = Real *> struct MoveIntoBox {
    Values x;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i) const {
        x[i] = static_cast<Real>(clamp_to_box<double>(x[i], box.lower(i), box.upper(i)));
    }
};

CUDA_OPT_HD_INLINE bool is_weight(double h) { return h > 0 && is_finite(h); }

// Finds the first weight, an element of the diagonal h, that is not both positive and finite. The rule reads h.
template <class Real> struct FindBadDiagonal {
    const Real *h;
    CUDA_OPT_HD void operator()(int64_t i, FirstIndex &first) const { first.add(i, !is_weight(h[i])); }
};

// Updates the learned diagonal h with the correction pairs that `update` names (lbfgsb/learned_diagonal.hpp). The
// direction d of a pair is used instead of s = step d. The rule reads h, d, y and, for weights from sizes, x. It writes
// h.
template <class Real, class History> struct LearnDiagonal {
    Real *h = nullptr;
    const Real *x = nullptr;
    DiagonalUpdate update;
    const History *d[DiagonalUpdate::most] = {}, *y[DiagonalUpdate::most] = {};
    LearnDiagonal() = default;
    // `of` stores the correction pairs: of.s(slot) and of.y(slot) return the vectors of the pair with this slot number.
    template <class Vectors>
    CUDA_OPT_HD LearnDiagonal(Real *h_, const Real *x_, const DiagonalUpdate &update_, const Vectors &of)
        : h(h_), x(x_), update(update_) {
        for (int k = 0; k < update.count; k++) d[k] = of.s(update.pairs[k].slot), y[k] = of.y(update.pairs[k].slot);
    }
    CUDA_OPT_HD void operator()(int64_t i) const {
        double learned = update.anew ? update.first_weight(x[i]) : static_cast<double>(h[i]);
        for (int k = 0; k < update.count; k++) learned = learned_weight(learned, d[k][i], y[k][i], update.pairs[k]);
        h[i] = static_cast<Real>(learned);
    }
};

// ---- The following rule computes norms whose squares would overflow or underflow.

// ScaledSquares represents a sum of squares as scale^2 * squares, where scale is the largest magnitude of the terms. It
// cannot overflow.
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

// Computes one of the 2-norms that `Norm` documents. The rule reads x, g, l, u and, for the last two kinds, y or
// g_base.
template <class Real, class Changes, class Values = const Real *> struct MeasureNorm {
    NormRequest request;
    Values x, g;
    BoxArrays<Real> box;
    Changes y;
    Values g_base;
    CUDA_OPT_HD void operator()(int64_t i, ScaledSquares &record) const { record.add(component(i)); }
    CUDA_OPT_HD double component(int64_t i) const {
        const double xi = x[i];
        if (request.kind == Norm::x) return xi;
        const double gi = g[i], l = box.lower(i), u = box.upper(i), pg = projected_gradient(xi, gi, l, u);
        if (request.kind == Norm::projected_gradient) return pg;
        if (request.kind == Norm::relative_gradient) return xi * pg;
        if (is_active(xi, gi, l, u)) return 0;
        if (request.kind == Norm::narrow_gradient) {
            const bool hides = u > l && u - l <= request.number && std::fabs(gi) > request.number;
            return hides ? gi : 0;
        }
        const double change = xi * (request.fresh ? gi - static_cast<double>(g_base[i]) : static_cast<double>(y[i]));
        if (request.kind == Norm::relative_change) return change;
        return greatest(std::fabs(xi * pg) - request.number * std::fabs(change), 0.0);
    }
};

// Sets components of g to 0 that are infinite and that the projection removes: +Inf at a lower bound and -Inf at an
// upper bound. The rule reads x, l and u, and changes g.
template <class Real, class Values = Real *> struct RemoveInfiniteSlope {
    Values x, g;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const double xi = x[i], gi = g[i];
        if (std::fabs(gi) == infinity && is_active(xi, gi, box.lower(i), box.upper(i))) g[i] = 0;
    }
};

// ---- the line search

// Returns a component of P(x + step d), rounded to the storage type. P is the projection onto the box.
template <class Real> CUDA_OPT_HD_INLINE Real stepped_variable(double x, double d, double step, double l, double u) {
    const Real to = static_cast<Real>(x + step * d);
    return static_cast<Real>(place_in_box<double>(to, x, l, u, largest_number<Real>));
}

// Computes a trial point of the line search, P(x_base + step d). The rule reads x_base, d, l and u, and writes x.
template <class Real, class History> struct TakeStep {
    Real *x;
    const Real *x_base;
    const History *d;
    BoxArrays<Real> box;
    double step;
    CUDA_OPT_HD void operator()(int64_t i) const {
        x[i] = stepped_variable<Real>(x_base[i], d[i], step, box.lower(i), box.upper(i));
    }
};

// Finds the largest step along d that stays in the box. The rule reads x_base, d, l and u.
template <class Real, class History> struct FindLargestStep {
    const Real *x_base;
    const History *d;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i, Min &least) const {
        least.add(largest_step_of_variable(x_base[i], d[i], box.lower(i), box.upper(i)));
    }
};

// Restores x, g and f of the iterate x_base at which the line search started, or copies an iterate and its gradient to
// other vectors. The rule reads x_base and the gradient g_base there. It writes x, g and, unless it is NULL, f.
template <class Real, class Values = Real *> struct Restore {
    Values x, g, x_base, g_base;
    double *f = nullptr, f_base = 0;
    CUDA_OPT_HD void operator()(int64_t i) const {
        x[i] = x_base[i];
        g[i] = g_base[i];
        if (f && i == 0) *f = f_base;
    }
};

// Returns y_i = g_i - g_base_i, rounded to the storage type of the history.
template <class History, class Real> CUDA_OPT_HD_INLINE History gradient_change(Real g, Real g_base) {
    if constexpr (std::is_same_v<Real, History>) return g - g_base;
    else return static_cast<History>(static_cast<double>(g) - static_cast<double>(g_base));
}

// Computes y = g - g_base. The rule reads g and g_base, and writes y, which may overwrite g_base.
template <class Real, class History> struct FinishPair {
    History *y;
    const Real *g, *g_base;
    CUDA_OPT_HD void operator()(int64_t i) const { y[i] = gradient_change<History>(g[i], g_base[i]); }
};

// ---- The following rules belong to Sweeps::direction(), which computes the search direction and the trial point.

struct DirectionRecord {
    Sum slope, d_squared, projected;
    CUDA_OPT_HD void join(const DirectionRecord &o) {
        slope.join(o.slope), d_squared.join(o.d_squared), projected.join(o.projected);
    }
};

template <class Real, class History> struct TrialArrays {
    Real *x, *g_base, *x_base;
    History *d;
    // The rule stores y of the newest pair in this array. The pointer is NULL if there is no new pair.
    History *y_fresh;
};

template <class Real, class History> struct TrialVariable {
    History d;
    Real x;
};

// Returns d = to - x, rounded to the storage type of the history. If `to` is a bound, rounding can make P(x + d) miss
// this bound. In that case, d is rounded away from zero.
template <class Real, class History>
CUDA_OPT_HD_INLINE History stored_direction(double x, double to, double l, double u) {
    const double d = to - x;
    if constexpr (std::is_same_v<Real, History>) return static_cast<History>(d);
    constexpr double largest = largest_number<History>;
    const History rounded(least(greatest(d, -largest), largest));
    if (!(to == l || to == u) || to == x) return rounded;
    if (stepped_variable<Real>(x, rounded, 1, l, u) == to || std::fabs(d) >= largest) return rounded;
    return next_away_from_zero(rounded);
}

// Computes the direction d = P(x + move) - x, rounded to the storage type of the history, and the trial point P(x +
// step d). `move` is the displacement from x to the subspace minimiser without bounds.
template <class Real, class History>
CUDA_OPT_HD TrialVariable<Real, History> take_trial(const BoxedVariable &at, const DirectionRequest &request, double h,
                                                    double move, DirectionRecord &record) {
    const Trial trial = trial_of_variable(at, request, h, move, largest_number<Real>);
    const History d = stored_direction<Real, History>(at.x, trial.x, at.l, at.u);
    const double wide_d = d;
    record.slope.add(at.g * wide_d);
    record.d_squared.add(wide_d * wide_d);
    record.projected.add(trial.projected);
    if (std::is_same_v<Real, History> && request.step == 1) return {d, static_cast<Real>(trial.x)};
    return {d, stepped_variable<Real>(at.x, d, request.step, at.l, at.u)};
}

} // namespace cudaopt
