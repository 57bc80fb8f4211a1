// Schwefel's problem 1.2: f(x) = sum_{i=1}^n (x_1 + ... + x_i)^2 on [-100, 100]^n. Minimum 0 at the origin.
//
// Each partial sum is computed from the previous one, so that f costs O(n). A change of x_j changes all partial sums
// with i >= j.
// Source: f3 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Schwefel12 {
    static Facts facts() {
        return {"schwefel-1.2", "Schwefel 1.2", "sum over i <= n of (x[1] + ... + x[i])^2", -100, 100, 0};
    }

    template <class Point> CUDA_OPT_HD RealOf<Point> operator()(const Point &x, int n) const {
        RealOf<Point> f = 0, partial = 0;
        for (int j = 0; j < n; j++) {
            partial += x[j];
            f += partial * partial;
        }
        return f;
    }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        double partial = 0;
        for (int j = 0; j < n; j++) g[j] = 2 * (partial += x[j]);
        for (int j = n - 1; j > 0; j--) g[j - 1] += g[j];
    }
};

} // namespace cudaopt::testfuncs::search
