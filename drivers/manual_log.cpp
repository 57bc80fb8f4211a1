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

} // namespace

ManualLog::ManualLog(const Options &options, Progress &progress) : options_(options), progress_(progress) {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); // whoever follows a log sees its lines as they come
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
    if (options_.manual_words) return manual_head(s, problem);
    write_line("  " + problem.facts().title);
    write_line(format("  BACKEND = %s   PRECISION = %s", s.on_cuda() ? "CUDA" : "HOST",
                      options_.single ? "SINGLE" : "DOUBLE"));
    if (!problem.shape().empty()) write_line("  " + problem.shape());
    if (options_.lower || options_.upper || problem.bounded()) {
        const std::string own_lower = problem.bounded() ? "own" : "-inf", own_upper = problem.bounded() ? "own" : "inf";
        write_line("  BOUNDS = [" + (options_.lower ? format("%g", *options_.lower) : own_lower) + ", " +
                   (options_.upper ? format("%g", *options_.upper) : own_upper) + "]");
    }
    write_line(format("  XTOL = %e", s.get_real(CUDA_OPT_XTOL)));
    if (!options_.resume.empty()) {
        write_line(format("  RESUMED AT ITERATION %" PRId64, s.get_int(CUDA_OPT_ITERATIONS)));
        write_line("   I  NFN     FUNC          GNORM         STEPLENGTH");
    }
}

void ManualLog::summary(const cudaopt::Handle &s, const Effort &effort) {
    const auto effort_line = [this](const char *name, int64_t count, double seconds, const char *remark) {
        write_line(format(" %-14s %10" PRId64 "    %e    %e%s", name, count, seconds,
                          seconds / static_cast<double>(std::max<int64_t>(1, count)), remark));
    };
    const double solver = effort.solver_seconds;
    const double evaluation = s.on_cuda() ? std::max(0., effort.seconds - solver) : effort.evaluation_seconds;
    if (options_.manual_words) return manual_summary(effort, evaluation, solver);
    write_line("");
    write_line("                     COUNT   TOTAL SECONDS         AVERAGE");
    effort_line("F AND G", effort.evaluations, evaluation, s.on_cuda() ? "   (all but the solver)" : "");
    effort_line("SOLVER CALLS", effort.solver_calls, solver, "");
    effort_line("ITERATIONS", effort.iterations, effort.seconds, "");
    write_line("");
    write_line(format(" F = %.15e   ||PG|| = %e", s.get_real(CUDA_OPT_F), s.get_real(CUDA_OPT_PG_NORM2)));
    if (effort.bounded)
        write_line(format(" FREE = %" PRId64 "   AT LOWER = %" PRId64 "   AT UPPER = %" PRId64,
                          s.get_int(CUDA_OPT_FREE_COUNT), s.get_int(CUDA_OPT_LOWER_COUNT),
                          s.get_int(CUDA_OPT_UPPER_COUNT)));
    write_line(format(" WORKSPACE = %" PRId64 " BYTES", s.get_int(CUDA_OPT_WORKSPACE_BYTES)));
}

void ManualLog::translate(const std::string &line) {
    const auto begins = [&line](const char *beginning) { return line.rfind(beginning, 0) == 0; };
    char f[32], gnorm[32];
    if (!options_.manual_words) return write_line(line);
    if (ended_ || begins("  N = ") || begins("  INITIAL VALUES")) return;
    if (!in_table_ && begins("*")) return; // above f; the manual's stand below
    if (std::sscanf(line.c_str(), " F = %31s GNORM = %31s", f, gnorm) == 2) {
        in_table_ = true;
        write_line(format("f = %s;", f));
        write_line(format("gnorm = %s", gnorm));
    } else if (begins(" THE MINIMIZATION TERMINATED WITHOUT")) {
        ended_ = true;
        write_line("The minimization terminated without detecting errors.");
    } else {
        write_line(line);
    }
}

void ManualLog::manual_head(const cudaopt::Handle &s, const cudaopt::testfuncs::Problem &problem) {
    write_line(problem.facts().title);
    write_line(format("Xtol: %e", s.get_real(CUDA_OPT_XTOL)));
    write_line(format("Number of variables n = %" PRId64 ";", problem.n()));
    write_line(format("Number of corrections m = %" PRId32 ";", options_.m));
    if (!options_.resume.empty()) write_line("   I  NFN     FUNC          GNORM         STEPLENGTH");
}

void ManualLog::manual_summary(const Effort &effort, double evaluation, double solver) {
    const auto effort_line = [this](const char *what, int64_t count, double seconds) {
        const double milliseconds = 1000 * seconds;
        write_line(format("%s: %" PRId64 ", %.0f ms (%f each)", what, count, milliseconds,
                          milliseconds / static_cast<double>(std::max<int64_t>(1, count))));
    };
    write_line("");
    effort_line("Evaluations of f and g", effort.evaluations, evaluation);
    effort_line("Calls of l-bfgs", effort.solver_calls - 1, solver); // VA15's first call comes with f and g
    write_line("Time of mcstep: 0 ms");                              // a few operations on scalars
    write_line("Time of CUBLAS routines: 0 ms");                     // not used: its part is in the time of l-bfgs
    effort_line("Calls of mcsrch", effort.searches.count(), effort.searches.seconds());
    write_line(format("Time of the minimization: %.0f ms", 1000 * effort.seconds));
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
