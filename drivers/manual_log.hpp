// Writes the log to stdout in the format of the 2013 manual (D'Amore, Arcucci, Mele, Scotti, Murli, CMCC RP0167).
//
// The library writes the iterates. This class adds the description of the problem before the iterates, and counts and
// times after them. Results that the manual's log does not contain follow at the end.
#pragma once

#include "cuda_opt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "testfuncs/problem.hpp"

#include <string>

namespace driver {

// Counts calls of mcsrch, the line search routine of VA15, Harwell's L-BFGS program. VA15 calls it once to begin a line
// search, and once with f and g of each trial point.
class SearchCalls {
  public:
    // Call this after each call of the solver. seconds: the duration of that call of the solver.
    void observe(const cudaopt::Handle &s, int task, double seconds);
    int64_t count() const { return count_; }
    // Returns the time of those calls of the solver in which a line search continued. Calls that end a line search are
    // not included, because they also compute the next direction.
    double seconds() const { return seconds_; }

  private:
    bool evaluated_ = false, searching_ = false;
    // The number of line searches that have ended, and the number of calls of mcsrch, the line search routine.
    int64_t ended_ = 0, count_ = 0;
    double seconds_ = 0;
};

// The cost of this run of the program. The cost of earlier runs that have written a checkpoint is not included.
struct Effort {
    bool bounded = false;
    int64_t solver_calls = 0, evaluations = 0, iterations = 0;
    // The time spent in evaluations of f and g. It is measured on the host backend only.
    double evaluation_seconds = 0;
    double solver_seconds = 0;
    // The elapsed time of the whole loop of the solve.
    double seconds = 0;
    SearchCalls searches;
};

class ManualLog {
  public:
    ManualLog(const Options &options, Progress &progress);

    // Makes this object the receiver of the log lines that the solver s writes.
    void attach(cudaopt::Handle &s);
    void head(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem);
    void summary(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem, const Effort &effort);
    // Throws Failure if an earlier line of the log could not be written. Do not call this within the library's log
    // callback.
    void check_written() const;

  private:
    void write_line(const std::string &line);
    // Converts a log line of the library to the manual's format and writes it.
    void translate(const std::string &line);
    void head_of_table();
    void counts_and_times(const Effort &effort, double evaluation_seconds);
    void results_beyond_the_manual(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem,
                                   const Effort &effort);

    const Options &options_;
    Progress &progress_;
    // terminated_ is true if the library has reported that a stopping test is satisfied.
    bool terminated_ = false;
    // The error number (errno) of the first log line that could not be written, or 0.
    int error_ = 0;
};

} // namespace driver
