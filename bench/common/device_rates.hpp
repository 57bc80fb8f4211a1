// Measures the memory bandwidth and the double-precision throughput of the current CUDA device.
#pragma once

#include <cstdint>

#include "stream_clock.hpp"

namespace cudaopt::bench {

// Seconds of a device-to-device copy of so many bytes, and of reading as many without writing. NaN where there is not
// memory enough.
double device_copy_seconds(const StreamClock &clock, int64_t bytes);
double device_read_seconds(const StreamClock &clock, int64_t bytes);

// Seconds of a copy between pageable host memory and the device: `rows` pieces of so many bytes, which are `pitch`
// bytes apart on the device.
double transfer_seconds(const StreamClock &clock, int64_t bytes, bool to_host, int64_t rows = 1, int64_t pitch = 0);

// Double-precision multiply-adds per second of the whole device. A sum or a product alone takes as long.
double device_multiply_adds(const StreamClock &clock);

} // namespace cudaopt::bench
