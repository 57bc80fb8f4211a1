// Measures how fast the machine copies and reads memory, with which every sweep is compared.
#pragma once

#include <cstdint>

namespace cudaopt::bench {

// Bytes read plus bytes written per second, copying a vector of `bytes` bytes; the median of several copies.
// cuda: on the current device; else on the host, with the given number of threads (0: all).
double copy_rate(int64_t bytes, bool cuda, int threads);

// Bytes per second, reading a vector and writing nothing.
double read_rate(int64_t bytes, bool cuda, int threads);

} // namespace cudaopt::bench
