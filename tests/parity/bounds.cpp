// These tests check that every evaluation point lies exactly in the box.
#include <catch2/catch.hpp>
#include <limits>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// f = sum of (x_i - t_i)^2 (1 + i mod 5) / 2, where t_i lies far outside the box, far inside, or exactly at a bound.
// Some bounds cannot be represented exactly, are tiny or huge, or are nearly equal.
Problem pulled_through_the_box(int64_t n) {
    Problem problem = {"awkward bounds", {}, [](const Vector &x, Vector &g) {
                           return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
                               const double weight = 1 + static_cast<double>(i % 5);
                               const double inside = 0.1 * static_cast<double>(i % 3);
                               const double target = i % 4 == 0 ? 1e3 : i % 4 == 1 ? -1e3 : inside;
                               g[i] = weight * (x[i] - target);
                               return g[i] * (x[i] - target) / 2;
                           });
                       }};
    constexpr double lower[] = {-1.0 / 3, -0.7, 0.1, -1e-300, -1e8 / 3, -0.1 - 1e-9};
    constexpr double upper[] = {1.0 / 3, 0.1, 0.1 + 1e-12, 1e-300, 1e8 / 7, 0.3};
    for (int64_t i = 0; i < n; i++) {
        problem.lower.push_back(lower[i % 6]);
        problem.upper.push_back(upper[i % 6]);
        problem.start.push_back(0.05);
    }
    return problem;
}

} // namespace

CONFIGURED_TEST_CASE("With extreme or nearly equal bounds no evaluation is outside the box", "[bounds]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const int64_t n : {6, 61, 6000}) {
        INFO("n = " << n);
        const Problem problem = pulled_through_the_box(n);
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_MAX_ITERATIONS, 200);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        using Real = typename TestType::Real;
        // The variables with the largest gradient end at their bound, to the last bit.
        CHECK(outcome.x[0] == static_cast<Real>(1.0 / 3));
        CHECK(outcome.x[1] == static_cast<Real>(-0.7));
    }
}

CONFIGURED_TEST_CASE("No evaluation is outside random boxes", "[bounds]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (const Problem &smooth :
             {extended_rosenbrock(101 * 2), extended_beale(202), extended_wood(204), trigonometric(50)}) {
            const Problem problem = in_random_boxes(smooth, seed);
            INFO(problem.name);
            Harness<TestType> harness(problem, 4);
            harness.set_int(CUDA_OPT_MAX_ITERATIONS, 100);
            check_promises<TestType>(problem, harness.run());
        }
}

CONFIGURED_TEST_CASE("Components of a start outside the box are projected into it and counted", "[bounds]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem problem = in_box(extended_rosenbrock(5000), -0.5, 0.9);
    problem.start.assign(5000, 0.25);
    problem.start[7] = 1e30;
    problem.start[4096] = -3;
    problem.start[4999] = 0.95;
    Harness<TestType> harness(problem, 5);
    harness.set_real(CUDA_OPT_EPS, 1e-3);
    REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
    using Real = typename TestType::Real;
    const Vector x = harness.outcome().x;
    CHECK(x[7] == static_cast<Real>(0.9));
    CHECK(x[4096] == static_cast<Real>(-0.5));
    CHECK(x[4999] == static_cast<Real>(0.9));
    CHECK(x[0] == 0.25);
    const Outcome outcome = harness.run();
    check_promises<TestType>(problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_START_PROJECTED) == 3);
}

CONFIGURED_TEST_CASE("Variables with equal bounds keep their value", "[bounds]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem problem = extended_rosenbrock(3000);
    problem.lower.assign(3000, -infinite);
    problem.upper.assign(3000, infinite);
    for (std::size_t i = 0; i < 3000; i += 3)
        problem.lower[i] = problem.upper[i] = 1.0 / 3 + static_cast<double>(i % 2);
    Harness<TestType> harness(problem, 5);
    harness.set_real(CUDA_OPT_EPS, 1e-3);
    const Outcome outcome = harness.run();
    check_promises<TestType>(problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_LOWER_COUNT) == 1000);
    CHECK(harness.get_int(CUDA_OPT_UPPER_COUNT) == 0);
    CHECK(harness.get_int(CUDA_OPT_FREE_COUNT) == 2000);
    using Real = typename TestType::Real;
    for (std::size_t i = 0; i < 3000; i += 3) REQUIRE(outcome.x[i] == static_cast<Real>(problem.lower[i]));
}

CONFIGURED_TEST_CASE("If l = u in all variables a solve converges after one evaluation", "[bounds]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem problem = extended_rosenbrock(200);
    problem.lower = problem.upper = Vector(200, 0.3);
    for (const bool tests_off : {false, true}) {
        INFO("convergence tests disabled: " << tests_off);
        Harness<TestType> harness(problem, 5);
        if (tests_off) harness.set_real(CUDA_OPT_EPS, 0);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.evaluations == 1);
        CHECK(harness.get_int(CUDA_OPT_LOWER_COUNT) == 200);
        CHECK(harness.get_int(CUDA_OPT_START_PROJECTED) == 200);
        CHECK(harness.get_real(CUDA_OPT_PG_NORM2) == 0);
    }
}

CONFIGURED_TEST_CASE("A missing bound array is equivalent to infinite bounds", "[bounds]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem below = quadratic_with_known_active_set(300).problem, above = below;
    below.upper.clear();
    above.lower.clear();
    for (const Problem &one_sided : {below, above}) {
        // The second problem has explicit infinite bounds on the other side.
        Problem both = one_sided;
        both.lower.resize(300, -infinite);
        both.upper.resize(300, infinite);
        const Outcome outcome = solve<TestType>(one_sided), written_out = solve<TestType>(both);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.x == written_out.x);
        CHECK(outcome.evaluations == written_out.evaluations);
    }
}

CONFIGURED_TEST_CASE("With very large or infinite bounds the solve converges", "[bounds]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem free = chained_rosenbrock(100, 2);
    for (const double wide : {1e10, 1e300, std::numeric_limits<double>::max(), infinite}) {
        INFO("|x| <= " << wide);
        const Problem problem = in_box(free, -wide, wide);
        const Outcome outcome = solve<TestType>(problem);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(std::isfinite(outcome.f));
    }
}
