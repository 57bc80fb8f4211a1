// Measures the time of work on a CUDA stream, from the start of its first command to the end of its last.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace cudaopt::bench {

double median(std::vector<double> values);

// Wall time of work, the median of several runs after one that warms up.
double wall_seconds(const std::function<void()> &work, int repetitions);

class StreamClock {
  public:
    // Throws std::runtime_error where CUDA cannot be used.
    StreamClock();
    ~StreamClock();

    // A cudaStream_t of its own, on which the work is to be queued.
    void *stream() const;

    // The median of several runs, two more before them to warm up. The stream is held back until all of the work's
    // commands are queued, so that neither launches nor a wait of the host are in the time.
    double seconds(const std::function<void()> &work, int repetitions) const;
    // Likewise of work that waits for its own commands: another thread lets the stream go a moment later, long after
    // the launches.
    double seconds_of_waiting(const std::function<void()> &work, int repetitions) const;

  private:
    struct Cuda;
    std::unique_ptr<Cuda> cuda_;
};

} // namespace cudaopt::bench
