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

// Seconds of one operation when all threads do nothing else.
struct ArithmeticCosts {
    double operation;                                  // a multiply-add, and as well a sum or a product alone
    double inverse_root, division, exponential, angle; // angle: a sine and a cosine
    double conversion;                                 // between single and double precision
};
ArithmeticCosts device_arithmetic(const StreamClock &clock);

} // namespace cudaopt::bench
