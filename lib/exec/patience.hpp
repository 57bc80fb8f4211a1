// How long a call may wait for a machine that works on its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

namespace cudaopt {

// Thrown where a call has waited for as long as it may. What it waited for goes on.
struct Interrupted {};

// A call waits until the caller asks for a stop, or has used up its time. Between two calls a wait has no end.
class Patience {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Patience(const std::atomic<bool> &stop_requested) : stop_requested_(stop_requested) {}

    // A call begins. It may wait for so many seconds from `since` on; 0: without a limit.
    void begin_call(Clock::time_point since, double seconds) {
        since_ = since;
        seconds_ = seconds;
        in_call_ = true;
        over_since_ = Clock::time_point::max();
    }
    void end_call() { in_call_ = false; }

    bool stop_requested() const { return stop_requested_; }
    double seconds_passed() const { return std::chrono::duration<double>(Clock::now() - since_).count(); }

    // To be called by what waits, now and then. A wait that is about to end is let end, so that what a call returns
    // does not depend on the moment where it looks: the patience is over for a while before it is lost.
    void look() {
        if (!in_call_ || !(stop_requested_ || (seconds_ > 0 && seconds_passed() >= seconds_)))
            return; // most often without a look at the clock
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
    Clock::time_point over_since_ = Clock::time_point::max(); // when it was seen in this call
};

} // namespace cudaopt
