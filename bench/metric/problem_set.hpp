// The problems on which initial Hessians are compared: the small and the larger ones of tests/problems, and
// MINPACK-2's.
#pragma once

#include "tests/problems/problem.hpp"

namespace cudaopt::bench {

const cudaopt_problems::Problems &metric_problems();

// Which of them belong together, those of few variables by their source; and whether the problem was kept aside while
// the rule was developed. That is decided for a family at once, so that a function at another n, or in a box, is on the
// same side.
std::string group_of(const cudaopt_problems::Problem &problem);
bool kept_aside(const std::string &name);

} // namespace cudaopt::bench
