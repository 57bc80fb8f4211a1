// The conversions between the variables x and the scaled variables z = x / s, for host and device. The bounds l and u
// become l / s and u / s, and the gradient becomes g_z = s g. Real is the type in which vectors are stored. Arithmetic
// is in double precision.
#pragma once

#include "sweeps/rules.hpp"

namespace cudaopt {

// The scales s, which are the typical sizes of the variables: an array, or one value for all variables.
template <class Real> struct Scales {
    const Real *array;
    double all;
    CUDA_OPT_HD double operator()(int64_t i) const { return array ? static_cast<double>(array[i]) : all; }
    CUDA_OPT_HD bool given() const { return array || all != 1; }
};

// Records two indices: that of the first variable whose scale is not positive and finite, and that of the first
// variable whose x, l or u leaves the range of Real when it is divided by the scale.
struct ScaleRecord {
    FirstIndex bad, out_of_range;
    CUDA_OPT_HD void join(const ScaleRecord &o) { bad.join(o.bad), out_of_range.join(o.out_of_range); }
    bool usable() const { return bad.v == no_index && out_of_range.v == no_index; }
};

// Checks the scales. It reads s, l, u and, unless it is NULL, x.
template <class Real> struct CheckScales {
    Scales<Real> scales;
    const Real *x;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i, ScaleRecord &record) const {
        const double s = scales(i), l = box.lower(i), u = box.upper(i);
        const bool good = s > 0 && is_finite(s);
        record.bad.add(i, !good);
        // A lower bound that overflows to -Inf is no error, because no z reaches it, but +Inf would exclude every z.
        // The same holds for an upper bound with the signs exchanged.
        const bool x_changes = x && (overflows(x[i], s) || vanishes(x[i], s));
        record.out_of_range.add(i, good && (x_changes || (l > 0 && overflows(l, s)) || (u < 0 && overflows(u, s))));
    }
    // Returns whether the quotient is so small that s times the quotient is another number.
    static CUDA_OPT_HD bool vanishes(double value, double s) {
        const double back = static_cast<Real>(value / s) * s;
        return std::fabs(back - value) > 4 * std::numeric_limits<Real>::epsilon() * std::fabs(value);
    }
    static CUDA_OPT_HD bool overflows(double value, double s) {
        const Real quotient = static_cast<Real>(value / s);
        return is_finite(value) && !(std::fabs(quotient) <= std::numeric_limits<Real>::max());
    }
};

// Divides a vector, which is x, a bound or the gradient g_z, by the scales. A diagonal D of the inverse Hessian is
// divided twice, because D / s^2 is the diagonal with respect to z. The rule reads s and the vector, and writes the
// quotient.
template <class Real> struct Divide {
    Scales<Real> scales;
    const Real *from;
    double all; // the value of all elements if `from` is NULL
    Real *to;
    bool twice;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const double s = scales(i), quotient = (from ? static_cast<double>(from[i]) : all) / s;
        to[i] = static_cast<Real>(twice ? quotient / s : quotient);
    }
};

// Computes the gradient with respect to z. It reads s and g, and writes g_z = s g.
template <class Real> struct ScaleGradient {
    Scales<Real> scales;
    const Real *g;
    Real *g_z;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const Real product = static_cast<Real>(g[i] * scales(i));
        // If a finite slope overflows, it is undefined, and not the infinite slope that a function may have at a bound.
        g_z[i] = is_finite(g[i]) && !is_finite(product) ? std::numeric_limits<Real>::quiet_NaN() : product;
    }
};

// Computes x = s z. x is equal to its bound if z is at its bound. Otherwise the product is limited to the box and to
// the range of Real, so that rounding cannot move it outside. It reads s, z, the bounds of x and those of z.
template <class Real> struct UnscaleX {
    Scales<Real> scales;
    const Real *z;
    BoxArrays<Real> box, box_z;
    Real *x;
    CUDA_OPT_HD void operator()(int64_t i) const {
        // The bounds are exactly representable in Real.
        const Real l = static_cast<Real>(box.lower(i)), u = static_cast<Real>(box.upper(i));
        const double at = z[i];
        const Real product(clamp_to_box(at * scales(i), -largest_number<Real>, largest_number<Real>));
        x[i] = at == box_z.lower(i) ? l : at == box_z.upper(i) ? u : clamp_to_box(product, l, u);
    }
};

} // namespace cudaopt
