#pragma once

#include <cstdint>
#include <vector>

namespace cudaopt::bench {

// Seconds of each of several device-to-device copies; empty where there is no device.
std::vector<double> device_copy_seconds(std::int64_t bytes, int repetitions);

} // namespace cudaopt::bench
