// Measures how fast one core multiplies and adds in double precision.
#pragma once

namespace cudaopt::bench {

// Floating-point operations per second of one core, two for each fused multiply-add, in registers and with the widest
// vectors that the inner loops of the library use.
double multiply_add_rate();

} // namespace cudaopt::bench
