#include "manual_log.hpp"

#include <cstdio>
#include <cstring>

#include "boundary/format.hpp"

namespace cudaopt::unlp {

namespace {

bool begins(const char *line, const char *beginning) {
    return std::strncmp(line, beginning, std::strlen(beginning)) == 0;
}

double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

void print_count(const char *label, long long count) { print("%s: %lld\n", label, count); }

void print_time(const char *label, double milliseconds, long long parts = 1) {
    print("%s: %f ms\n", label, parts > 0 ? milliseconds / static_cast<double>(parts) : 0);
}

} // namespace

void ManualLog::write(void *log, const char *line) noexcept { static_cast<ManualLog *>(log)->write_line(line); }

// Converts a line of the solver's log to the format of the 2013 manual of L-BFGS for GPU-CUDA and prints it.
void ManualLog::write_line(const char *line) {
    char f[32], gnorm[32], step[32];
    long long iteration, evaluations;
    if (terminated_ || !*line || begins(line, "*") || begins(line, "  INITIAL VALUES")) return;
    if (begins(line, "  N = ")) {
        print("Xtol: %e\n", xtol_);
        print("Number of variables n = %d;\n", n_);
        print("Number of corrections m = %d;\n", m_);
    } else if (std::sscanf(line, " F = %31s GNORM = %31s", f, gnorm) == 2) {
        print("f = %s;\ngnorm = %s\n", f, gnorm);
    } else if (begins(line, "   I  NFN ")) {
        std::puts("*****\nI      NFN      FUNC          GNORM          STEPLENGTH");
    } else if (std::sscanf(line, "%lld %lld %31s %31s %31s", &iteration, &evaluations, f, gnorm, step) == 5) {
        print("%4lld %5lld    %s  %s   %s\n", iteration, evaluations, f, gnorm, step);
    } else if (begins(line, " THE MINIMIZATION TERMINATED WITHOUT")) {
        std::puts("The minimization terminated without detecting errors.");
        terminated_ = true;
    } else {
        std::puts(line);
    }
}

void ManualLog::before_step() {
    step_began_ = Clock::now();
    if (last_task_ == 0) start_ = step_began_;
    if (last_task_ == CUDA_OPT_EVALUATE_FG) {
        evaluations_.count++;
        evaluations_.milliseconds += milliseconds(step_began_ - step_ended_);
    }
}

void ManualLog::after_step(int task, int64_t searches_ended) {
    step_ended_ = Clock::now();
    const double took = milliseconds(step_ended_ - step_began_);
    steps_.milliseconds += took;
    // The log counts the calls of VA15 (Nocedal's L-BFGS code), whose first call in reverse communication already
    // receives f and g. The first call of this solver receives neither and is therefore not counted.
    if (last_task_ != 0) {
        steps_.count++;
        if (searching_ && searches_ended == searches_ended_) searching_milliseconds_ += took;
        count_search(task, searches_ended);
    }
    last_task_ = task;
    if (task <= 0) summary();
}

// Counts line searches and the calls of the routine mcsrch that VA15 (Nocedal's L-BFGS code) would make. VA15 calls
// mcsrch once at the beginning of a line search and once more with each f and g.
void ManualLog::count_search(int task, int64_t ended) {
    if (searching_ && last_task_ == CUDA_OPT_EVALUATE_FG) searches_++;
    if (ended != searches_ended_) searching_ = false;
    searches_ended_ = ended;
    if (!searching_ && task == CUDA_OPT_EVALUATE_FG) {
        searching_ = true;
        searches_++;
    }
}

void ManualLog::summary() const {
    print_count("Number of function and gradient evaluations for L-BFGS", evaluations_.count);
    print_time("Total time for the function and gradient evaluations", evaluations_.milliseconds);
    print_time("Average time for the function and gradient evaluations", evaluations_.milliseconds, evaluations_.count);
    print_count("Number of l-bfgs calls", steps_.count);
    print_time("Total time for the execution of l-bfgs", steps_.milliseconds);
    print_time("Average time for the executions of l-bfgs", steps_.milliseconds, steps_.count);
    // The routine mcstep consists of a few scalar operations, which are not timed. The log therefore shows 0.
    print_time("Total time for the execution of mcstep", 0);
    // The library does not use CUBLAS, so the log shows 0. The corresponding operations are included in the time of
    // L-BFGS.
    print_time("Total time for the execution of CUBLAS routines", 0);
    print_count("Number of calls to mcsrch", searches_);
    print_time("Average time for the execution of mcsrch", searching_milliseconds_, searches_);
    print_time("Total time for the execution of mcsrch", searching_milliseconds_);
    print_time("Total time for the minimization", milliseconds(step_ended_ - start_));
}

} // namespace cudaopt::unlp
