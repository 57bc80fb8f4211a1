// Extended Rosenbrock function:
//
//     f(x) = sum_{i=1}^{n/2} 100 (x_{2i} - x_{2i-1}^2)^2 + (1 - x_{2i-1})^2
//
// Start (-1.2, 1, -1.2, 1, ...): f = 12.1 n, ||g|| = 232.868 sqrt(n / 2). Minimum 0 at (1, ..., 1).
// Source: Rosenbrock, Computer J. 3 (1960) 175; extended as problem 21 of More, Garbow, Hillstrom, ACM TOMS 7 (1981)
// 17.
#pragma once

#include "testfuncs/function.hpp"

namespace cudaopt::testfuncs {

struct Rosenbrock : Defaults {
    static Facts facts() {
        return {"rosenbrock",
                "Extended Rosenbrock",
                "sum over i <= n/2 of 100 (x[2i] - x[2i-1]^2)^2 + (1 - x[2i-1])^2",
                "(-1.2, 1, -1.2, 1, ...)",
                "0 at (1, ..., 1)",
                "n a multiple of 2",
                "More, Garbow, Hillstrom, ACM TOMS 7 (1981) 17, problem 21",
                {}};
    }
    static Dimension fit(int64_t n, const Parameters &) { return whole_blocks(2, n); }
    Rosenbrock(int64_t n, const Parameters &) : n(n) {}

    double start(int64_t i) const { return i % 2 == 0 ? -1.2 : 1; }
    std::optional<double> minimum() const { return 0; }

    template <class Real> struct Block {
        const Real *x;
        Real *g;
        CUDA_OPT_HD void operator()(int64_t i, Sum &f) const {
            const double a = x[2 * i], b = x[2 * i + 1];
            const double valley = b - a * a, slope = 1 - a;
            f.add(100 * square(valley) + square(slope));
            g[2 * i] = static_cast<Real>(-400 * a * valley - 2 * slope);
            g[2 * i + 1] = static_cast<Real>(200 * valley);
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(n / 2, Block<Real>{x, g}, StoreSum{f});
    }

    int64_t n;
};

} // namespace cudaopt::testfuncs
