// The command line of batch_program.
#pragma once

#include "options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace driver {

struct BatchProgramOptions {
    int64_t count = 0, n = 0;
    int32_t m = 5;
    bool m_given = false; // whether m was given
    std::string function = "rosenbrock";
    std::optional<double> lower, upper; // bounds of every variable, instead of the function's own bounds
    uint64_t seed = 0;
    int backend = 0;
    bool single = false; // whether to use single precision
    int threads = 0;
    int64_t log_frequency = 0; // number of rounds between two lines; 0: the first and the last; negative: none
    std::string csv;           // file to write, empty: none
    std::vector<GivenSetting> settings;
};

// Reads the command line. Returns nothing if --help, --list or --version was given and has been handled.
// Throws Failure with one line if the arguments are invalid.
std::optional<BatchProgramOptions> parse_batch_options(int argc, char **argv);

} // namespace driver
