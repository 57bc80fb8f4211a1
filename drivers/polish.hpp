// Minimises by L-BFGS-B on the host from a point that a pattern search has found.
#pragma once

#include "testfuncs/search/functions.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

struct Polished {
    std::vector<double> x;
    double f;            // the value of f at x
    int64_t evaluations; // number of evaluations of f with its gradient
    std::string end;     // the message of the library
};

// Minimises from x in the box until f no longer decreases or max_evaluations have been used (0: no limit). Returns the
// better of x and the result.
// Throws cudaopt::Error if the library rejects the input.
Polished polish(const cudaopt::testfuncs::search::Function &function, const std::vector<double> &x,
                const std::vector<double> &lower, const std::vector<double> &upper, int64_t max_evaluations);

} // namespace driver
