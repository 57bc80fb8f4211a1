// Quartic: f(x) = sum_{i=1}^n i x_i^4 on [-1.28, 1.28]^n. Minimum 0 at the origin.
//
// The source adds a random number from [0, 1) to each evaluation. It is omitted here. With it, two evaluations at the
// same point would differ, and no run could be reproduced.
// Source: f7 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Quartic : OfSums<Quartic, 1> {
    static Facts facts() { return {"quartic", "Quartic without noise", "sum over i <= n of i x[i]^4", -1.28, 1.28, 0}; }

    template <class Real> CUDA_OPT_HD void terms(int j, Real x, int, Real (&t)[1]) const {
        t[0] = Real(j + 1) * square(square(x));
    }
    template <class Real> CUDA_OPT_HD Real combine(const Real (&sum)[1], int) const { return sum[0]; }

    template <class Point> CUDA_OPT_HD void gradient(const Point &x, int n, double *g) const {
        for (int j = 0; j < n; j++) g[j] = 4 * (j + 1) * x[j] * square(x[j]);
    }
};

} // namespace cudaopt::testfuncs::search
