// NIST's nonlinear regressions with the certified results.
#pragma once

#include "problem.hpp"

namespace cudaopt_problems {

struct Regression {
    Problem problem; // starts from NIST's first start
    Vector second_start;
    Vector certified;     // the parameters, to eleven digits
    double certified_sum; // the sum of the squares of the residuals at these parameters
};

std::vector<Regression> regressions();

} // namespace cudaopt_problems
