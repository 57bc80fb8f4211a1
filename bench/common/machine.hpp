// Describes the machine of a measurement.
#pragma once

#include <string>

namespace cudaopt::bench {

// "Intel Xeon 8480C, 16 threads; NVIDIA H200": the processor, and the GPU where there is one.
std::string machine();

} // namespace cudaopt::bench
