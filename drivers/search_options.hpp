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
    std::optional<double> lower, upper; // bounds of every variable, which replace the function's own
    std::optional<double> step;         // first step size of every variable
    int backend = 0;
    bool single = false; // true: single precision
    cudaopt::SearchOptions search;
    int64_t polish = 0;           // number of best walks from which L-BFGS-B is started
    int64_t log_frequency = 1;    // iterations between two lines; 0: the first and the last; negative: none
    std::string csv, plot, point; // names of files to write; empty: none
};

// Reads the command line. Returns nothing if --help, --list or --version was given and has been handled. Throws Failure
// with one line of text if the arguments are invalid.
std::optional<SearchProgramOptions> parse_search_options(int argc, char **argv);

} // namespace driver
