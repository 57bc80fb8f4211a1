// The command line of cvt_program.
#pragma once

#include <cstdint>
#include <string>

namespace driver {

struct CvtOptions {
    int64_t sites = 0, resolution = 0;
    std::string density = "constant"; // a name, or a file *.pgm
    int32_t m = 7;
    int64_t iterations = 300; // limit; 0: none
    double seconds = 0;       // limit; 0: none
    int64_t seed = 1;
    bool until_still = false; // the energy, in place of the tolerance
    double tolerance = 1e-3;  // of sites from their centroids, in mean distances of sites
    bool tolerance_given = false;
    int backend = 0;
    int threads = 0;
    bool approximate_cauchy = false;
    int64_t log_frequency = 1;          // each so manieth iterate; 0: the first and the last; -1: no log
    std::string plot, png, csv, points; // files to write, empty: none
};

// Read the command line. Returns false where --help, --list or --version was asked for, and has been answered.
// Throws Failure with one line where the arguments are wrong
bool parse_cvt_options(int argc, char **argv, CvtOptions &options);

} // namespace driver
