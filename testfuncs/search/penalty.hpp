// The penalty u(x, a) = 100 max(|x| - a, 0)^4, which the functions Penalised 1 and Penalised 2 contain.
#pragma once

#include "testfuncs/search/form.hpp"

#include <cmath>

namespace cudaopt::testfuncs::search {

template <class Real> CUDA_OPT_HD Real penalty(Real x, Real a) {
    const Real beyond = std::fabs(x) - a;
    return beyond > 0 ? 100 * square(square(beyond)) : 0;
}

CUDA_OPT_HD inline double penalty_slope(double x, double a) {
    const double beyond = std::fabs(x) - a;
    if (!(beyond > 0)) return 0;
    const double slope = 400 * beyond * square(beyond);
    return x < 0 ? -slope : slope;
}

} // namespace cudaopt::testfuncs::search
