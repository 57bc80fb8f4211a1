// Writes the log of a solve in the format of the 2013 manual: the manual's header, the lines of the solver, and a
// summary with counts and times.
#pragma once

#include <chrono>

#include "cuda_opt.h"

namespace cudaopt::unlp {

class ManualLog {
  public:
    ManualLog(int n, int m, double xtol) : n_(n), m_(m), xtol_(xtol) {}

    // The callback for cuda_opt_set_log(): writes one line of the solver's log. log: the ManualLog.
    static void write(void *log, const char *line) noexcept;

    // These functions are called before and after each call of the solver. The time between two calls is attributed to
    // the caller's evaluation.
    void before_step();
    void after_step(cuda_opt *s, int task);

  private:
    using Clock = std::chrono::steady_clock;
    struct Effort {
        long long count = 0;
        double milliseconds = 0;
    };

    void write_line(const char *line);
    void count_search(cuda_opt *s, int task);
    void summary() const;

    const int n_, m_;
    const double xtol_;
    bool terminated_ = false; // whether a stopping test is satisfied; the solver's own message is then not printed
    int last_task_ = 0;       // the task that the last call of the solver returned
    bool searching_ = false;  // whether a line search is in progress
    long long searches_ = 0, searches_ended_ = 0;
    Effort evaluations_, steps_;
    double searching_milliseconds_ = 0; // time of the calls during which a line search continued
    Clock::time_point start_, step_began_, step_ended_;
};

} // namespace cudaopt::unlp
