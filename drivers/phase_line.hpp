// Shows on a terminal which phase a program is in, and for how many seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace driver {

// Shows the current phase of a program in one line of stderr, if that is a terminal. A separate thread writes the line,
// because a single call, for example one evaluation, may take minutes.
class PhaseLine {
  public:
    PhaseLine();
    ~PhaseLine();
    PhaseLine(const PhaseLine &) = delete;
    PhaseLine &operator=(const PhaseLine &) = delete;

    // Begins a phase with this name. The line appears after half a second, unless clear() is called before, and is
    // updated regularly.
    void show(const std::string &phase);
    // Erases the line. Call this before other output is written. The line does not appear again until show() is called.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;
    void run();

    std::mutex mutex_;
    std::condition_variable ended_;
    std::string phase_;
    Clock::time_point begin_ = Clock::now(), due_ = begin_;
    bool written_ = false, end_ = false;
    // The thread is the last member, because it uses the other members, which must be constructed before it.
    std::thread thread_;
};

} // namespace driver
