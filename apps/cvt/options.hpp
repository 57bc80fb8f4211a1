// The command line of the program cvt_program.
#pragma once

#include <cstdint>
#include <string>

namespace driver {

struct CvtOptions {
    int64_t sites = 0, resolution = 0;
    // The name of a density, or of an image file *.pgm that contains a density.
    std::string density = "constant";
    int32_t m = 7;
    int64_t iterations = 300; // limit; 0: none
    double seconds = 0;       // limit; 0: none
    int64_t seed = 1;
    // True: stop when the energy no longer decreases. False: stop at the tolerance.
    bool until_still = false;
    // The largest distance of a site from its centroid at which the solve ends, divided by the mean distance between
    // sites.
    double tolerance = 1e-3;
    bool tolerance_given = false;
    int backend = 0;
    int threads = 0;
    bool approximate_cauchy = false;
    // The number of iterations between two lines of the log. 0: only the first and the last; -1: no log.
    int64_t log_frequency = 1;
    // The names of the files to write. An empty name means that the file is not written.
    std::string plot, png, csv, points;
};

// Reads the command line. Returns false if --help, --list or --version was given and has been handled. Throws Failure
// with one line of text if the arguments are invalid.
bool parse_cvt_options(int argc, char **argv, CvtOptions &options);

} // namespace driver
