// Problems with hundreds or thousands of variables from public definitions, for comparisons of minimisers. The f of
// each problem is divided by ||P g||_inf at its start, so that ||P g||_inf <= 1e-6 is about equally strict for all of
// them.
#pragma once

#include "problem.hpp"

namespace cudaopt_problems {

const Problems &larger_problems();

// Moves the start into the box and divides f by ||P g||_inf at the start.
Problem with_unit_slope(Problem problem);

} // namespace cudaopt_problems
