// Penalised 2:
//
//     f(x) = 1/10 (sin^2(3 pi x_1) + sum_{i=1}^{n-1} (x_i - 1)^2 (1 + sin^2(3 pi x_{i+1}))
//                  + (x_n - 1)^2 (1 + sin^2(2 pi x_n)))
//          + sum_{i=1}^n 100 max(|x_i| - 5, 0)^4   on [-50, 50]^n
//
// Minimum 0 at (1, ..., 1).
// Source: f13 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"
#include "testfuncs/search/penalty.hpp"
#include "testfuncs/search/turns.hpp"

namespace cudaopt::testfuncs::search {

struct Penalised2 : OfNeighbours<Penalised2, 1> {
    static Facts facts() {
        return {"penalised-2",
                "Penalised 2",
                "(sin(3 pi x[1])^2 + sum over i < n of (x[i] - 1)^2 (1 + sin(3 pi x[i+1])^2) "
                "+ (x[n] - 1)^2 (1 + sin(2 pi x[n])^2))/10 + sum of 100 max(|x[i]| - 5, 0)^4",
                -50,
                50,
                1};
    }

    template <class Point> CUDA_OPT_HD RealOf<Point> term(const Point &x, int j, int n) const {
        using Real = RealOf<Point>;
        const Real x_j = x[j];
        const Real first = j == 0 ? sin2_half_turns(3 * x_j) : 0;
        const Real next = sin2_half_turns(j < n - 1 ? 3 * x[j + 1] : 2 * x_j);
        return Real(0.1) * (first + square(x_j - 1) * (1 + next)) + penalty(x_j, Real(5));
    }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        // In f, sin^2(3 pi x_j) has the factor (x_{j-1} - 1)^2, or 1 for the first coordinate. z_before = 1 gives the
        // latter.
        double z_before = 1;
        for (int j = 0; j < n; j++) {
            const double x_j = x[j], z = x_j - 1;
            const bool last = j == n - 1;
            const double next = sin2_half_turns(last ? 2 * x_j : 3 * x[j + 1]);
            const double of_own_sine = last ? z * z * 2 * pi * sin_turns(2 * x_j) : 0;
            const double slope = z_before * z_before * 3 * pi * sin_turns(3 * x_j) + 2 * z * (1 + next) + of_own_sine;
            g[j] = 0.1 * slope + penalty_slope(x_j, 5);
            z_before = z;
        }
    }
};

} // namespace cudaopt::testfuncs::search
