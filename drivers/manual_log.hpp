// The log on stdout, in the manual's words and order. The library writes the iterates; this adds what only the driver
// knows: the problem above them, the counts and times below. Below the manual's lines come results that it lacks.
#pragma once

#include "cuda_opt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "testfuncs/problem.hpp"

#include <string>

namespace driver {

// Calls of mcsrch as VA15 makes them: one to begin a search, and one with each f and g of its trial points.
class SearchCalls {
  public:
    // After each call of the solver, which took so many seconds.
    void observe(const cudaopt::Handle &s, int task, double seconds);
    int64_t count() const { return count_; }
    // Of the calls in which the search went on: where it ends, the next direction is found in the same call.
    double seconds() const { return seconds_; }

  private:
    bool evaluated_ = false, searching_ = false;
    int64_t ended_ = 0, count_ = 0; // searches that have ended
    double seconds_ = 0;
};

// What this run of the program took, not those before it that left a checkpoint.
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

    // Has the library write its lines here.
    void attach(cudaopt::Handle &s);
    void head(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem);
    void summary(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem, const Effort &effort);
    // Throws Failure where a line so far could not be written: never from within the library's callback
    void check_written() const;

  private:
    void write_line(const std::string &line);
    // Writes a line of the library's in the manual's words.
    void translate(const std::string &line);
    void head_of_table();
    void counts_and_times(const Effort &effort, double evaluation_seconds);
    void results_beyond_the_manual(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem,
                                   const Effort &effort);

    const Options &options_;
    Progress &progress_;
    bool terminated_ = false; // the library has written that a stopping test holds
    int error_ = 0;           // the errno of the first line that could not be written
};

} // namespace driver
