// Checks the memory of this machine before a program uses most of it.
#pragma once

namespace driver {

// Compares the memory that a run needs on the host with the available memory. If it needs more than half, a line on
// stderr says so, because a machine that starts to swap, or ends a process to free memory, gives no reason. Throws
// Failure if the machine has less memory in total than the run needs.
void check_memory(const char *program, double bytes);

} // namespace driver
