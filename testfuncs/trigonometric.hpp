// Extended trigonometric function:
//
//     f(x) = sum_{i=1}^n r_i^2,   r_i = S + p_i,   S = sum_j (1 - cos x_j),   p_i = i (1 - cos x_i) - sin x_i
//
// S equals n - sum_j cos x_j, but is computed without cancellation. With R = sum_i r_i = n S + sum_i p_i the gradient
// costs O(n):
//
//     g_k = 2 sum_i r_i dr_i/dx_k = 2 (R sin x_k + r_k (k sin x_k - cos x_k))
//
// An evaluation therefore needs two sweeps over the variables. The first sweep sums S and p, the second computes r and
// g. sin x and 1 - cos x are computed from x / 2.
//
// Start (0.2, ..., 0.2), as in the 2013 manual of D'Amore et al.; More et al. start at (1/n, ..., 1/n). The minimum 0
// is attained at the origin and elsewhere. There are local minima above 0.
// Source: Spedicato (1975); problem 26 of More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17; start of D'Amore, Arcucci,
// Mele, Scotti, Murli, CMCC RP0167 (2013).
#pragma once

#include "testfuncs/function.hpp"

namespace cudaopt::testfuncs {

struct Trigonometric : Defaults {
    static Facts facts() {
        return {"trigonometric",
                "Extended Trigonometric",
                "sum over i <= n of (n - sum over j <= n of cos x[j] + i (1 - cos x[i]) - sin x[i])^2",
                "(0.2, 0.2, ...)",
                "0, at (0, ..., 0) among others; there are local minima above it",
                "any n",
                "More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17, problem 26",
                {}};
    }
    static Dimension fit(int64_t n, const Parameters &) { return whole_blocks(1, n); }
    Trigonometric(int64_t n, const Parameters &) : n(n) {}

    double start(int64_t) const { return 0.2; }
    std::optional<double> minimum() const { return 0; }

    // Stores sin x and 1 - cos x for one x. The latter has full relative accuracy, also for small x.
    struct Angle {
        double sin, versine;
        CUDA_OPT_HD explicit Angle(double x) {
            const double half = std::sin(x / 2);
            sin = 2 * half * std::cos(x / 2);
            versine = 2 * half * half;
        }
        // Returns p_i = i (1 - cos x_i) - sin x_i. The argument i is counted from 0.
        CUDA_OPT_HD double own_part(int64_t i) const { return static_cast<double>(i + 1) * versine - sin; }
    };

    // The sums over all variables that the first sweep computes and the second sweep needs.
    struct Totals {
        Sum versine, own_part;
        CUDA_OPT_HD void join(const Totals &other) {
            versine.join(other.versine);
            own_part.join(other.own_part);
        }
    };

    struct StoreTotals {
        Totals *to;
        CUDA_OPT_HD void operator()(const Totals &totals) const { *to = totals; }
    };

    template <class Real> struct SumRows {
        const Real *x;
        CUDA_OPT_HD void operator()(int64_t i, Totals &totals) const {
            const Angle angle(x[i]);
            totals.versine.add(angle.versine);
            totals.own_part.add(angle.own_part(i));
        }
    };

    template <class Real> struct Row {
        const Real *x;
        Real *g;
        const Totals *totals;
        double n;
        CUDA_OPT_HD void operator()(int64_t i, Sum &f) const {
            const Angle angle(x[i]);
            const double S = totals->versine.v, R = n * S + totals->own_part.v;
            const double r = S + angle.own_part(i);
            f.add(square(r));
            const double own_slope = static_cast<double>(i + 1) * angle.sin - (1 - angle.versine);
            g[i] = static_cast<Real>(2 * (R * angle.sin + r * own_slope));
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        Totals *totals = on.template between_passes<Totals>();
        on.template map_reduce<Totals>(n, SumRows<Real>{x}, StoreTotals{totals});
        on.template map_reduce<Sum>(n, Row<Real>{x, g, totals, static_cast<double>(n)}, StoreSum{f});
    }

    int64_t n;
};

} // namespace cudaopt::testfuncs
