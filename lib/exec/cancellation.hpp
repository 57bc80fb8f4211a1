// This class limits how long a call may wait for asynchronous work, such as kernels on a stream.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace cudaopt {

// This exception is thrown when a call has waited for the longest time allowed. The work that it waited for continues.
struct Interrupted {};

// A CancellationToken decides when a wait is interrupted. This happens if the caller requests a stop, or if the current
// call reaches its time limit. Outside a call, waits are unlimited.
class CancellationToken {
  public:
    using Clock = std::chrono::steady_clock;

    explicit CancellationToken(const std::atomic<bool> &stop_requested) : stop_requested_(stop_requested) {}

    // Begins a call, which may wait until `seconds` after the time `since`. If seconds is 0, there is no limit.
    void begin_call(Clock::time_point since, double seconds) {
        since_ = since;
        seconds_ = seconds;
        in_call_ = true;
        over_since_ = Clock::time_point::max();
    }
    void end_call() { in_call_ = false; }

    bool stop_requested() const { return stop_requested_; }
    double seconds_passed() const { return std::chrono::duration<double>(Clock::now() - since_).count(); }

    // A loop that waits must call this function repeatedly. The function throws Interrupted if the time `grace` has
    // passed since it first found that a stop was requested or that the time limit was reached. A wait that ends within
    // this grace period is never interrupted. The result of a call therefore does not depend on the exact moment of a
    // check.
    void check() {
        // The function usually returns here and does not read the clock.
        if (!in_call_ || !(stop_requested_ || (seconds_ > 0 && seconds_passed() >= seconds_))) return;
        const Clock::time_point now = Clock::now();
        over_since_ = std::min(over_since_, now);
        if (now - over_since_ > grace) throw Interrupted();
    }

  private:
    static constexpr std::chrono::milliseconds grace{250};

    const std::atomic<bool> &stop_requested_;
    Clock::time_point since_{};
    double seconds_ = 0;
    bool in_call_ = false;
    // The time at which the current call first found that the limit was exceeded.
    Clock::time_point over_since_ = Clock::time_point::max();
};

// The resources of a solve. threads: the number of host threads; 0 selects it automatically (exec/thread_pool.hpp).
// stream: the CUDA stream; not used on the host. cancellation: it is checked during waits, which may throw Interrupted.
struct Resources {
    int threads;
    void *stream;
    CancellationToken &cancellation;
};

} // namespace cudaopt
