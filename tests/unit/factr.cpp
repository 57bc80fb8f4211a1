// Tests for which changes of f at one iterate the convergence test FACTR holds.
#include <catch2/catch.hpp>

#include "cuda_opt.h"
#include "lbfgsb/iteration.hpp"

using namespace cudaopt;

namespace {

// Returns whether FACTR ends a solve at an iterate with f = 1. `steps` is the number of steps since the last step along
// -g, f_restarted is f at the last restart, and relatively_flat says whether the relative gradient is small.
bool ends(double f_previous, int steps, bool robust, double f_restarted = infinity, bool relatively_flat = true) {
    Settings settings;
    settings.pgtol = 0;
    settings.robust = robust;
    Iteration it;
    it.results.f = it.results.pg_norm2 = it.results.pg_norm_max = it.results.x_norm2 = 1;
    it.results.iterations = 5;
    it.f_previous = f_previous;
    it.steps_since_gradient = steps;
    it.f_restarted = f_restarted;
    it.relative_gradient = relatively_flat ? 0 : 1;
    IterateVerdict verdict{};
    REQUIRE(it.judge_iterate(settings, 0, verdict) == Norm::none);
    return verdict == IterateVerdict::end && it.results.stop_test == CUDA_OPT_FACTR;
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

TEST_CASE("FACTR does not end a solve right after a restart unless the relative gradient is small", "[terminations]") {
    constexpr int enough = Iteration::steps_before_verdict;
    for (int steps = 2; steps < enough; steps++) {
        CHECK_FALSE(ends(1, steps, true, 1, false));
        CHECK(ends(1, steps, true, 1, true));
    }
    CHECK(ends(1, enough, true, 1, false));
    CHECK_FALSE(ends(1, enough, true, 2, false));        // f has decreased since the restart
    CHECK_FALSE(ends(1, enough, true, infinity, false)); // there was no restart
}

TEST_CASE("FACTR ends a solve whose relative gradient is caused by rounding x in single precision", "[terminations]") {
    const auto ends_with = [](bool single_x, double curvature, double unexplained, double rounding) {
        Settings settings;
        settings.pgtol = 0;
        settings.rounding = rounding;
        Iteration it;
        it.results.f = it.f_base = it.f_previous = it.results.pg_norm2 = it.results.pg_norm_max = it.results.x_norm2 =
            1;
        it.results.iterations = it.steps_since_gradient = Iteration::steps_before_verdict;
        it.single_x = single_x, it.single_f = false;
        it.relative_gradient = 1;
        it.relative_curvature = curvature;
        it.unexplained = unexplained;
        IterateVerdict verdict{};
        REQUIRE(it.judge_iterate(settings, 1, verdict) == Norm::none);
        return verdict == IterateVerdict::end && it.results.stop_test == CUDA_OPT_FACTR;
    };
    CHECK(ends_with(true, 1e8, 0, 100));
    CHECK_FALSE(ends_with(false, 1e8, 0, 100));  // rounding x in double precision changes f by less than FACTR allows
    CHECK_FALSE(ends_with(false, 1e18, 0, 100)); // as it does here, although it explains the gradient
    CHECK_FALSE(ends_with(true, 1e5, 0, 100));   // f decreases by 5e-6 along the relative gradient
    CHECK_FALSE(ends_with(true, 1e8, 1, 100));
    CHECK_FALSE(ends_with(true, 1e8, 0, 0));
}
