// Ackley:
//
//     f(x) = -20 exp(-r / 5) - exp(1/n sum_{i=1}^n cos(2 pi x_i)) + 20 + e,   r^2 = 1/n sum_{i=1}^n x_i^2
//
// on [-32, 32]^n. The minimum is 0 at the origin, where f has the form of a cone and no gradient. f is computed as
//
//     f(x) = -20 expm1(-r / 5) - e expm1(-2/n sum_{i=1}^n sin^2(pi x_i))
//
// Near the minimum this is accurate, whereas the four terms of the first formula would cancel.
// Source: f10 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"
#include "testfuncs/search/turns.hpp"

namespace cudaopt::testfuncs::search {

struct Ackley : OfSums<Ackley, 2> {
    static constexpr double e = 2.71828182845904523536;

    static Facts facts() {
        return {"ackley", "Ackley", "-20 exp(-0.2 sqrt(sum of x[i]^2 / n)) - exp(sum of cos(2 pi x[i]) / n) + 20 + e",
                -32,      32,       0};
    }

    template <class Real> CUDA_OPT_HD void terms(int, Real x, int, Real (&t)[2]) const {
        t[0] = x * x;
        t[1] = sin2_half_turns(x);
    }
    template <class Real> CUDA_OPT_HD Real combine(const Real (&sum)[2], int n) const {
        return -20 * std::expm1(Real(-0.2) * std::sqrt(sum[0] / Real(n))) - Real(e) * std::expm1(-2 * sum[1] / Real(n));
    }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        double sum[2] = {}, t[2];
        for (int j = 0; j < n; j++) {
            terms(j, x[j], n, t);
            sum[0] += t[0];
            sum[1] += t[1];
        }
        const double r = std::sqrt(sum[0] / n);
        // At the apex of the cone (the origin) f has no gradient, and 0 is used as the slope.
        const double along = r > 0 ? 4 * std::exp(-0.2 * r) / (n * r) : 0;
        const double across = 2 * pi / n * e * std::exp(-2 * sum[1] / n);
        for (int j = 0; j < n; j++) g[j] = along * x[j] + across * sin_turns(x[j]);
    }
};

} // namespace cudaopt::testfuncs::search
