// What a search has found, followed downhill by L-BFGS-B on the host.
#pragma once

#include "testfuncs/search/functions.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

struct Polished {
    std::vector<double> x;
    double f;            // at x
    int64_t evaluations; // of f with its gradient
    std::string end;     // the library's sentence
};

// Minimise from x in the box, until f falls no more or max_evaluations are spent (0: no limit). The better of x and
// the result is returned.
// Throws cudaopt::Error where the library refuses
Polished polish(const cudaopt::testfuncs::search::Function &function, const std::vector<double> &x,
                const std::vector<double> &lower, const std::vector<double> &upper, int64_t max_evaluations);

} // namespace driver
