// Extended Powell singular function:
//
//     f(x) = sum_{i=1}^{n/4} (x_{4i-3} + 10 x_{4i-2})^2 + 5 (x_{4i-1} - x_{4i})^2
//                          + (x_{4i-2} - 2 x_{4i-1})^4 + 10 (x_{4i-3} - x_{4i})^4
//
// Start (3, -1, 0, 1, ...). Minimum 0 at the origin, where the Hessian is singular, so that convergence is slow.
// Source: Powell, Computer J. 5 (1962) 147; problem 22 of More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17.
#pragma once

#include "testfuncs/function.hpp"

namespace cudaopt::testfuncs {

struct Powell : Defaults {
    static Facts facts() {
        return {"powell",
                "Extended Powell singular",
                "sum over i <= n/4 of (x[4i-3] + 10 x[4i-2])^2 + 5 (x[4i-1] - x[4i])^2 + (x[4i-2] - 2 x[4i-1])^4 "
                "+ 10 (x[4i-3] - x[4i])^4",
                "(3, -1, 0, 1, ...)",
                "0 at (0, ..., 0)",
                "n a multiple of 4",
                "More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17, problem 22",
                {}};
    }
    static Dimension fit(int64_t n, const Parameters &) { return whole_blocks(4, n); }
    Powell(int64_t n, const Parameters &) : n(n) {}

    double start(int64_t i) const {
        constexpr double block[] = {3, -1, 0, 1};
        return block[i % 4];
    }
    std::optional<double> minimum() const { return 0; }

    template <class Real> struct Block {
        const Real *x;
        Real *g;
        CUDA_OPT_HD void operator()(int64_t i, Sum &f) const {
            const double a = x[4 * i], b = x[4 * i + 1], c = x[4 * i + 2], d = x[4 * i + 3];
            const double r1 = a + 10 * b, r2 = c - d, r3 = b - 2 * c, r4 = a - d;
            f.add(square(r1) + 5 * square(r2) + square(square(r3)) + 10 * square(square(r4)));
            const double cube3 = r3 * r3 * r3, cube4 = r4 * r4 * r4;
            g[4 * i] = static_cast<Real>(2 * r1 + 40 * cube4);
            g[4 * i + 1] = static_cast<Real>(20 * r1 + 4 * cube3);
            g[4 * i + 2] = static_cast<Real>(10 * r2 - 8 * cube3);
            g[4 * i + 3] = static_cast<Real>(-10 * r2 - 40 * cube4);
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(n / 4, Block<Real>{x, g}, StoreSum{f});
    }

    int64_t n;
};

} // namespace cudaopt::testfuncs
