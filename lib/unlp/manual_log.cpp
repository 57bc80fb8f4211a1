#include "unlp/manual_log.hpp"

#include <cstdio>
#include <cstring>

#include "rim/format.hpp"

namespace cudaopt::unlp {

namespace {

bool begins(const char *line, const char *beginning) {
    return std::strncmp(line, beginning, std::strlen(beginning)) == 0;
}

double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

int64_t result(cuda_opt *s, int32_t key) {
    int64_t value = 0;
    cuda_opt_get_int(s, key, &value);
    return value;
}

void effort_line(const char *what, long long count, double milliseconds) {
    print("%s: %lld, %.0f ms (%f each)\n", what, count, milliseconds,
          count > 0 ? milliseconds / static_cast<double>(count) : 0);
}

} // namespace

void ManualLog::write(void *log, const char *line) noexcept { static_cast<ManualLog *>(log)->write_line(line); }

// The solver's lines are the table's; its head and its end are put otherwise here.
void ManualLog::write_line(const char *line) {
    char f[32], gnorm[32];
    if (!headed_ && begins(line, "*")) return;
    if (begins(line, "  N = ")) {
        headed_ = true;
        print("Xtol: %e\n", xtol_);
        print("Number of variables n = %d;\n", n_);
        print("Number of corrections m = %d;\n", m_);
    } else if (std::sscanf(line, " F = %31s GNORM = %31s", f, gnorm) == 2) {
        print("f = %s;\ngnorm = %s\n", f, gnorm);
    } else if (begins(line, " THE MINIMIZATION TERMINATED WITHOUT")) {
        std::puts("The minimization terminated without detecting errors.");
        ends_ = true;
    } else if (!ends_ && !begins(line, "  INITIAL VALUES")) {
        std::puts(line);
    }
}

void ManualLog::before_step() {
    step_began_ = Clock::now();
    if (asked_ == 0) start_ = step_began_;
    if (asked_ == CUDA_OPT_EVALUATE_FG) {
        evaluations_.count++;
        evaluations_.milliseconds += milliseconds(step_began_ - step_ended_);
    }
}

void ManualLog::after_step(cuda_opt *s, int task) {
    step_ended_ = Clock::now();
    const double took = milliseconds(step_ended_ - step_began_);
    steps_.milliseconds += took;
    if (asked_ != 0) { // VA15's first call comes with f and g
        steps_.count++;
        const bool before = searching_;
        const long long ended = searches_ended_;
        count_search(s, task);
        if (before && searching_ && ended == searches_ended_) searching_milliseconds_ += took;
    }
    asked_ = task;
    if (task <= 0) summary();
}

// VA15 calls mcsrch once to begin it, and once more with each f and g.
void ManualLog::count_search(cuda_opt *s, int task) {
    const long long ended = result(s, CUDA_OPT_ITERATIONS) + result(s, CUDA_OPT_REFRESHES);
    if (searching_ && asked_ == CUDA_OPT_EVALUATE_FG) searches_++;
    if (ended != searches_ended_) searching_ = false;
    searches_ended_ = ended;
    if (!searching_ && task == CUDA_OPT_EVALUATE_FG) {
        searching_ = true;
        searches_++;
    }
}

void ManualLog::summary() const {
    std::puts("");
    effort_line("Evaluations of f and g", evaluations_.count, evaluations_.milliseconds);
    effort_line("Calls of l-bfgs", steps_.count, steps_.milliseconds);
    // A few operations on scalars; and a library that is not used: its part is in the time of l-bfgs.
    std::puts("Time of mcstep: 0 ms\nTime of CUBLAS routines: 0 ms");
    // The search's part of a call that goes on to the next direction cannot be told from the rest.
    effort_line("Calls of mcsrch", searches_, searching_milliseconds_);
    print("Time of the minimization: %.0f ms\n", milliseconds(step_ended_ - start_));
}

} // namespace cudaopt::unlp
