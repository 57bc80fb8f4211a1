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
    // m_given is true if the command line contains m, the number of correction pairs.
    bool m_given = false;
    std::string problem = "rosenbrock";
    // The parameters of the problem that the command line contains, including nx and ny.
    std::map<std::string, double> parameters;
    // Bounds of every variable, which replace the problem's own bounds.
    std::optional<double> lower, upper;
    int backend = 0;
    // If check_gradient is true, the program checks the gradient and does not solve the problem.
    bool check_gradient = false;
    bool single = false;
    // The number of host threads for f, g and the solver.
    int threads = 0;
    // log_frequency and log_type are the entries iprint[0] and iprint[1] of the 2013 manual.
    int64_t log_frequency = 1;
    int64_t log_type = 0;
    // The names of the files to write. An empty name means that the file is not written.
    std::string csv, plot;
    // The names of the checkpoint files to write and to continue from. Each is empty if there is none.
    std::string checkpoint, resume;
    // The number of iterations between two checkpoints.
    std::optional<int64_t> every;
    std::vector<GivenSetting> settings;
};

// Reads the command line. Returns nothing if --help, --list or --version was given and has been handled. Throws Failure
// with one line of text if the arguments are invalid.
std::optional<Options> parse_options(int argc, char **argv);

} // namespace driver
