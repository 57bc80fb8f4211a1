// Checks the arguments of a START with the same errors as version 3.0, projects x into the box, and records which kinds
// of bounds there are.
#pragma once

#include "setulb/call.hpp"

namespace cudaopt::drop_in {

struct Refusal {
    const char *words = nullptr; // the error as a task; NULL if the input is valid
    int index = 0;               // index of the invalid element, counted from 1; or 0
};

Refusal refusal(const Call &call);
// Sets projected, constrained and boxed; returns the number of variables at their bounds.
int move_into_box(const Call &call);
// Writes version 3.0's partition of wa, which programs that read wa use, and sets all counts and measures to their
// values before the first evaluation.
void prepare_entries(const Call &call);

} // namespace cudaopt::drop_in
