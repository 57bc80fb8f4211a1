// One solve of a test problem through the C ABI, measured when the history is full and at the end, for the benchmarks.
// The problem's own evaluation is not counted.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace cudaopt::bench {

// Counts and time inside the solver so far.
struct Reading {
    int64_t iterations = 0, evaluations = 0, crossings = 0, breakpoints = 0;
    int64_t free = 0;             // variables between their bounds
    double seconds = 0, wall = 0; // inside the solver; since the solve began
};

struct RunOptions {
    int64_t n = 1000000;
    int m = 5, iterations = 50, threads = 0;
    int history_bits = 0; // of the memory's columns; 0: those of x
    int product_bits = 64;
    int metric = 0;             // CUDA_OPT_INITIAL_HESSIAN; of the caller's diagonal all elements are the same
    int64_t diagonal_every = 1; // CUDA_OPT_DIAGONAL_EVERY
    std::string problem = "rosenbrock", backend = "auto";
    bool single = false, own_bounds = false, approximate_cauchy = false;
    bool as_lbfgsb = false;                          // the rules of 3.0; the initial Hessian is then the scalar
    bool start_in_box = false;                       // the standard start, scaled and moved to [lower, upper]
    bool time_copies = false;                        // of x to the host, and of f and g from there
    bool timed = true;                               // CUDA_OPT_TIMED; without it the evaluations alone are timed, too
    bool uniform = false;                            // lower and upper as numbers, not in arrays
    std::function<void(const Reading &)> on_iterate; // empty: iterates are not reported
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

struct RunResult {
    int64_t n = 0;
    bool cuda = false, bounded = false;
    // After the first m + 2 iterations, which fill the memory:
    double iterations = 0, evaluations = 0, crossings = 0, seconds = 0;
    double wall = 0; // of all of it, evaluations too
    // Not timed: as many evaluations without the solver, one right behind the other, and each waited for.
    double evaluation_wall = 0, waited_evaluation_wall = 0;
    double f = 0; // at the end
    double bytes() const { return static_cast<double>(n) * element_bytes; }
    double element_bytes = 8, history_bytes = 8; // of an element of x, and of S and Y
};

// Throws std::runtime_error with the library's sentence.
RunResult run_solver(const RunOptions &options);

} // namespace cudaopt::bench
