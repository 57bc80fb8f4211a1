// Problems of hundreds and thousands of variables from public definitions, for comparisons of minimisers. The f of each
// is divided by ||P g||_inf at its start, so that ||P g||_inf <= 1e-6 asks about as much of all of them.
#pragma once

#include "problem.hpp"

namespace cudaopt_problems {

const Problems &larger_problems();

// f / ||P g||_inf at the start, which is moved into the box.
Problem with_unit_slope(Problem problem);

} // namespace cudaopt_problems
