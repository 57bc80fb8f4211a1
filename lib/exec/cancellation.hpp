// Limits how long a call may wait for work that runs asynchronously, such as kernels on a stream.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace cudaopt {

// Thrown when a call has waited for as long as it is allowed to. The work that it waited for continues.
struct Interrupted {};

// A call waits until the caller requests a stop or its time limit is reached. Waits between two calls are unlimited.
class CancellationToken {
  public:
    using Clock = std::chrono::steady_clock;

    explicit CancellationToken(const std::atomic<bool> &stop_requested) : stop_requested_(stop_requested) {}

    // Begins a call, which may wait until `seconds` after `since`; 0: no limit.
    void begin_call(Clock::time_point since, double seconds) {
        since_ = since;
        seconds_ = seconds;
        in_call_ = true;
        over_since_ = Clock::time_point::max();
    }
    void end_call() { in_call_ = false; }

    bool stop_requested() const { return stop_requested_; }
    double seconds_passed() const { return std::chrono::duration<double>(Clock::now() - since_).count(); }

    // Called repeatedly by a loop that waits. After the limit a grace period passes before Interrupted is thrown, so
    // that a wait that is about to end still ends, and a call's result does not depend on when check() happens to run.
    void check() {
        if (!in_call_ || !(stop_requested_ || (seconds_ > 0 && seconds_passed() >= seconds_)))
            return; // usually without reading the clock
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
    Clock::time_point over_since_ = Clock::time_point::max(); // when this call first saw the limit exceeded
};

} // namespace cudaopt
