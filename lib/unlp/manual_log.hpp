// The log in the manual's own words: the solver's lines below another head, and an end with counts and times.
#pragma once

#include <chrono>

#include "cuda_opt.h"

namespace cudaopt::unlp {

class ManualLog {
  public:
    ManualLog(int n, int m, double xtol) : n_(n), m_(m), xtol_(xtol) {}

    // For cuda_opt_set_log.
    static void write(void *log, const char *line) noexcept;

    // Around each call of the solver. What lies between two calls is the caller's, who evaluates.
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
    bool terminated_ = false; // a stopping test holds: the solver's own sentence is not needed
    int last_task_ = 0;       // what the last step has asked for
    bool searching_ = false;  // within a line search
    long long searches_ = 0, searches_ended_ = 0;
    Effort evaluations_, steps_;
    double searching_milliseconds_ = 0; // of the steps in which the line search went on
    Clock::time_point start_, step_began_, step_ended_;
};

} // namespace cudaopt::unlp
