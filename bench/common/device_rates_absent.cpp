// Replaces device_rates.cu in a build without CUDA.
#include "device_rates.hpp"

namespace cudaopt::bench {

double device_copy_seconds(const StreamClock &, int64_t) { return 0; }
double device_read_seconds(const StreamClock &, int64_t) { return 0; }
double transfer_seconds(const StreamClock &, int64_t, bool, int64_t, int64_t) { return 0; }
double device_multiply_adds(const StreamClock &) { return 0; }

} // namespace cudaopt::bench
