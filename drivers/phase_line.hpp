// A line on a terminal that names the current phase of a program and its duration in seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace driver {

// Shows the current phase of a program. A separate thread writes the line, because a single call may take minutes, for
// example the sampling of a density or one evaluation. If stderr is not a terminal, nothing is written.
class PhaseLine {
  public:
    PhaseLine();
    ~PhaseLine();
    PhaseLine(const PhaseLine &) = delete;
    PhaseLine &operator=(const PhaseLine &) = delete;

    // Sets the name of the phase that begins. The line appears after half a second, unless clear() is called before,
    // and is updated regularly.
    void show(const std::string &phase);
    // Erases the line before something else is written. It does not appear again until show().
    void clear();

  private:
    using Clock = std::chrono::steady_clock;
    void run();

    std::mutex mutex_;
    std::condition_variable ended_;
    std::string phase_;
    Clock::time_point begin_ = Clock::now(), due_ = begin_;
    bool written_ = false, end_ = false;
    // The last member, because the thread uses the other members.
    std::thread thread_;
};

} // namespace driver
