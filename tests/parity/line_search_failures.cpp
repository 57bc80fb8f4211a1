// These tests cover line searches that fail, and the values of CUDA_OPT_LINE_SEARCH_INFO. The start or the best iterate
// is kept.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

Problem with_wrong_gradient(Problem problem, std::function<double(int64_t, double)> wrong) {
    problem.evaluate = [inner = problem.evaluate, wrong](const Vector &x, Vector &g) {
        const double f = inner(x, g);
        for (std::size_t i = 0; i < g.size(); i++) g[i] = wrong(static_cast<int64_t>(i), g[i]);
        return f;
    };
    problem.name += " with a wrong gradient";
    return problem;
}

Problem sphere(int64_t n) {
    return {"sphere", Vector(static_cast<std::size_t>(n), 2.0), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
                    g[i] = x[i] - 1;
                    return g[i] * g[i] / 2;
                });
            }};
}

// f = -sum of x_i, which has no lower bound.
Problem slope(int64_t n) {
    return {"slope", Vector(static_cast<std::size_t>(n), 0.0), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
                    g[i] = -1;
                    return -x[i];
                });
            }};
}

} // namespace

CONFIGURED_TEST_CASE("A gradient of the wrong sign ends the solve as a line search failure", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const bool bounded : {false, true}) {
        INFO("bounded: " << bounded);
        Problem problem = with_wrong_gradient(sphere(500), [](int64_t, double g) { return -g; });
        if (bounded) problem = in_box(problem, -10, 10);
        Harness<TestType> harness(problem, 5);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_LINE_SEARCH_FAILED);
        CHECK(outcome.task == -1);
        CHECK(outcome.x == problem.start);
        CHECK(outcome.evaluations <= 41);
        CHECK(!outcome.message.empty());
        CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) > 1);
    }
}

CONFIGURED_TEST_CASE("A gradient that becomes wrong later ends the solve after at most two refreshes", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem problem = extended_rosenbrock(100);
    int64_t evaluations = 0;
    problem.evaluate = [&, inner = extended_rosenbrock(100).evaluate](const Vector &x, Vector &g) {
        const double f = inner(x, g);
        if (++evaluations > 15)
            for (double &component : g) component = -component;
        return f;
    };
    Harness<TestType> harness(problem, 5);
    const Outcome outcome = harness.run();
    CHECK(outcome.task < 0);
    CHECK(outcome.task == CUDA_OPT_LINE_SEARCH_FAILED);
    CHECK(outcome.evaluations <= 15 + 100);
    // One refresh keeps the scale of the history, and one restarts as at the start of a solve.
    CHECK(harness.get_int(CUDA_OPT_REFRESHES) <= 2);
    for (const Iterate &iterate : outcome.history) CHECK(outcome.f <= iterate.f);
}

CONFIGURED_TEST_CASE("A constant f with a nonzero gradient ends the solve as a line search failure", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const bool bounded : {false, true}) {
        Problem problem = {"constant", Vector(100, 0.5), [](const Vector &, Vector &g) {
                               std::fill(g.begin(), g.end(), 1.0);
                               return 7.0;
                           }};
        if (bounded) problem = in_box(problem, 0, 1);
        const Outcome outcome = solve<TestType>(problem);
        CHECK(outcome.task == CUDA_OPT_LINE_SEARCH_FAILED);
        CHECK(outcome.x == problem.start);
        CHECK(outcome.evaluations <= 41);
    }
}

CONFIGURED_TEST_CASE("Line search info 1 means that both conditions are satisfied", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(sphere(10), 5);
    CHECK(harness.run().task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 1);
}

CONFIGURED_TEST_CASE("Line search info 2 means that the interval is shorter than xtol", "[line-search]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    // No step on either side of a kink satisfies the curvature condition. The line search ends close to the kink, at a
    // lower f.
    const Problem problem = {"kink", Vector(1, 10.0), [](const Vector &x, Vector &g) {
                                 g[0] = x[0] > 3 ? 1 : -1;
                                 return std::fabs(x[0] - 3);
                             }};
    Harness<TestType> harness(problem, 5);
    harness.set_real(CUDA_OPT_XTOL, 0.1).set_int(CUDA_OPT_MAXFEV, 100).set_real(CUDA_OPT_STPMAX, 1e3);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 1);
    CHECK(harness.run().task == CUDA_OPT_ITERATION_LIMIT);
    CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 2);
}

CONFIGURED_TEST_CASE("Line search info 3 means that maxfev evaluations were made", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = with_wrong_gradient(sphere(20), [](int64_t, double g) { return -g; });
    for (const int64_t maxfev : {1, 2, 5}) {
        INFO("maxfev " << maxfev);
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_MAXFEV, maxfev);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_LINE_SEARCH_FAILED);
        CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 3);
        CHECK(outcome.evaluations == 1 + maxfev);
        CHECK(outcome.message.find(std::to_string(maxfev)) != std::string::npos);
    }
}

CONFIGURED_TEST_CASE("Line search info 4 means that the step is stpmin", "[line-search]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = with_wrong_gradient(sphere(20), [](int64_t, double g) { return -g; });
    Harness<TestType> harness(problem, 5);
    harness.set_real(CUDA_OPT_STPMIN, 1e-2);
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_LINE_SEARCH_FAILED);
    CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 4);
}

CONFIGURED_TEST_CASE("Line search info 5 means that the step is stpmax and is accepted", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    SECTION("the bounds determine stpmax") {
        const Problem problem = in_box(slope(100), -1, 10);
        Harness<TestType> harness(problem, 5);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.x == Vector(100, 10.0));
        CHECK(harness.get_int(CUDA_OPT_UPPER_COUNT) == 100);
        CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 5);
    }
    SECTION("the caller sets stpmax") {
        Harness<TestType> harness(slope(100), 5);
        harness.set_real(CUDA_OPT_STPMAX, 0.5).set_int(CUDA_OPT_MAX_ITERATIONS, 3);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_ITERATION_LIMIT);
        CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 5);
        for (const Iterate &iterate : outcome.history) CHECK(iterate.step <= 0.5);
    }
    SECTION("the caller sets stpmax to less than the distance to the bounds") {
        Harness<TestType> harness(in_box(slope(100), -1, 1000), 5);
        harness.set_real(CUDA_OPT_STPMAX, 3).set_int(CUDA_OPT_MAX_ITERATIONS, 3);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_ITERATION_LIMIT);
        CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 5);
        CHECK(outcome.history.back().step == 3);
    }
}

CONFIGURED_TEST_CASE("A limit ends the solve of a function without a lower bound", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(slope(100), 5);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 50).set_int(CUDA_OPT_MAX_EVALUATIONS, 500);
    const Outcome outcome = harness.run();
    CHECK(outcome.task < 0);
    CHECK(outcome.outside == 0);
    CHECK(std::isfinite(outcome.f));
}

CONFIGURED_TEST_CASE("A solve to the rounding level of f ends with the best iterate", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {in_box(extended_rosenbrock(100), -1.5, 0.8), extended_rosenbrock(100),
                                   chained_rosenbrock(100, 6), torsion(10, 10)}) {
        INFO(problem.name);
        // Only the exact test P g = 0 and the rounding level can end this solve.
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 3000);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK((outcome.task == CUDA_OPT_LINE_SEARCH_FAILED || outcome.task == CUDA_OPT_CONVERGED));
        CHECK(harness.get_real(CUDA_OPT_F) == outcome.f); // the results belong to the iterate in x
    }
}

CONFIGURED_TEST_CASE("Without progress a solve ends after a thousand iterations unless a test holds", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // f exceeds its value at the start by rounding errors, and g is orthogonal to the last step. Each step is therefore
    // accepted, and f never decreases. The first two evaluations are the start and the value with which the next
    // thousand iterations are compared. EPS holds at one iterate or none, where g is shorter by less than the decrease
    // that counts as progress.
    constexpr int64_t last = 2 + 1000;
    for (const int64_t shorter_at : {last - 1, last, last + 1}) {
        INFO("g is shorter at evaluation " << shorter_at);
        int64_t evaluations = 0;
        Vector before(2, 0.0);
        const auto evaluate = [&](const Vector &x, Vector &g) {
            const double a = x[0] - before[0], b = x[1] - before[1];
            const double length = ++evaluations == shorter_at ? 0.095 : 0.1;
            const double outwards = a * x[1] > b * x[0] ? 1 : -1; // -g then points inwards, so that x stays near 0
            const double scale = outwards * length / std::hypot(a, b);
            g = evaluations == 1 ? Vector{length, 0} : Vector{-b * scale, a * scale};
            before = x;
            return evaluations == 1 ? 1 : 1 + 1e-13;
        };
        Harness<TestType> harness(in_box({"nothing falls", before, evaluate}, -10, 10), 5);
        harness.set_real(CUDA_OPT_EPS, 0.097);
        const Outcome outcome = harness.run();
        INFO(outcome.message);
        const bool holds = shorter_at <= last;
        CHECK(outcome.evaluations == std::min(shorter_at, last));
        CHECK(outcome.task == (holds ? CUDA_OPT_CONVERGED : CUDA_OPT_LINE_SEARCH_FAILED));
        CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == (holds ? CUDA_OPT_EPS : 0));
        CHECK(outcome.f == (holds ? 1 + 1e-13 : 1));
    }
}

CONFIGURED_TEST_CASE("Correction pairs without positive curvature are skipped and counted", "[line-search]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // f is concave between its bounds, so that y's <= 0 in all pairs.
    const Problem problem = in_box({"concave", Vector(100, 0.125),
                                    [](const Vector &x, Vector &g) {
                                        return pairwise_sum(0, 100, [&](int64_t i) {
                                            const double weight = 0.01 * static_cast<double>(i + 1);
                                            g[i] = -weight * x[i];
                                            return -weight * x[i] * x[i] / 2;
                                        });
                                    }},
                                   -4, 4);
    Harness<TestType> harness(problem, 5);
    const Outcome outcome = harness.run();
    check_promises<TestType>(problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(outcome.x == Vector(100, 4.0));
    CHECK(harness.get_int(CUDA_OPT_SKIPPED_UPDATES) == outcome.iterations - harness.get_int(CUDA_OPT_PAIRS));
}
