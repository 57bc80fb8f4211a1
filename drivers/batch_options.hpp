// The command line of the program batch_program.
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
    // m_given is true if the command line contains m, the number of correction pairs.
    bool m_given = false;
    std::string function = "rosenbrock";
    // Bounds of every variable, which replace the function's own bounds.
    std::optional<double> lower, upper;
    uint64_t seed = 0;
    int backend = 0;
    bool single = false;
    int threads = 0;
    // The log has a line for every log_frequency-th round; in a round, each active problem is evaluated once. 0: only
    // the first and the last line; negative: no log.
    int64_t log_frequency = 0;
    // The name of the file to write. If it is empty, no file is written.
    std::string csv;
    std::vector<GivenSetting> settings;
};

// Reads the command line. Returns nothing if --help, --list or --version was given and has been handled. Throws Failure
// with one line of text if the arguments are invalid.
std::optional<BatchProgramOptions> parse_batch_options(int argc, char **argv);

} // namespace driver
