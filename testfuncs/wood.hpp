// Extended Wood function, in its classical form:
//
//     f(x) = sum_{i=1}^{n/4} 100 (x_{4i-3}^2 - x_{4i-2})^2 + (x_{4i-3} - 1)^2
//                          +  90 (x_{4i-1}^2 - x_{4i}  )^2 + (x_{4i-1} - 1)^2
//                          + 10.1 ((x_{4i-2} - 1)^2 + (x_{4i} - 1)^2) + 19.8 (x_{4i-2} - 1) (x_{4i} - 1)
//
// Start (-3, -1, -3, -1, ...). Minimum 0 at (1, ..., 1).
// Source: Colville, IBM report 320-2949 (1968); problem 14 of More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17, repeated
// over blocks.
//
// The 2013 manual (D'Amore, Arcucci, Mele, Scotti, Murli, CMCC RP0167) prints the function without (x_{4i-1} - 1)^2 and
// with (x_{4i} + 1)^2 in place of (x_{4i} - 1)^2. That would move the minimum away from (1, ..., 1).
#pragma once

#include "testfuncs/function.hpp"

namespace cudaopt::testfuncs {

struct Wood : Defaults {
    static Facts facts() {
        return {"wood",
                "Extended Wood",
                "sum over i <= n/4 of 100 (x[4i-3]^2 - x[4i-2])^2 + (x[4i-3] - 1)^2 + 90 (x[4i-1]^2 - x[4i])^2 "
                "+ (x[4i-1] - 1)^2 + 10.1 ((x[4i-2] - 1)^2 + (x[4i] - 1)^2) + 19.8 (x[4i-2] - 1) (x[4i] - 1)",
                "(-3, -1, -3, -1, ...)",
                "0 at (1, ..., 1)",
                "n a multiple of 4",
                "More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17, problem 14 in blocks",
                {}};
    }
    static Dimension fit(int64_t n, const Parameters &) { return whole_blocks(4, n); }
    Wood(int64_t n, const Parameters &) : n(n) {}

    double start(int64_t i) const { return i % 2 == 0 ? -3 : -1; }
    std::optional<double> minimum() const { return 0; }

    template <class Real> struct Block {
        const Real *x;
        Real *g;
        CUDA_OPT_HD void operator()(int64_t i, Sum &f) const {
            const double a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
            const double r1 = a * a - b, r2 = c * c - d, b1 = b - 1, d1 = d - 1;
            f.add(100 * square(r1) + square(a - 1) + 90 * square(r2) + square(c - 1) +
                  10.1 * (square(b1) + square(d1)) + 19.8 * b1 * d1);
            g[4 * i] = static_cast<Real>(400 * a * r1 + 2 * (a - 1));
            g[4 * i + 1] = static_cast<Real>(-200 * r1 + 20.2 * b1 + 19.8 * d1);
            g[4 * i + 2] = static_cast<Real>(360 * c * r2 + 2 * (c - 1));
            g[4 * i + 3] = static_cast<Real>(-180 * r2 + 20.2 * d1 + 19.8 * b1);
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(n / 4, Block<Real>{x, g}, StoreSum{f});
    }

    int64_t n;
};

} // namespace cudaopt::testfuncs
