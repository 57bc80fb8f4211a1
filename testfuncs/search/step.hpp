// Step: f(x) = sum_{i=1}^n floor(x_i + 1/2)^2 on [-100, 100]^n. The minimum 0 is attained where -1/2 <= x_i < 1/2 for
// all i. The gradient is zero wherever it exists.
// Source: f6 of Yao, Liu, Lin, IEEE Trans. Evolutionary Computation 3 (1999) 82.
#pragma once

#include "testfuncs/search/form.hpp"

namespace cudaopt::testfuncs::search {

struct Step : OfSums<Step, 1> {
    static Facts facts() { return {"step", "Step", "sum over i <= n of floor(x[i] + 1/2)^2", -100, 100, 0}; }

    template <class Real> CUDA_OPT_HD void terms(int, Real x, int, Real (&t)[1]) const {
        t[0] = square(std::floor(x + Real(0.5)));
    }
    template <class Real> CUDA_OPT_HD Real combine(const Real (&sum)[1], int) const { return sum[0]; }
};

} // namespace cudaopt::testfuncs::search
