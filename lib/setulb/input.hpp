// Checks the arguments of a START (the first call of a solve) and reports the same errors as version 3.0. It also
// projects x into the box, and records which kinds of bounds there are.
#pragma once

#include "setulb/call.hpp"

namespace cudaopt::drop_in {

struct Refusal {
    const char *words = nullptr; // the text of the task that reports the error; NULL if the input is valid
    int index = 0;               // index of the invalid element, counted from 1; or 0
};

Refusal refusal(const Call &call);
// Projects x into the box, and sets the flags projected, constrained and boxed. Returns the number of variables at
// their bounds.
int move_into_box(const Call &call);
// Writes the start indices of the arrays in wa to isave, as version 3.0 does, because programs use them to read wa.
// Sets all other entries of isave and dsave to their values before the first evaluation.
void prepare_entries(const Call &call);

} // namespace cudaopt::drop_in
