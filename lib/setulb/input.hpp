// The arguments of a START: refused as version 3.0 refuses them, x moved into the box, the problem's kind noted.
#pragma once

#include "setulb/call.hpp"

namespace cudaopt::drop_in {

struct Refusal {
    const char *words = nullptr; // the task that says why; NULL: the input is good
    int index = 0;               // of the element that is to blame, counted from 1; or 0
};

Refusal refusal(const Call &call);
// Sets projected, constrained and boxed; returns the number of variables at their bounds.
int move_into_box(const Call &call);
// Version 3.0's partition of wa, which programs that read wa go by, and all counts and measures as before the first
// evaluation.
void prepare_entries(const Call &call);

} // namespace cudaopt::drop_in
