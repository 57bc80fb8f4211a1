// Griewank: f(x) = 1/4000 sum_{i=1}^n x_i^2 - prod_{i=1}^n cos(x_i / sqrt(i)) + 1 on [-600, 600]^n. Minimum 0 at the
// origin.
//
// Every evaluation computes the whole product, because a factor near zero cannot be divided out of it.
// Source: f11 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/angle.hpp"
#include "testfuncs/inverse_sqrt.hpp"
#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Griewank {
    static Facts facts() {
        return {"griewank", "Griewank", "sum of x[i]^2 / 4000 - product of cos(x[i] / sqrt(i)) + 1", -600, 600, 0};
    }

    template <class Point> CUDA_OPT_HD RealOf<Point> operator()(const Point &x, int n) const {
        RealOf<Point> sum = 0, product = 1;
        for (int j = 0; j < n; j++) {
            const RealOf<Point> x_j = x[j];
            sum += x_j * x_j;
            product *= std::cos(x_j * inverse_sqrt(RealOf<Point>(j + 1)));
        }
        return sum / 4000 + (1 - product);
    }

    // The product of all cosines but one is the product of those before it, accumulated in increasing order, times the
    // product of those after it.
    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        double before = 1, after = 1;
        for (int j = 0; j < n; j++) {
            const double w = inverse_sqrt(double(j + 1));
            const Angle angle(x[j] * w);
            g[j] = before * w * angle.sin;
            before *= angle.cos;
        }
        for (int j = n - 1; j >= 0; j--) {
            g[j] = x[j] / 2000 + g[j] * after;
            after *= std::cos(x[j] * inverse_sqrt(double(j + 1)));
        }
    }
};

} // namespace cudaopt::testfuncs::search
