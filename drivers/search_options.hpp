// The command line of search_program.
#pragma once

#include "cuda_opt/search.cuh"

#include <cstdint>
#include <optional>
#include <string>

namespace driver {

struct SearchProgramOptions {
    int64_t n = 0;
    std::string function = "ackley";
    std::optional<double> lower, upper; // of every variable, in place of the function's own
    std::optional<double> step;         // the first, of every variable
    int backend = 0;
    bool single = false; // precision
    cudaopt::SearchOptions search;
    int64_t polish = 0;           // so many of the best walks
    int64_t log_frequency = 1;    // every so many iterations; 0: the first and the last; negative: none
    std::string csv, plot, point; // files to write, empty: none
};

// Read the command line. Returns nothing where --help, --list or --version was asked for, and has been answered.
// Throws Failure with one line where the arguments are wrong
std::optional<SearchProgramOptions> parse_search_options(int argc, char **argv);

} // namespace driver
