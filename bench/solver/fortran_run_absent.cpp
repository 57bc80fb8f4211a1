// In place of fortran_run.cpp where there is no L-BFGS-B 3.0.
#include "fortran_run.hpp"

namespace cudaopt::bench {

std::optional<FortranRun> run_fortran(const RunOptions &, const Stop &) { return std::nullopt; }

} // namespace cudaopt::bench
