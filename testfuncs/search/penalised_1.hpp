// Penalised 1:
//
//     f(x) = pi/n (10 sin^2(pi y_1) + sum_{i=1}^{n-1} (y_i - 1)^2 (1 + 10 sin^2(pi y_{i+1})) + (y_n - 1)^2)
//          + sum_{i=1}^n 100 max(|x_i| - 10, 0)^4,   y_i = 1 + (x_i + 1) / 4,   on [-50, 50]^n
//
// Minimum 0 at (-1, ..., -1).
// Source: f12 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"
#include "testfuncs/search/penalty.hpp"
#include "testfuncs/search/turns.hpp"

namespace cudaopt::testfuncs::search {

struct Penalised1 : OfNeighbours<Penalised1, 1> {
    static Facts facts() {
        return {"penalised-1",
                "Penalised 1",
                "pi/n (10 sin(pi y[1])^2 + sum over i < n of (y[i] - 1)^2 (1 + 10 sin(pi y[i+1])^2) + (y[n] - 1)^2) "
                "+ sum of 100 max(|x[i]| - 10, 0)^4, y[i] = 1 + (x[i] + 1)/4",
                -50,
                50,
                -1};
    }

    // Returns z = y - 1 for a coordinate x. sin^2(pi z) equals sin^2(pi y).
    template <class Real> CUDA_OPT_HD static Real shifted(Real x) { return (x + 1) / 4; }

    template <class Point> CUDA_OPT_HD RealOf<Point> term(const Point &x, int j, int n) const {
        using Real = RealOf<Point>;
        const Real x_j = x[j], z = shifted(x_j);
        const Real first = j == 0 ? 10 * sin2_half_turns(z) : 0;
        const Real next = j < n - 1 ? 1 + 10 * sin2_half_turns(shifted(x[j + 1])) : 1;
        return Real(pi / n) * (first + z * z * next) + penalty(x_j, Real(10));
    }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        // In f, sin^2(pi y_j) has the factor 10 (y_{j-1} - 1)^2, or 10 for the first coordinate. z_before = 1 gives the
        // latter.
        double z_before = 1;
        for (int j = 0; j < n; j++) {
            const double z = shifted(x[j]);
            const double next = j < n - 1 ? 1 + 10 * sin2_half_turns(shifted(x[j + 1])) : 1;
            const double slope = z_before * z_before * 10 * pi * sin_turns(z) + 2 * z * next;
            g[j] = pi / n * slope / 4 + penalty_slope(x[j], 10);
            z_before = z;
        }
    }
};

} // namespace cudaopt::testfuncs::search
