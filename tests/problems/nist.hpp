// NIST's regressions with what NIST certifies of them.
#pragma once

#include "problem.hpp"

namespace cudaopt_problems {

struct Regression {
    Problem problem; // from NIST's first start
    Vector second_start;
    Vector certified;     // the parameters, to eleven digits
    double certified_sum; // of the squares of the residuals there
};

std::vector<Regression> regressions();

} // namespace cudaopt_problems
