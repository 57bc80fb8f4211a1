// Schwefel's problem 2.21: f(x) = max_{i=1}^n |x_i| on [-100, 100]^n. Minimum 0 at the origin. f has no
// gradient where two coordinates share the largest magnitude.
// Source: f4 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Schwefel221 {
    static Facts facts() { return {"schwefel-2.21", "Schwefel 2.21", "largest |x[i]|, i <= n", -100, 100, 0}; }

    template <class Point> CUDA_OPT_HD RealOf<Point> operator()(const Point &x, int n) const {
        RealOf<Point> largest = 0;
        for (int j = 0; j < n; j++) {
            const RealOf<Point> size = std::fabs(x[j]);
            largest = size > largest || size != size ? size : largest; // propagates a NaN
        }
        return largest;
    }

    // Computes the gradient. Only its component for the first coordinate with the largest magnitude is nonzero.
    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        int first = 0;
        for (int j = 0; j < n; j++) {
            g[j] = 0;
            if (std::fabs(x[j]) > std::fabs(x[first])) first = j;
        }
        g[first] = x[first] < 0 ? -1 : 1;
    }
};

} // namespace cudaopt::testfuncs::search
