// The memory of this machine, before a program takes most of it.
#pragma once

namespace driver {

// Compare what a run needs on the host with the memory that is available. Above half of it, a line on stderr says so:
// without it, a machine that starts to swap, or ends a process for its memory, gives no reason.
// Throws Failure if not even the whole machine has so much
void check_memory(const char *program, double bytes);

} // namespace driver
