// The command line of the program driver_program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace driver {

// A setting of cuda_opt.h that the command line contains. All other settings keep their defaults.
struct GivenSetting {
    std::string option;
    int32_t key;
    std::variant<int64_t, double> value;
};

struct Options {
    int64_t n = 0;
    int32_t m = 5;
    bool m_given = false; // true if the command line contains m
    std::string problem = "rosenbrock";
    std::map<std::string, double> parameters; // the problem's parameters, including nx and ny
    std::optional<double> lower, upper;       // bounds of every variable, which replace the problem's own
    int backend = 0;
    bool check_gradient = false; // true: check the gradient and do not solve the problem
    bool single = false;
    int threads = 0;                // number of host threads for f, g and the solver
    int64_t log_frequency = 1;      // the entry iprint[0] of the 2013 manual
    int64_t log_type = 0;           // the entry iprint[1] of the 2013 manual
    std::string csv, plot;          // names of files to write; empty: none
    std::string checkpoint, resume; // files to write and to continue from; empty: none
    std::optional<int64_t> every;   // number of iterations between two checkpoints
    std::vector<GivenSetting> settings;
};

// Reads the command line. Returns nothing if --help, --list or --version was given and has been handled. Throws Failure
// with one line of text if the arguments are invalid.
std::optional<Options> parse_options(int argc, char **argv);

} // namespace driver
