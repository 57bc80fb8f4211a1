// This header declares functions that print the same text as L-BFGS-B 3.0 to standard output. The argument iprint of
// setulb selects what is printed.
#pragma once

#include "call.hpp"

namespace cudaopt::drop_in {

// Prints n and m at the start of a solve; with iprint > 100 also the bounds and the start.
void report_input(const Call &call);
void report_start(const Call &call, int variables_at_bounds);
void report_first_point(const Call &call);
// Prints the line that announces an iteration.
void report_iteration(const Call &call);
void report_new_x(const Call &call);
void report_skipped_update(const Call &call);
void report_end(const Call &call);
// Prints an error. `index` is the index of the invalid variable, counted from 1, or 0 if there is none.
void report_error(const Call &call, int index);

} // namespace cudaopt::drop_in
