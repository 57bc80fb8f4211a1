// The operations of a gradient check on each variable, for host and device: they write points x + t d and compare
// gradients.
#pragma once

#include "scaling/rules.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// A direction d. The size of a variable is its scale s_i or, without scales, max(1, |x_i|). In units of these sizes, d
// is -g divided by its largest component, or has random signs for the variables first <= i < end and 0 for the others.
struct CheckDirection {
    double gradient_size; // the largest |g_i|; 0: random signs
    uint64_t seed;
    int64_t first, end;
};
// The largest step t of a gradient check. No variable moves by more than this fraction of its size.
constexpr double longest_check_step = 0.1;

// Sums over the displacements D_i = x_i - base_i, with the gradient g at the base point.
struct MoveRecord {
    Sum slope, squares, displacement; // sums of g_i D_i, of its squares, and of D_i
    // The number of variables whose x is not finite, whose bounds cross, or whose size is not positive and finite.
    Count improper;
    Count fixed; // the number of variables that their bounds fix, so that they have no displacement along any direction
    CUDA_OPT_HD void join(const MoveRecord &o) {
        slope.join(o.slope), squares.join(o.squares), displacement.join(o.displacement);
        improper.join(o.improper), fixed.join(o.fixed);
    }
};

// Writes x = base + t d. The base point is x0 moved into the interior of the box, by a thousandth of the variable's
// size or by half of the box's width, so that there are points of the box on both sides of it.
template <class Real> struct CheckPoint { // reads x0, g0, s, l, u; writes x
    const Real *x0, *g0;
    Real *x;
    Scales<Real> scales;
    BoxArrays<Real> box;
    CheckDirection direction;
    double t;

    CUDA_OPT_HD void operator()(int64_t i, MoveRecord &record) const {
        const double l = box.lower(i), u = box.upper(i), start = x0[i];
        const double size = scales.given() ? scales(i) : greatest(1.0, std::fabs(start));
        record.improper.add(!is_finite(start) || !(l <= u) || l == infinity || u == -infinity || !(size > 0) ||
                            !is_finite(size));
        const double margin = least(1e-3 * size, (u - l) / 2);
        const Real base = static_cast<Real>(clamp_to_box(start, l + margin, u - margin));
        const double room = least(base - l, u - base) / longest_check_step;
        const double reach = least(size, greatest(room, 0.0)), d = sign(i) * reach;
        record.fixed.add(!(reach > 0));
        const double stored = clamp_to_box(base + t * d, -largest_number<Real>, largest_number<Real>);
        x[i] = static_cast<Real>(clamp_to_box(stored, l, u));
        const double displacement = static_cast<double>(x[i]) - static_cast<double>(base),
                     product = g0[i] * displacement;
        record.slope.add(product);
        record.squares.add(product * product);
        record.displacement.add(displacement);
    }

  private:
    CUDA_OPT_HD double sign(int64_t i) const {
        if (direction.gradient_size > 0) return -g0[i] / direction.gradient_size;
        if (i < direction.first || i >= direction.end) return 0;
        // random numbers by the generator splitmix64
        uint64_t z = direction.seed + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return (z ^ (z >> 31)) >> 63 ? 1.0 : -1.0;
    }
};

// Facts about an evaluation. The gradient is compared with the one that was stored before.
struct LookRecord {
    Sum f;
    Max size, change; // the largest |g_i|, and the largest |g_i - stored g_i|
    // The numbers of components of g that are not finite, that are not exactly representable in single precision, and
    // that have more than 8 binary digits.
    Count not_finite, not_single, not_short;
    CUDA_OPT_HD void join(const LookRecord &o) {
        f.join(o.f), size.join(o.size), change.join(o.change);
        not_finite.join(o.not_finite), not_single.join(o.not_single), not_short.join(o.not_short);
    }
};
template <class Real> struct LookAtGradient { // reads f, g and g0; writes g0 if keep is true
    const double *f;
    const Real *g;
    Real *g0;
    bool keep;
    CUDA_OPT_HD void operator()(int64_t i, LookRecord &record) const {
        const double gi = g[i];
        if (i == 0) record.f.add(*f);
        record.not_finite.add(!is_finite(gi));
        record.not_single.add(!is_single(gi));
        int exponent;
        const double digits = 256 * std::frexp(gi, &exponent);
        record.not_short.add(digits != std::floor(digits));
        record.size.add(std::fabs(gi));
        record.change.add(std::fabs(gi - g0[i]));
        if (keep) g0[i] = g[i];
    }
};

template <class Real> struct CopyPoint { // reads one vector, writes another
    const Real *from;
    Real *to;
    CUDA_OPT_HD void operator()(int64_t i) const { to[i] = from[i]; }
};

} // namespace cudaopt
