// Limits how long a call may wait for work that runs asynchronously, such as kernels on a stream.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace cudaopt {

// Thrown when a call has waited for as long as it is allowed to. The work that it waited for continues.
struct Interrupted {};

// Decides when a wait is interrupted: when the caller requests a stop, or when the time limit of the current call is
// reached. Waits between two calls are unlimited.
class CancellationToken {
  public:
    using Clock = std::chrono::steady_clock;

    explicit CancellationToken(const std::atomic<bool> &stop_requested) : stop_requested_(stop_requested) {}

    // Begins a call, which may wait until `seconds` after the time `since`. seconds = 0: there is no limit.
    void begin_call(Clock::time_point since, double seconds) {
        since_ = since;
        seconds_ = seconds;
        in_call_ = true;
        over_since_ = Clock::time_point::max();
    }
    void end_call() { in_call_ = false; }

    bool stop_requested() const { return stop_requested_; }
    double seconds_passed() const { return std::chrono::duration<double>(Clock::now() - since_).count(); }

    // Must be called repeatedly by a loop that waits. After the limit is reached, a grace period passes before
    // Interrupted is thrown. A wait that is about to end then still ends, and the result of a call does not depend on
    // the moment at which check() is executed.
    void check() {
        if (!in_call_ || !(stop_requested_ || (seconds_ > 0 && seconds_passed() >= seconds_)))
            return; // this path usually does not read the clock
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
    // The time at which this call first found that the limit was exceeded.
    Clock::time_point over_since_ = Clock::time_point::max();
};

} // namespace cudaopt
