// Writes the log in the format of the 2013 manual: the solver's lines below a different header, and a summary with
// counts and times.
#pragma once

#include <chrono>

#include "cuda_opt.h"

namespace cudaopt::unlp {

class ManualLog {
  public:
    ManualLog(int n, int m, double xtol) : n_(n), m_(m), xtol_(xtol) {}

    // For cuda_opt_set_log.
    static void write(void *log, const char *line) noexcept;

    // Called before and after each call of the solver. The time between two calls is the caller's evaluation.
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
    bool terminated_ = false; // a stopping test is satisfied, so the solver's own message is not printed
    int last_task_ = 0;       // the task that the last step returned
    bool searching_ = false;  // within a line search
    long long searches_ = 0, searches_ended_ = 0;
    Effort evaluations_, steps_;
    double searching_milliseconds_ = 0; // of the steps during which a line search continued
    Clock::time_point start_, step_began_, step_ended_;
};

} // namespace cudaopt::unlp
