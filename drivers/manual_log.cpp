#include "manual_log.hpp"

#include "failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace driver {
namespace {

std::string format(const char *pattern, ...) {
    char line[256];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(line, sizeof line, pattern, arguments);
    va_end(arguments);
    return line;
}

// Returns the problem's name as the manual's log prints it: "Rosenbrock" for "Extended Rosenbrock".
std::string name_in_manual(const cudaopt::testfuncs::Problem &problem) {
    const std::string extended = "Extended ", &title = problem.facts().title;
    return title.rfind(extended, 0) == 0 ? title.substr(extended.size()) : title;
}

} // namespace

ManualLog::ManualLog(const Options &options, Progress &progress) : options_(options), progress_(progress) {
    // Line buffering of stdout lets a reader of the log see each line at once.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

void ManualLog::write_line(const std::string &line) {
    if (options_.log_frequency < 0) return;
    progress_.clear();
    if (std::puts(line.c_str()) < 0 && error_ == 0) error_ = errno;
}

void ManualLog::check_written() const {
    if (error_ != 0)
        throw Failure(exit_failed, std::string("cannot write to standard output: ") + std::strerror(error_));
}

void ManualLog::attach(cudaopt::Handle &s) {
    named("--iprint", [&] {
        s.set_int(CUDA_OPT_IPRINT_FREQUENCY, options_.log_frequency);
        s.set_int(CUDA_OPT_IPRINT_TYPE, options_.log_type);
    });
    s.check(cuda_opt_set_log(
        s, [](void *log, const char *line) { static_cast<ManualLog *>(log)->translate(line); }, this));
}

void ManualLog::head(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem) {
    write_line("Function to minimize: " + name_in_manual(problem));
    write_line(format("Xtol: %e", s.get_real(CUDA_OPT_XTOL)));
    write_line(format("Number of variables n = %" PRId64 ";", problem.n()));
    write_line(format("Number of corrections m = %" PRId32 ";", options_.m));
    if (options_.resume.empty()) return;
    write_line(format("RESUMED AT ITERATION %" PRId64, s.get_int(CUDA_OPT_ITERATIONS)));
    head_of_table();
}

void ManualLog::head_of_table() {
    write_line("*****");
    write_line("I      NFN      FUNC          GNORM          STEPLENGTH");
}

void ManualLog::translate(const std::string &line) {
    const auto begins = [&line](const char *beginning) { return line.rfind(beginning, 0) == 0; };
    char f[32], gnorm[32], step[32];
    long long iteration, evaluations;
    if (terminated_ || line.empty() || begins("*") || begins("  N = ") || begins("  INITIAL VALUES")) return;
    if (std::sscanf(line.c_str(), " F = %31s GNORM = %31s", f, gnorm) == 2) {
        write_line(format("f = %s;", f));
        write_line(format("gnorm = %s", gnorm));
    } else if (begins("   I  NFN ")) {
        head_of_table();
    } else if (std::sscanf(line.c_str(), "%lld %lld %31s %31s %31s", &iteration, &evaluations, f, gnorm, step) == 5) {
        write_line(format("%4lld %5lld    %s  %s   %s", iteration, evaluations, f, gnorm, step));
    } else if (begins(" THE MINIMIZATION TERMINATED WITHOUT")) {
        terminated_ = true;
        write_line("The minimization terminated without detecting errors.");
    } else {
        write_line(line);
    }
}

void ManualLog::summary(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem, const Effort &effort) {
    // On CUDA an evaluation is only enqueued, so that its time cannot be measured here. It is computed as the total
    // time minus the solver's time.
    counts_and_times(effort,
                     s.on_cuda() ? std::max(0., effort.seconds - effort.solver_seconds) : effort.evaluation_seconds);
    results_beyond_the_manual(s, problem, effort);
}

void ManualLog::counts_and_times(const Effort &effort, double evaluation_seconds) {
    const auto count = [this](const char *label, int64_t value) { write_line(format("%s: %" PRId64, label, value)); };
    const auto time = [this](const char *label, double seconds, int64_t parts = 1) {
        write_line(format("%s: %f ms", label, 1000 * seconds / static_cast<double>(std::max<int64_t>(1, parts))));
    };
    // VA15 (Harwell's L-BFGS) needs one call less than the library: its first call already receives f and g, and the
    // library's first call only requests them.
    const int64_t calls = effort.solver_calls - 1;
    count("Number of function and gradient evaluations for L-BFGS", effort.evaluations);
    time("Total time for the function and gradient evaluations", evaluation_seconds);
    time("Average time for the function and gradient evaluations", evaluation_seconds, effort.evaluations);
    count("Number of l-bfgs calls", calls);
    time("Total time for the execution of l-bfgs", effort.solver_seconds);
    time("Average time for the executions of l-bfgs", effort.solver_seconds, calls);
    // mcstep is the routine of mcsrch that computes the next step. The manual's log contains its time. Here the time is
    // given as 0: the computation takes a few scalar operations and is not measured.
    time("Total time for the execution of mcstep", 0);
    time("Total time for the execution of CUBLAS routines", 0);
    count("Number of calls to mcsrch", effort.searches.count());
    time("Average time for the execution of mcsrch", effort.searches.seconds(), effort.searches.count());
    time("Total time for the execution of mcsrch", effort.searches.seconds());
    time("Total time for the minimization", effort.seconds);
}

void ManualLog::results_beyond_the_manual(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem,
                                          const Effort &effort) {
    write_line("");
    // The library's last line says why the solve ended. If a stopping test was satisfied, translate() has dropped it
    // after the manual's sentence, and it is written here. Otherwise translate() has already written it.
    if (terminated_) write_line(std::string(" ") + s.message());
    write_line(
        format(" BACKEND = %s   PRECISION = %s", s.on_cuda() ? "CUDA" : "HOST", options_.single ? "SINGLE" : "DOUBLE"));
    if (!problem.shape().empty()) write_line(" " + problem.shape());
    if (effort.bounded) {
        const std::string own_lower = problem.bounded() ? "own" : "-inf", own_upper = problem.bounded() ? "own" : "inf";
        write_line(" BOUNDS = [" + (options_.lower ? format("%g", *options_.lower) : own_lower) + ", " +
                   (options_.upper ? format("%g", *options_.upper) : own_upper) + "]");
    }
    write_line(format(" ITERATIONS = %" PRId64, effort.iterations));
    write_line(format(" F = %.15e   ||PG|| = %e", s.get_real(CUDA_OPT_F), s.get_real(CUDA_OPT_PG_NORM2)));
    if (effort.bounded)
        write_line(format(" FREE = %" PRId64 "   AT LOWER = %" PRId64 "   AT UPPER = %" PRId64,
                          s.get_int(CUDA_OPT_FREE_COUNT), s.get_int(CUDA_OPT_LOWER_COUNT),
                          s.get_int(CUDA_OPT_UPPER_COUNT)));
    write_line(format(" WORKSPACE = %" PRId64 " BYTES", s.get_int(CUDA_OPT_WORKSPACE_BYTES)));
}

void SearchCalls::observe(const cudaopt::Handle &s, int task, double seconds) {
    const int64_t ended = s.get_int(CUDA_OPT_ITERATIONS) + s.get_int(CUDA_OPT_REFRESHES);
    if (searching_) count_++;
    if (ended != ended_) searching_ = false;
    if (searching_) seconds_ += seconds;
    ended_ = ended;
    if (evaluated_ && !searching_ && task == CUDA_OPT_EVALUATE_FG) {
        searching_ = true;
        count_++;
    }
    evaluated_ = true;
}

} // namespace driver
