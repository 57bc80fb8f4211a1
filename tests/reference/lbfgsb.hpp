// The reference of these tests is L-BFGS-B 3.0, the Fortran code of Zhu, Byrd, Lu, Nocedal and Morales, as the
// distribution packages it.
#pragma once

#include <limits>

#include "../support/problems.hpp"

namespace cudaopt_test {

struct ReferenceIterate {
    double f;
    double pg_norm_inf;  // NaN at the start
    int64_t evaluations; // number of evaluations up to this iterate
};

struct ReferenceOutcome {
    Vector x;
    double f;
    std::string task; // the last message of the Fortran code
    int64_t evaluations;
    std::vector<ReferenceIterate> history; // element 0 is the start

    int64_t iterations() const { return static_cast<int64_t>(history.size()) - 1; }
};

// Runs setulb with factr = 0 until ||P g||_inf <= pgtol, until its line search fails, or for this number of iterations.
ReferenceOutcome solve_reference(const Problem &problem, int m, double pgtol,
                                 int64_t most_iterations = std::numeric_limits<int64_t>::max());

} // namespace cudaopt_test
