// The tables that all_problems() joins, one for each source.
#pragma once

#include "problem.hpp"

namespace cudaopt_problems {

Problems more_garbow_hillstrom();
Problems nist_regressions();
Problems classics();
// The unconstrained problems of classics() with any n, which other sources use in boxes.
Problems chained(int n);
Problems separable(int n);
Problems coupled(int n);
Problems bound_constrained();
Problems in_our_boxes();
Problems badly_scaled();

} // namespace cudaopt_problems
