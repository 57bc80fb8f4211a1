// The command line of the program search_program.
#pragma once

#include "cuda_opt/search.cuh"

#include <cstdint>
#include <optional>
#include <string>

namespace driver {

struct SearchProgramOptions {
    int64_t n = 0;
    std::string function = "ackley";
    // Bounds of every variable, which replace the function's own bounds.
    std::optional<double> lower, upper;
    // The first step size of every variable.
    std::optional<double> step;
    int backend = 0;
    bool single = false;
    cudaopt::SearchOptions search;
    // L-BFGS-B is started from the points of the best walks (pattern searches). This is their number.
    int64_t polish = 0;
    // The number of iterations between two lines of the log. 0: only the first and the last; negative: none.
    int64_t log_frequency = 1;
    // The names of the files to write. An empty name means that the file is not written.
    std::string csv, plot, point;
};

// Reads the command line. Returns nothing if --help, --list or --version was given and has been handled. Throws Failure
// with one line of text if the arguments are invalid.
std::optional<SearchProgramOptions> parse_search_options(int argc, char **argv);

} // namespace driver
