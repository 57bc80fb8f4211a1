// Tests for which changes of f at one iterate the convergence test FACTR holds, and when rounding explains a gradient.
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "cuda_opt.h"
#include "lbfgsb/step.hpp"

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
        it.relative_curvature = it.largest_curvature = curvature;
        it.unexplained = unexplained;
        it.pairs_measured = 2; // the stored pair is measured first as the one with the largest curvature
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

namespace {

// Returns an iterate with f = 1, at which FACTR holds, 100 evaluations after a restart at f = 1 + gain. The norm of the
// relative gradient is `gradient`, and f can decrease along it by `decrease`.
Iteration after_restart(double gain, double gradient, double decrease) {
    Iteration it;
    it.results.f = it.f_base = it.f_previous = it.results.pg_norm2 = it.results.pg_norm_max = it.results.x_norm2 = 1;
    it.results.iterations = it.steps_since_gradient = Iteration::steps_before_verdict;
    it.f_restarted = 1 + gain;
    it.single_f = false;
    it.evaluations_restarted = 20, it.results.evaluations = 120;
    it.relative_gradient = gradient;
    it.relative_curvature = it.largest_curvature = gradient * gradient / decrease / 2;
    it.pairs_measured = 2; // the stored pair is measured first as the one with the largest curvature
    return it;
}

// Returns CUDA_OPT_FACTR or CUDA_OPT_ROUNDING after convergence, the negative return code after a failure, or 0 if the
// solve restarts.
int64_t code_of(const Iteration &it, bool ends) {
    return !ends ? 0 : it.end_code < 0 ? it.end_code : it.results.stop_test;
}
int64_t end_at_iterate(Iteration it) {
    Settings settings;
    settings.pgtol = 0;
    IterateVerdict verdict{};
    REQUIRE(it.judge_iterate(settings, 1, verdict) == Norm::none);
    return code_of(it, verdict == IterateVerdict::end);
}
int64_t end_after_failure(Iteration it, double factr = 1e7) {
    Settings settings;
    settings.factr = factr;
    it.failure = Event::nothing_lower;
    it.first_step = 1, it.slope_base = -1e-12;
    it.note_failure(settings, 1, 1);
    REQUIRE(it.norm_after_failure(settings, 1) == Norm::none);
    return code_of(it, it.after_failure(settings, 1) == FailureVerdict::end);
}

} // namespace

TEST_CASE("A solve ends where the last restart gained little, as convergence if f can decrease little",
          "[terminations]") {
    CHECK(end_at_iterate(after_restart(9e-4, 0.01, 9e-5)) == CUDA_OPT_FACTR);
    CHECK(end_at_iterate(after_restart(9e-4, 0.01, 2e-4)) == CUDA_OPT_LINE_SEARCH_FAILED);
    CHECK(end_after_failure(after_restart(9e-4, 0.01, 9e-5)) == CUDA_OPT_ROUNDING);
    CHECK(end_after_failure(after_restart(9e-4, 0.01, 2e-4)) == CUDA_OPT_LINE_SEARCH_FAILED);
    Iteration single = after_restart(9e-4, 0.01, 9e-5);
    single.single_f = true;
    CHECK(end_after_failure(single) == CUDA_OPT_LINE_SEARCH_FAILED);
    CHECK(end_at_iterate(after_restart(2e-3, 0.01, 9e-5)) == 0);
    CHECK(end_after_failure(after_restart(2e-3, 0.01, 9e-5)) == 0);
    // With a larger relative gradient, FACTR ends the solve only as convergence, and a failed line search does not.
    CHECK(end_at_iterate(after_restart(9e-4, 0.03, 9e-5)) == CUDA_OPT_FACTR);
    CHECK(end_at_iterate(after_restart(9e-4, 0.03, 2e-4)) == 0);
    CHECK(end_after_failure(after_restart(9e-4, 0.03, 9e-5)) == 0);
    CHECK(end_after_failure(after_restart(9e-4, 0.01, 9e-5), 0) == 0);  // without FACTR
    CHECK(end_after_failure(after_restart(infinity, 0.01, 9e-5)) == 0); // there was no restart
}

namespace {

// The relative gradient, and pairs by the vector with the components x_i y_i and by s'y.
struct RelativePair {
    std::vector<double> change;
    double curvature_along;
};
struct RelativeGradient {
    std::vector<double> components;
    std::vector<RelativePair> stored; // from the oldest; the first one has the largest y'y / s'y

    int pairs() const { return static_cast<int>(stored.size()); }
    int stiffest_pair() const { return 0; }
    int slot(int pair) const { return pair; }
    int newest_slot() const { return pairs() - 1; }
    double curvature(int pair) const { return stored[static_cast<std::size_t>(pair)].curvature_along; }

    double norm(const NormRequest &request) const {
        double sum = 0;
        for (std::size_t i = 0; i < components.size(); i++) {
            const double v = std::fabs(components[i]),
                         change = std::fabs(stored[static_cast<std::size_t>(request.slot)].change[i]);
            const double term = request.kind == Norm::relative_gradient ? v
                                : request.kind == Norm::relative_change ? change
                                                                        : std::fmax(v - request.number * change, 0);
            sum += term * term;
        }
        return std::sqrt(sum);
    }
};

// Returns whether ROUNDING ends a solve in single precision with this relative gradient after a failed line search.
bool is_explained(const RelativeGradient &gradient) {
    Settings settings;
    Iteration it;
    it.single_x = true, it.single_f = false;
    it.results.f = it.f_base = it.lowest_trial = 1e-9;
    it.results.pg_norm2 = it.results.x_norm2 = 1;
    it.failure = Event::nothing_lower;
    it.first_step = 1, it.slope_base = -1e-6; // the expected decrease exceeds the bound of FACTR
    it.note_failure(settings, gradient.pairs(), 1);
    int norms = 0;
    for (Norm kind; (kind = it.norm_after_failure(settings, gradient.pairs())) != Norm::none; norms++) {
        REQUIRE(norms <= 2 * gradient.pairs() + 2);
        note_norm(it, gradient, kind, gradient.norm(norm_request(settings, it, gradient, kind, false)));
    }
    return it.after_failure(settings, gradient.pairs()) == FailureVerdict::end &&
           it.results.stop_test == CUDA_OPT_ROUNDING;
}

} // namespace

// With a curvature of 1e6 in the variables x_i / |x_i|, rounding in single precision explains components of 0.6.
TEST_CASE("Rounding explains a relative gradient that one of the stored pairs explains", "[terminations]") {
    const RelativePair first{{1e6, 0}, 1e6}, both{{6e5, 8e5}, 1e6}, soft{{0, 1}, 1}, flat{{10, 10}, 1};
    CHECK(is_explained({{0.06, 0}, {first}}));
    CHECK(is_explained({{0.06, 0.06}, {both}}));
    // The second component of the pair with the largest curvature is 0 by chance.
    CHECK_FALSE(is_explained({{0.06, 0.06}, {first}}));
    CHECK(is_explained({{0.06, 0.06}, {first, both}}));
    CHECK(is_explained({{0.06, 0.06}, {first, both, soft}}));
    CHECK(is_explained({{-0.03, 0.09}, {first, soft, both, flat}}));
    // The pair with the largest y'y / s'y has a small curvature in these variables.
    CHECK_FALSE(is_explained({{0.06, 0.06}, {flat}}));
    CHECK(is_explained({{0.06, 0.06}, {flat, both}}));
    CHECK(is_explained({{0.06, 0.06}, {flat, soft, both}}));
    // No pair explains the component of a soft variable far from its minimum, or a gradient beyond rounding.
    CHECK_FALSE(is_explained({{0.06, 0.06}, {first, soft}}));
    CHECK_FALSE(is_explained({{0.06, 0.06}, {first, soft, flat, first}}));
    CHECK_FALSE(is_explained({{6, 8}, {first, both}}));
}
