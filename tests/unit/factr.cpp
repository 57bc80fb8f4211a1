// Tests for which changes of f at one iterate the convergence test FACTR holds.
#include <catch2/catch.hpp>

#include "cuda_opt.h"
#include "lbfgsb/termination.hpp"
#include "lbfgsb/trial.hpp"

using namespace cudaopt;

namespace {

// Returns whether FACTR ends a solve at an iterate with f = 1 whose relative gradient is small. `steps` is the number
// of steps since the last step along -g.
bool ends(double f_previous, int steps, bool robust) {
    Settings settings;
    settings.pgtol = 0;
    settings.robust = robust;
    Iteration it;
    it.results.f = it.results.pg_norm2 = it.results.pg_norm_max = it.results.x_norm2 = 1;
    it.results.iterations = 5;
    it.f_previous = f_previous;
    it.steps_since_gradient = steps;
    it.relatively_flat = true;
    return it.judge_iterate(settings, true) == IterateVerdict::end && it.results.stop_test == CUDA_OPT_FACTR;
}

} // namespace

TEST_CASE("FACTR does not hold if f rises or after a first step along -g unless ROBUST is 0", "[terminations]") {
    constexpr double tiny = 1e-12; // below FACTR times the unit roundoff, which is 2e-9
    CHECK(ends(1 + tiny, 2, true));
    CHECK(ends(1, 2, true));
    CHECK_FALSE(ends(1 - tiny, 2, true));
    CHECK_FALSE(ends(1 + tiny, 1, true));
    CHECK_FALSE(ends(1 + 1e-6, 2, true));
    // L-BFGS-B 3.0 treats both cases as convergence.
    CHECK(ends(1 - tiny, 2, false));
    CHECK(ends(1 + tiny, 1, false));
}
