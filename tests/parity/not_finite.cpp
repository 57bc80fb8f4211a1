// These functions are undefined at some points. NaN or Inf means that f is undefined at x, and the step is cut.
#include <catch2/catch.hpp>
#include <limits>

#include "../support/harness.hpp"

namespace parity_not_finite {

using namespace cudaopt_test;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr int64_t default_cuts = 30;

// f = sum of w_i x_i - log x_i, whose domain is x > 0. The minimum is at x_i = 1 / w_i.
Problem barrier(int64_t n, double outside) {
    return {"barrier", Vector(static_cast<std::size_t>(n), 0.75), [outside](const Vector &x, Vector &g) {
                bool inside = true;
                const double f = pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
                    const double weight = 2 + static_cast<double>(i % 9);
                    inside = inside && x[i] > 0;
                    g[i] = weight - 1 / x[i];
                    return weight * x[i] - std::log(std::fmax(x[i], 1e-300));
                });
                return inside ? f : outside;
            }};
}

// f = sum of (sqrt(x_i) - 1/10)^2. The gradient is infinite at 0, and f and g are NaN for x_i < 0.
Problem roots(int64_t n) {
    return {"roots", Vector(static_cast<std::size_t>(n), 0.5), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
                    const double root = std::sqrt(x[i]);
                    g[i] = (root - 0.1) / root;
                    return (root - 0.1) * (root - 0.1);
                });
            }};
}

// A quadratic around 1 whose value is finite everywhere. One element of its gradient is not finite if x_0 < 0.9.
Problem gradient_with_holes(int64_t n, double hole) {
    return {"gradient with holes", Vector(static_cast<std::size_t>(n), 3.0), [n, hole](const Vector &x, Vector &g) {
                const double f = pairwise_sum(0, n, [&](int64_t i) {
                    g[i] = 200 * (x[i] - 1);
                    return 100 * (x[i] - 1) * (x[i] - 1);
                });
                if (x[0] < 0.9) g[n - 1] = hole;
                return f;
            }};
}

// A function that is finite at its first evaluation only.
Problem only_the_start(int64_t n, double f_elsewhere, double g_elsewhere) {
    return {"only the start", Vector(static_cast<std::size_t>(n), 1.0),
            [f_elsewhere, g_elsewhere, evaluated = 0](const Vector &, Vector &g) mutable {
                const bool start = evaluated++ == 0;
                std::fill(g.begin(), g.end(), start ? 1.0 : g_elsewhere);
                return start ? 5.0 : f_elsewhere;
            }};
}

template <class Configuration> void check_start_is_kept(const Outcome &outcome) {
    CHECK(outcome.f == 5);
    CHECK(outcome.x == Vector(outcome.x.size(), 1.0));
    CHECK(outcome.g == Vector(outcome.x.size(), 1.0));
    CHECK(outcome.iterations == 0);
    CHECK(outcome.outside == 0);
}

} // namespace

CONFIGURED_TEST_CASE("A logarithmic barrier is minimised from inside its domain", "[not-finite]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double outside : {nan_value, infinite, -infinite, -nan_value}) {
        INFO("f outside is " << outside);
        const Problem problem = barrier(1000, outside);
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_EPS, 1e-3);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_EPS);
        CHECK(std::isfinite(outcome.f));
        CHECK(outcome.outside == 0);
        for (std::size_t i = 0; i < 9; i++) CHECK(std::fabs(outcome.x[i] * (2 + static_cast<double>(i)) - 1) < 0.02);
    }
}

CONFIGURED_TEST_CASE("A problem converges if a bound lies on the edge of the domain of f", "[not-finite]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double outside : {nan_value, infinite, -infinite}) {
        INFO("f at the bound is " << outside);
        Problem problem = in_box(barrier(1000, outside), 0, 10);
        problem.start.assign(1000, 9);
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_EPS, 1e-3);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(harness.get_int(CUDA_OPT_CUTS) > 0);
        CHECK(harness.get_int(CUDA_OPT_LOWER_COUNT) == 0);
    }
}

CONFIGURED_TEST_CASE("A function of square roots is minimised from inside its domain", "[not-finite]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(roots(3), 5);
    harness.set_real(CUDA_OPT_EPS, 1e-4);
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_CUTS) > 0);
    for (const double x : outcome.x) CHECK(std::fabs(x - 0.01) < 1e-4);
}

CONFIGURED_TEST_CASE("A step is cut if one element of g is not finite", "[not-finite]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double hole : {nan_value, infinite, -infinite})
        for (const bool bounded : {false, true}) {
            INFO("the element is " << hole << ", bounded: " << bounded);
            Problem problem = gradient_with_holes(3001, hole);
            if (bounded) problem = in_box(problem, -40, 40);
            Harness<TestType> harness(problem, 5);
            harness.set_real(CUDA_OPT_EPS, 1e-4);
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
            // The first step leads to the lower bound, at which the projection removes +Inf.
            if (bounded && hole != infinite) CHECK(harness.get_int(CUDA_OPT_CUTS) > 0);
            CHECK(std::fabs(outcome.x[0] - 1) < 1e-3);
        }
}

CONFIGURED_TEST_CASE("If no trial point is finite the solve ends and keeps the start", "[not-finite]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double bad : {nan_value, infinite, -infinite})
        for (const bool in_f : {true, false})
            for (const bool bounded : {true, false}) {
                INFO(bad << (in_f ? " in f" : " in g") << ", bounded: " << bounded);
                Problem problem = in_f ? only_the_start(50, bad, 1.0) : only_the_start(50, 4.0, bad);
                if (bounded) problem = in_box(problem, -5, 5);
                Harness<TestType> harness(problem, 5);
                const Outcome outcome = harness.run();
                CHECK(outcome.task == CUDA_OPT_NOT_FINITE);
                CHECK(outcome.message.find("30 reductions") != std::string::npos);
                CHECK(outcome.evaluations <= 2 + default_cuts);
                CHECK(harness.get_int(CUDA_OPT_CUTS) == default_cuts);
                check_start_is_kept<TestType>(outcome);
            }
}

CONFIGURED_TEST_CASE("The number of cuts is limited by the caller's setting", "[not-finite]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const int64_t cuts : {0, 1, 5}) {
        INFO(cuts << " cuts");
        Harness<TestType> harness(only_the_start(50, nan_value, 1.0), 5);
        harness.set_int(CUDA_OPT_MAX_CUTS, cuts);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_NOT_FINITE);
        CHECK(outcome.evaluations == 2 + cuts);
        CHECK(harness.get_int(CUDA_OPT_CUTS) == cuts);
        check_start_is_kept<TestType>(outcome);
    }
}

CONFIGURED_TEST_CASE("A solve ends at a start where f or g is not finite", "[not-finite]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double bad : {nan_value, infinite, -infinite})
        for (const bool in_f : {true, false}) {
            INFO(bad << (in_f ? " in f" : " in g"));
            const Problem problem = {"nowhere", Vector(2000, 1.0), [bad, in_f](const Vector &, Vector &g) {
                                         std::fill(g.begin(), g.end(), 1.0);
                                         if (!in_f) g[1234] = bad;
                                         return in_f ? bad : 1.0;
                                     }};
            const Outcome outcome = Harness<TestType>(problem, 5).run();
            CHECK(outcome.task == CUDA_OPT_NOT_FINITE);
            CHECK(outcome.evaluations == 1);
            CHECK(!outcome.message.empty());
            CHECK(outcome.x == problem.start);
        }
}

// This also applies if the longest step within the bounds was not known at the beginning of the line search.
CONFIGURED_TEST_CASE("A line search within bounds never evaluates beyond a point where f is undefined", "[not-finite]",
                     HostDouble, HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    double nearest = infinite; // the nearest evaluation point where f is undefined
    int beyond = 0, after = 0;
    Problem falls_to_a_wall{"falls to a wall", Vector(1), [&](const Vector &x, Vector &g) {
                                beyond += x[0] >= nearest;
                                after += nearest < infinite;
                                g[0] = -1;
                                if (x[0] <= 1.5) return -x[0];
                                nearest = std::min(nearest, x[0]);
                                return nan_value;
                            }};
    falls_to_a_wall.lower = Vector(1, -100.0);
    Harness<TestType> harness(falls_to_a_wall, 5);
    // The first step is 1. The second line search reaches the undefined region at 2.
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 2);
    const Outcome outcome = harness.run();
    CAPTURE(outcome.message, outcome.evaluations);
    CHECK(outcome.x[0] > 1);
    CHECK(outcome.x[0] <= 1.5);
    CHECK(after >= 2);
    CHECK(beyond == 0);
}

} // namespace parity_not_finite
