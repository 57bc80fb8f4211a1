// This header declares the log of a solve in the format of the 2013 manual of L-BFGS for GPU-CUDA. It consists of the
// manual's header, the lines of the solver, and a summary with counts and times.
#pragma once

#include <chrono>

#include "cuda_opt.h"

namespace cudaopt::unlp {

class ManualLog {
  public:
    ManualLog(int n, int m, double xtol) : n_(n), m_(m), xtol_(xtol) {}

    // The log function for cuda_opt_set_log(), which writes one line of the solver's log. `log` is the address of the
    // ManualLog.
    static void write(void *log, const char *line) noexcept;

    // The next functions are called before and after each call of the solver. The time between two calls of the solver
    // counts as time of the caller's evaluation.
    void before_step();
    void after_step(int task, int64_t searches_ended);

  private:
    using Clock = std::chrono::steady_clock;
    struct Effort {
        long long count = 0;
        double milliseconds = 0;
    };

    void write_line(const char *line);
    void count_search(int task, int64_t ended);
    void summary() const;

    const int n_, m_;
    const double xtol_;
    bool terminated_ = false; // True if a stopping test is satisfied. The message of the solver is then not printed.
    int last_task_ = 0;       // The task that the last call of the solver returned.
    bool searching_ = false;  // True if a line search is in progress.
    long long searches_ = 0;
    int64_t searches_ended_ = 0;
    Effort evaluations_, steps_;
    // The total time of the calls in which a line search continued, in milliseconds.
    double searching_milliseconds_ = 0;
    Clock::time_point start_, step_began_, step_ended_;
};

} // namespace cudaopt::unlp
