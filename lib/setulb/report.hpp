// Prints to standard output the same text as version 3.0, depending on iprint.
#pragma once

#include "setulb/call.hpp"

namespace cudaopt::drop_in {

// Prints N and M; with iprint > 100 also the bounds and the start.
void report_input(const Call &call);
void report_start(const Call &call, int variables_at_bounds);
void report_first_point(const Call &call);
// Prints the line for the start of an iteration.
void report_iteration(const Call &call);
void report_new_x(const Call &call);
void report_skipped_update(const Call &call);
void report_end(const Call &call);
// Prints an error. index: the invalid variable, counted from 1; or 0 if there is none.
void report_error(const Call &call, int index);

} // namespace cudaopt::drop_in
