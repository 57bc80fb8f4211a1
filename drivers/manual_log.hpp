// Writes the log to stdout in the manual's format. The library writes the iterates; this class adds what only the
// driver knows: the problem before them, and counts and times after them. Results that the manual's log lacks follow
// its lines.
#pragma once

#include "cuda_opt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "testfuncs/problem.hpp"

#include <string>

namespace driver {

// Counts calls of mcsrch as VA15 makes them: one to begin a line search, and one with each f and g of its trial points.
class SearchCalls {
  public:
    // Must be called after each call of the solver, with its duration in seconds.
    void observe(const cudaopt::Handle &s, int task, double seconds);
    int64_t count() const { return count_; }
    // The time of those calls in which a line search continued. A call that ends a line search also computes the next
    // direction.
    double seconds() const { return seconds_; }

  private:
    bool evaluated_ = false, searching_ = false;
    int64_t ended_ = 0, count_ = 0; // ended_: line searches that have ended
    double seconds_ = 0;
};

// The cost of this run of the program, without earlier runs that wrote a checkpoint.
struct Effort {
    bool bounded = false;
    int64_t solver_calls = 0, evaluations = 0, iterations = 0;
    double evaluation_seconds = 0; // in f and g; measured on the host backend only
    double solver_seconds = 0;
    double seconds = 0; // wall time of the whole loop
    SearchCalls searches;
};

class ManualLog {
  public:
    ManualLog(const Options &options, Progress &progress);

    // Makes the library write its lines here.
    void attach(cudaopt::Handle &s);
    void head(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem);
    void summary(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem, const Effort &effort);
    // Throws Failure if an earlier line could not be written. It is not called within the library's callback.
    void check_written() const;

  private:
    void write_line(const std::string &line);
    // Writes a line of the library in the manual's format.
    void translate(const std::string &line);
    void head_of_table();
    void counts_and_times(const Effort &effort, double evaluation_seconds);
    void results_beyond_the_manual(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem,
                                   const Effort &effort);

    const Options &options_;
    Progress &progress_;
    bool terminated_ = false; // the library has reported that a stopping test is satisfied
    int error_ = 0;           // the errno of the first line that could not be written
};

} // namespace driver
