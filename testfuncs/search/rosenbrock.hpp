// Rosenbrock, chained: f(x) = sum_{i=1}^{n-1} 100 (x_{i+1} - x_i^2)^2 + (x_i - 1)^2 on [-30, 30]^n. Minimum 0 at
// (1, ..., 1). For n = 1 the sum is empty, and f = 0.
// Source: f5 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Rosenbrock : OfNeighbours<Rosenbrock, 1> {
    static Facts facts() {
        return {"rosenbrock",
                "Rosenbrock, chained",
                "sum over i < n of 100 (x[i+1] - x[i]^2)^2 + (x[i] - 1)^2",
                -30,
                30,
                1};
    }

    template <class Point> CUDA_OPT_HD RealOf<Point> term(const Point &x, int j, int n) const {
        if (j == n - 1) return 0;
        const RealOf<Point> x_j = x[j];
        return 100 * square(x[j + 1] - x_j * x_j) + square(x_j - 1);
    }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        g[0] = 0;
        for (int j = 0; j < n - 1; j++) {
            const double valley = x[j + 1] - square(x[j]);
            g[j] += 2 * (x[j] - 1) - 400 * x[j] * valley;
            g[j + 1] = 200 * valley;
        }
    }
};

} // namespace cudaopt::testfuncs::search
