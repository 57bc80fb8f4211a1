// The settings of cases that are not about the default stopping tests: those of VA15 and of the manual, EPS alone, and
// a line search that is as exact as the conditions demand.
#pragma once

#include "cuda_opt.h"

namespace cudaopt_test {

// s: a Minimiser, or any other class with set_real(key, value).
template <class Solver> void stop_by_eps(Solver &s) {
    s.set_real(CUDA_OPT_EPS, 1e-5);
    s.set_real(CUDA_OPT_PGTOL, 0);
    s.set_real(CUDA_OPT_FACTR, 0);
    s.set_real(CUDA_OPT_XTOL, 1e-16);
}

// The same in the library's own Settings.
template <class Settings> void set_eps_alone(Settings &settings) {
    settings.eps = 1e-5;
    settings.pgtol = settings.factr = 0;
    settings.xtol = 1e-16;
}

} // namespace cudaopt_test
