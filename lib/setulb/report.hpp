// What version 3.0 prints, by iprint, to standard output.
#pragma once

#include "setulb/call.hpp"

namespace cudaopt::drop_in {

void report_input(const Call &call); // N, M; > 100: the bounds and the start
void report_start(const Call &call, int variables_at_bounds);
void report_first_point(const Call &call);
void report_iteration(const Call &call); // that one begins
void report_new_x(const Call &call);
void report_skipped_update(const Call &call);
void report_end(const Call &call);
// index: of the element that is to blame, counted from 1; or 0.
void report_error(const Call &call, int index);

} // namespace cudaopt::drop_in
