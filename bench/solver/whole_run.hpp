// One solve of a test problem through the C ABI from its start to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "solver_run.hpp"

namespace cudaopt::bench {

struct Stop {
    double eps = 0, factr = 0, pgtol = 0;            // 0: off
    int64_t max_iterations = 0, max_evaluations = 0; // 0: no limit
};

struct WholeRun {
    int64_t n = 0, iterations = 0, evaluations = 0;
    double seconds = 0;            // wall time of the loop, the solver's first call and its allocations included
    double solver_seconds = 0;     // inside the solver
    double evaluation_seconds = 0; // of one evaluation, timed by itself at the end
    double copy_seconds = std::numeric_limits<double>::quiet_NaN(); // where asked for, on CUDA
    double f = 0;
    // After the iteration that was to be marked, if it was reached; the next one's direction is in the time already.
    double f_at_mark = 0, solver_seconds_at_mark = 0;
    std::vector<double> t, t_first; // each iteration's t* and what the one-breakpoint approximation gives there
    std::string end;                // "converged", "limit" or "line search"

    double milliseconds_per_iteration() const { return 1e3 * solver_seconds / static_cast<double>(iterations); }
};

// RunOptions::iterations is not used. mark: after how many iterations f and the time inside the solver are noted; 0:
// never. Throws std::runtime_error with the library's sentence.
WholeRun run_whole(const RunOptions &options, const Stop &stop, int64_t mark = 0);

// Whether the CUDA backend was built in and finds a device.
bool have_cuda();

// The mean time of some repetitions of evaluate(), the last of which is followed by wait().
double seconds_of_one(const std::function<void()> &evaluate, const std::function<void()> &wait,
                      int64_t repetitions = 20);

} // namespace cudaopt::bench
