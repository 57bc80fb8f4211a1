// One pattern search of a test function with the functor template, as timed by the tables of the pattern search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/common/command_line.hpp"
#include "drivers/searches.hpp"

namespace cudaopt::bench {

struct SearchRun {
    double value = 0; // the best
    int64_t evaluations = 0, iterations = 0;
    double seconds = 0; // from the random starts to the best value and point in host memory, without the allocation
    double rate() const { return static_cast<double>(evaluations) / seconds; }
};

// The paper's box in n variables: the function's own but for Ackley's, [-30, 30] there and [-32, 32] here.
struct Box {
    std::vector<double> lower, upper;
    Box(const testfuncs::search::Function &function, int n);
};

// The iterations of the options, or as many as their time limit lets pass; the median time of several runs.
// Throws std::runtime_error with the search's sentence.
SearchRun run_search(const testfuncs::search::Function &function, int n, bool cuda, const SearchOptions &options,
                     int repetitions = 1, bool single = false);

// The means over searches with the seeds 0, 1, ..., as the paper has them of its Monte Carlo runs; each is timed once.
SearchRun mean_of_seeds(const testfuncs::search::Function &function, int n, bool cuda, SearchOptions options, int seeds,
                        bool single = false);

// A search that is ready, or std::runtime_error with its sentence.
std::unique_ptr<PatternSearch> ready_search(const testfuncs::search::Function &function, int n, bool cuda,
                                            const SearchOptions &options, bool single = false);

// Tables 1 to 4 of the paper: 20 variables and 20 iterations of each walk; tables 1 to 3 are of Ackley's function.
constexpr int paper_n = 20, paper_iterations = 20;

// A search of one walk, so that what CUDA prepares at the first use of a kernel is in no time that follows.
void warm_up(const testfuncs::search::Function &function, int n, bool cuda, bool single = false);

} // namespace cudaopt::bench
