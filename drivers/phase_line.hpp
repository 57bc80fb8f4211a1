// One line on a terminal that names what a program is doing, with its seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace driver {

// A thread of its own writes the line, because a single call may take minutes: sampling a density, one evaluation.
// Without a terminal on stderr nothing is written.
class PhaseLine {
  public:
    PhaseLine();
    ~PhaseLine();
    PhaseLine(const PhaseLine &) = delete;
    PhaseLine &operator=(const PhaseLine &) = delete;

    // What the program does from now on. The line appears after half a second without clear(), and is renewed.
    void show(const std::string &phase);
    // Remove the line before something else is written. It stays away until show().
    void clear();

  private:
    using Clock = std::chrono::steady_clock;
    void run();

    std::mutex mutex_;
    std::condition_variable ended_;
    std::string phase_;
    Clock::time_point begin_ = Clock::now(), due_ = begin_;
    bool written_ = false, end_ = false;
    std::thread thread_; // the last member: it uses the others
};

} // namespace driver
