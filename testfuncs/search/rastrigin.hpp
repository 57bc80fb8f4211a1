// Rastrigin:
//
//     f(x) = sum_{i=1}^n x_i^2 - 10 cos(2 pi x_i) + 10 = sum_{i=1}^n x_i^2 + 20 sin^2(pi x_i)   on [-5.12, 5.12]^n
//
// Minimum 0 at the origin; there is a local minimum near every point with integer coordinates.
// Source: f9 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"
#include "testfuncs/search/turns.hpp"

namespace cudaopt::testfuncs::search {

struct Rastrigin : OfSums<Rastrigin, 1> {
    static Facts facts() {
        return {"rastrigin", "Rastrigin", "sum over i <= n of x[i]^2 - 10 cos(2 pi x[i]) + 10", -5.12, 5.12, 0};
    }

    template <class Real> CUDA_OPT_HD void terms(int, Real x, int, Real (&t)[1]) const {
        t[0] = x * x + 20 * sin2_half_turns(x);
    }
    template <class Real> CUDA_OPT_HD Real combine(const Real (&sum)[1], int) const { return sum[0]; }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        for (int j = 0; j < n; j++) g[j] = 2 * x[j] + 20 * pi * sin_turns(x[j]);
    }
};

} // namespace cudaopt::testfuncs::search
