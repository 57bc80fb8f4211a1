// The command line of driver_program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace driver {

// A setting of cuda_opt.h that the user gave; the others keep the library's default.
struct GivenSetting {
    std::string option;
    int32_t key;
    std::variant<int64_t, double> value;
};

struct Options {
    int64_t n = 0;
    int32_t m = 5;
    bool m_given = false; // as an argument, or by its name
    std::string problem = "rosenbrock";
    std::map<std::string, double> parameters; // the problem's own constants that were given, nx and ny among them
    std::optional<double> lower, upper;       // of every variable, in place of the problem's own bounds
    int backend = 0;
    bool single = false;
    int threads = 0;                // of f and g on the host; the solver has the same
    int64_t log_frequency = 1;      // the manual's iprint[0]
    int64_t log_type = 0;           // the manual's iprint[1]
    std::string csv, plot;          // files to write, empty: none
    std::string checkpoint, resume; // files of checkpoints, to write and to go on from, empty: none
    std::optional<int64_t> every;   // iterations from one checkpoint to the next
    std::vector<GivenSetting> settings;
};

// Read the command line. Returns nothing where --help, --list or --version was asked for, and has been answered.
// Throws Failure with one line where the arguments are wrong
std::optional<Options> parse_options(int argc, char **argv);

} // namespace driver
