// Prints to standard output what version 3.0 prints, depending on iprint.
#pragma once

#include "setulb/call.hpp"

namespace cudaopt::drop_in {

void report_input(const Call &call); // N and M; with iprint > 100 also the bounds and the start
void report_start(const Call &call, int variables_at_bounds);
void report_first_point(const Call &call);
void report_iteration(const Call &call); // the start of an iteration
void report_new_x(const Call &call);
void report_skipped_update(const Call &call);
void report_end(const Call &call);
// index: of the invalid element, counted from 1; or 0.
void report_error(const Call &call, int index);

} // namespace cudaopt::drop_in
