// Schwefel's problem 2.22: f(x) = sum_{i=1}^n |x_i| + prod_{i=1}^n |x_i| on [-10, 10]^n. Minimum 0 at the origin. f has
// no gradient where a coordinate is zero.
//
// Every evaluation computes the whole product, because its factors tend to zero and cannot be divided out of it.
// Source: f2 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Schwefel222 {
    static Facts facts() { return {"schwefel-2.22", "Schwefel 2.22", "sum of |x[i]| + product of |x[i]|", -10, 10, 0}; }

    template <class Point> CUDA_OPT_HD RealOf<Point> operator()(const Point &x, int n) const {
        RealOf<Point> sum = 0, product = 1;
        for (int j = 0; j < n; j++) {
            const RealOf<Point> size = std::fabs(x[j]);
            sum += size;
            product *= size;
        }
        return sum + product;
    }

    // Computes the gradient of the function. A coordinate that is zero is treated as positive.
    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        double before = 1, after = 1;
        for (int j = 0; j < n; j++) {
            g[j] = before;
            before *= std::fabs(x[j]);
        }
        for (int j = n - 1; j >= 0; j--) {
            const double slope = 1 + g[j] * after;
            g[j] = x[j] < 0 ? -slope : slope;
            after *= std::fabs(x[j]);
        }
    }
};

} // namespace cudaopt::testfuncs::search
