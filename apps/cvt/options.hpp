// The command line of cvt_program.
#pragma once

#include <cstdint>
#include <string>

namespace driver {

struct CvtOptions {
    int64_t sites = 0, resolution = 0;
    std::string density = "constant"; // the name of a density, or of a file *.pgm
    int32_t m = 7;
    int64_t iterations = 300; // limit; 0: none
    double seconds = 0;       // limit; 0: none
    int64_t seed = 1;
    bool until_still = false; // whether to stop when the energy no longer decreases, instead of at the tolerance
    double tolerance = 1e-3; // largest distance of a site from its centroid, divided by the mean distance between sites
    bool tolerance_given = false;
    int backend = 0;
    int threads = 0;
    bool approximate_cauchy = false;
    int64_t log_frequency = 1;          // period of logged iterates; 0: the first and the last; -1: no log
    std::string plot, png, csv, points; // files to write, empty: none
};

// Reads the command line. Returns false if --help, --list or --version was given, after printing its output. Throws
// Failure with one line if the arguments are invalid.
bool parse_cvt_options(int argc, char **argv, CvtOptions &options);

} // namespace driver
