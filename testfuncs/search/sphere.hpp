// Sphere: f(x) = sum_{i=1}^n x_i^2 on [-100, 100]^n. Minimum 0 at the origin.
// Source: f1 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Sphere : OfSums<Sphere, 1> {
    static Facts facts() { return {"sphere", "Sphere", "sum over i <= n of x[i]^2", -100, 100, 0}; }

    template <class Real> CUDA_OPT_HD void terms(int, Real x, int, Real (&t)[1]) const { t[0] = x * x; }
    template <class Real> CUDA_OPT_HD Real combine(const Real (&sum)[1], int) const { return sum[0]; }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        for (int j = 0; j < n; j++) g[j] = 2 * x[j];
    }
};

} // namespace cudaopt::testfuncs::search
