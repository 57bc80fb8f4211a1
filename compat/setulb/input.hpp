// This header declares the check of the arguments of the first call of a solve, with the task START. It reports the
// same errors as L-BFGS-B 3.0. It also projects x into the box, and records which kinds of bounds there are.
#pragma once

#include "call.hpp"

namespace cudaopt::drop_in {

// Returns whether an argument is invalid. If so, the function sets the task and prints the error.
bool is_refused(const Call &call);
// Projects x into the box, and sets the flags projected, constrained and boxed of lsave. Returns the number of
// variables at their bounds.
int move_into_box(const Call &call);
// Writes to isave the indices at which the arrays in the workspace wa begin. L-BFGS-B 3.0 does so, and programs use
// them to read wa. The function sets all other entries of isave and dsave to their values before the first evaluation.
void prepare_entries(const Call &call);

} // namespace cudaopt::drop_in
