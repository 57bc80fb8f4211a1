// Checks before a long run that this machine has enough memory.
#pragma once

namespace driver {

// Compares the host memory that a run needs (`bytes`) with the available memory.
//
// If more than half of the available memory is needed, a line on stderr warns the user. Otherwise the user would not
// learn why the run is slow (the machine swaps) or was killed (the kernel frees memory). Throws Failure if the machine
// has less memory in total than the run needs.
void check_memory(const char *program, double bytes);

} // namespace driver
