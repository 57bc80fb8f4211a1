// The rules of scaled variables, for host and device: z = x / s, l / s, u / s, g_z = s g, and back. Real is storage
// only: arithmetic is double.
#pragma once

#include "sweeps/rules.hpp"

namespace cudaopt {

// The typical sizes s of the variables: an array, or a value that all variables share.
template <class Real> struct Scales {
    const Real *array;
    double all;
    CUDA_OPT_HD double operator()(int64_t i) const { return array ? static_cast<double>(array[i]) : all; }
};

// The first variable whose scale is not positive and finite, and the first whose x, l or u leaves the range of Real
// when it is divided by the scale.
struct ScaleRecord {
    FirstIndex bad, too_large;
    CUDA_OPT_HD void join(const ScaleRecord &o) { bad.join(o.bad), too_large.join(o.too_large); }
};

template <class Real> struct CheckScales { // reads s, l, u and, unless it is NULL, x
    Scales<Real> scales;
    const Real *x;
    BoxArrays<Real> box;
    CUDA_OPT_HD void operator()(int64_t i, ScaleRecord &record) const {
        const double s = scales(i), l = box.lower(i), u = box.upper(i);
        const bool good = s > 0 && is_finite(s);
        record.bad.add(i, !good);
        // A lower bound that becomes -Inf is none: no z reaches it. One that becomes +Inf leaves no z.
        record.too_large.add(
            i, good && ((x && overflows(x[i], s)) || (l > 0 && overflows(l, s)) || (u < 0 && overflows(u, s))));
    }
    static CUDA_OPT_HD bool overflows(double value, double s) {
        const Real quotient = static_cast<Real>(value / s);
        return is_finite(value) && !(quotient >= -largest && quotient <= largest);
    }
    static constexpr Real largest = std::numeric_limits<Real>::max();
};

template <class Real> struct Divide { // reads s and a vector, x or a bound; writes it divided by s
    Scales<Real> scales;
    const Real *from;
    double all; // in place of a vector that is NULL
    Real *to;
    CUDA_OPT_HD void operator()(int64_t i) const {
        to[i] = static_cast<Real>((from ? static_cast<double>(from[i]) : all) / scales(i));
    }
};

template <class Real> struct ScaleGradient { // reads s, g; writes g_z = s g
    Scales<Real> scales;
    const Real *g;
    Real *g_z;
    CUDA_OPT_HD void operator()(int64_t i) const { g_z[i] = static_cast<Real>(g[i] * scales(i)); }
};

// The diagonal D of an inverse Hessian by x is D / s^2 by z.
template <class Real> struct ScaleDiagonal { // reads s, D; writes D / s^2
    Scales<Real> scales;
    const Real *d;
    Real *d_z;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const double s = scales(i);
        d_z[i] = static_cast<Real>(d[i] / s / s);
    }
};

// x is the bound itself where z is at the bound, and is finite and lies in the box however s z is rounded.
template <class Real> struct UnscaleX { // reads s, z and both pairs of bounds; writes x = s z
    Scales<Real> scales;
    const Real *z;
    BoxArrays<Real> box, box_z;
    Real *x;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const Real l = static_cast<Real>(box.lower(i)), u = static_cast<Real>(box.upper(i)); // are of this precision
        const double at = z[i];
        const Real product =
            static_cast<Real>(clamp_to_box(at * scales(i), -largest_number<Real>, largest_number<Real>));
        x[i] = at == box_z.lower(i) ? l : at == box_z.upper(i) ? u : clamp_to_box(product, l, u);
    }
};

template <class Real> struct UnscaleGradient { // reads s, g_z; writes g = g_z / s
    Scales<Real> scales;
    const Real *g_z;
    Real *g;
    CUDA_OPT_HD void operator()(int64_t i) const { g[i] = static_cast<Real>(g_z[i] / scales(i)); }
};

} // namespace cudaopt
