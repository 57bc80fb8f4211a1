// L-BFGS-B 3.0, the Fortran code of Zhu, Byrd, Lu, Nocedal and Morales, as the distribution packages it: the yardstick.
#pragma once

#include <limits>

#include "../support/problems.hpp"

namespace cudaopt_test {

struct ReferenceIterate {
    double f;
    double pg_norm_inf;  // NaN at the start
    int64_t evaluations; // all of them up to here
};

struct ReferenceOutcome {
    Vector x;
    double f;
    std::string task; // the Fortran code's closing words
    int64_t evaluations;
    std::vector<ReferenceIterate> history; // [0]: the start

    int64_t iterations() const { return static_cast<int64_t>(history.size()) - 1; }
};

// Runs setulb with factr = 0 until ||P g||_inf <= pgtol, its line search fails, or after so many iterations.
ReferenceOutcome solve_reference(const Problem &problem, int m, double pgtol,
                                 int64_t most_iterations = std::numeric_limits<int64_t>::max());

} // namespace cudaopt_test
