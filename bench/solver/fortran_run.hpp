// L-BFGS-B 3.0, the Fortran code on one thread, on a test problem in double precision.
#pragma once

#include <optional>
#include <vector>

#include "whole_run.hpp"

namespace cudaopt::bench {

struct FortranRun {
    WholeRun whole;                 // t and t_first stay empty: the code does not tell them
    std::vector<double> seconds_at; // seconds inside setulb up to each accepted iterate after the start
    std::vector<double> f_at;       // f at each of them
};

// Of the options it takes the problem, n, m, the bounds, and threads for the evaluations; of the stopping tests, eps
// where there are no bounds, factr and the limits. Nothing where the library was not there to build with.
std::optional<FortranRun> run_fortran(const RunOptions &options, const Stop &stop);

} // namespace cudaopt::bench
