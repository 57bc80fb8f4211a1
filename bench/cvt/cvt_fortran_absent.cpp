// Replaces cvt_fortran.cpp if L-BFGS-B 3.0 is not installed.
#include "cvt_run.hpp"

namespace cudaopt::bench {

std::optional<CvtRun> run_cvt_fortran(CvtProblem &, double) { return {}; }

} // namespace cudaopt::bench
