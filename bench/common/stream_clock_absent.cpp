// Replaces stream_clock.cu in a build without CUDA.
#include <stdexcept>

#include "stream_clock.hpp"

namespace cudaopt::bench {

struct StreamClock::Cuda {};

StreamClock::StreamClock() { throw std::runtime_error("built without CUDA"); }
StreamClock::~StreamClock() = default;
void *StreamClock::stream() const { return nullptr; }
double StreamClock::seconds(const std::function<void()> &, int) const { return 0; }
double StreamClock::seconds_of_waiting(const std::function<void()> &, int) const { return 0; }

} // namespace cudaopt::bench
