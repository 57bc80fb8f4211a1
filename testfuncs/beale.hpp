// Extended Beale function:
//
//     f(x) = sum_{i=1}^{n/2} (1.5   - x_{2i-1} (1 - x_{2i}  ))^2
//                          + (2.25  - x_{2i-1} (1 - x_{2i}^2))^2
//                          + (2.625 - x_{2i-1} (1 - x_{2i}^3))^2
//
// Start (1, 0.8, 1, 0.8, ...). Minimum 0 at (3, 0.5, 3, 0.5, ...).
// Source: Beale (1958); problem 5 of More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17, repeated over blocks, with the
// start of D'Amore, Arcucci, Mele, Scotti, Murli, CMCC RP0167 (2013).
#pragma once

#include "testfuncs/function.hpp"

namespace cudaopt::testfuncs {

struct Beale : Defaults {
    static Facts facts() {
        return {"beale",
                "Extended Beale",
                "sum over i <= n/2 and k = 1, 2, 3 of (c[k] - x[2i-1] (1 - x[2i]^k))^2, c = (1.5, 2.25, 2.625)",
                "(1, 0.8, 1, 0.8, ...)",
                "0 at (3, 0.5, 3, 0.5, ...)",
                "n a multiple of 2",
                "More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17, problem 5 in blocks",
                {}};
    }
    static Dimension fit(int64_t n, const Parameters &) { return whole_blocks(2, n); }
    Beale(int64_t n, const Parameters &) : n(n) {}

    double start(int64_t i) const { return i % 2 == 0 ? 1 : 0.8; }
    std::optional<double> minimum() const { return 0; }

    template <class Real> struct Block {
        const Real *x;
        Real *g;
        CUDA_OPT_HD void operator()(int64_t i, Sum &f) const {
            const double a = x[2 * i], b = x[2 * i + 1];
            const double u1 = 1 - b, u2 = 1 - b * b, u3 = 1 - b * b * b;
            const double r1 = 1.5 - a * u1, r2 = 2.25 - a * u2, r3 = 2.625 - a * u3;
            f.add(square(r1) + square(r2) + square(r3));
            g[2 * i] = static_cast<Real>(-2 * (r1 * u1 + r2 * u2 + r3 * u3));
            g[2 * i + 1] = static_cast<Real>(2 * a * (r1 + 2 * b * r2 + 3 * b * b * r3));
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(n / 2, Block<Real>{x, g}, StoreSum{f});
    }

    int64_t n;
};

} // namespace cudaopt::testfuncs
