// Checks before a long run that this machine has enough memory.
#pragma once

namespace driver {

// Compares the host memory that a run needs (`bytes`) with the available memory.
//
// If more than half of the available memory is needed, a line on stderr warns the user. A machine that starts to swap,
// or that ends a process to free memory, would give no reason. Throws Failure if the machine has less memory in total.
void check_memory(const char *program, double bytes);

} // namespace driver
