// Replaces fortran_run.cpp if L-BFGS-B 3.0 is not installed.
#include "fortran_run.hpp"

namespace cudaopt::bench {

std::optional<FortranRun> run_fortran(const RunOptions &, const Stop &) { return std::nullopt; }

} // namespace cudaopt::bench
