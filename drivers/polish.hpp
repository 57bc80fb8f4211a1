// Improves a point that a pattern search has found, by L-BFGS-B on the host.
#pragma once

#include "testfuncs/search/functions.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

struct Polished {
    std::vector<double> x;
    double f; // the value of f at x
    // The number of evaluations of f with its gradient.
    int64_t evaluations;
    // The library's message about how the solve ended.
    std::string end;
};

// Minimises from x within the bounds by L-BFGS-B, until f no longer decreases or max_evaluations is reached (0: no
// limit). Returns x or the result, whichever has the lower f. Throws cudaopt::Error if the library rejects the input.
Polished polish(const cudaopt::testfuncs::search::Function &function, const std::vector<double> &x,
                const std::vector<double> &lower, const std::vector<double> &upper, int64_t max_evaluations);

} // namespace driver
