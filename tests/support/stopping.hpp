// These settings are for tests that are not about the default convergence tests. They are those of VA15 and of the
// manual: only EPS is active, and the line search is as exact as its conditions require.
#pragma once

#include "cuda_opt.h"

namespace cudaopt_test {

// s is a Minimiser, or an object of any other class with set_real(key, value).
template <class Solver> void stop_by_eps(Solver &s) {
    s.set_real(CUDA_OPT_EPS, 1e-5);
    s.set_real(CUDA_OPT_PGTOL, 0);
    s.set_real(CUDA_OPT_FACTR, 0);
    s.set_real(CUDA_OPT_XTOL, 1e-16);
}

// Makes the same settings in the library's own struct Settings.
template <class Settings> void set_eps_alone(Settings &settings) {
    settings.eps = 1e-5;
    settings.pgtol = settings.factr = 0;
    settings.xtol = 1e-16;
}

} // namespace cudaopt_test
