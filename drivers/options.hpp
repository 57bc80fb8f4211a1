// The command line of driver_program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace driver {

// A setting of cuda_opt.h that the user gave; all others keep the library's default.
struct GivenSetting {
    std::string option;
    int32_t key;
    std::variant<int64_t, double> value;
};

struct Options {
    int64_t n = 0;
    int32_t m = 5;
    bool m_given = false; // whether m was given
    std::string problem = "rosenbrock";
    std::map<std::string, double> parameters; // the given parameters of the problem, including nx and ny
    std::optional<double> lower, upper;       // bounds of every variable, instead of the problem's own bounds
    int backend = 0;
    bool check_gradient = false; // whether to check the gradient instead of solving the problem
    bool single = false;
    int threads = 0;                // host threads for f and g, and for the solver
    int64_t log_frequency = 1;      // iprint[0] of the 2013 manual
    int64_t log_type = 0;           // iprint[1] of the 2013 manual
    std::string csv, plot;          // files to write, empty: none
    std::string checkpoint, resume; // checkpoint files to write and to continue from, empty: none
    std::optional<int64_t> every;   // number of iterations between two checkpoints
    std::vector<GivenSetting> settings;
};

// Reads the command line. Returns nothing if --help, --list or --version was given and has been handled.
// Throws Failure with one line if the arguments are invalid.
std::optional<Options> parse_options(int argc, char **argv);

} // namespace driver
