// These tests cover ends of a solve other than a solution, and the convergence tests. In each case x, f and g must be
// those of the best iterate.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

// This problem is solved quickly, but takes enough iterations to be stopped during the solve.
Problem valley() { return in_box(extended_rosenbrock(100), -2, 2); }

// Returns f after this number of iterations.
template <class Configuration> double value_after(int64_t iterations) {
    Harness<Configuration> harness(valley(), 5);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, iterations);
    return harness.run().f;
}

} // namespace

CONFIGURED_TEST_CASE("A solve ends at the iteration limit", "[limits]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const int64_t limit : {1, 2, 7}) {
        Harness<TestType> harness(valley(), 5);
        harness.set_int(CUDA_OPT_MAX_ITERATIONS, limit);
        const Outcome outcome = harness.run();
        check_promises<TestType>(valley(), outcome);
        CHECK(outcome.task == CUDA_OPT_ITERATION_LIMIT);
        CHECK(outcome.iterations == limit);
        CHECK(outcome.message.find(std::to_string(limit)) != std::string::npos);
        CHECK(outcome.f == outcome.history.back().f);
    }
}

CONFIGURED_TEST_CASE("A solve ends at the evaluation limit", "[limits]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (int64_t limit = 1; limit <= 12; limit++) {
        INFO("limit " << limit);
        Harness<TestType> harness(valley(), 5);
        harness.set_int(CUDA_OPT_MAX_EVALUATIONS, limit);
        const Outcome outcome = harness.run();
        check_promises<TestType>(valley(), outcome);
        CHECK(outcome.task == CUDA_OPT_EVALUATION_LIMIT);
        CHECK(outcome.evaluations == limit);
        CHECK(outcome.message.find(std::to_string(limit)) != std::string::npos);
    }
}

CONFIGURED_TEST_CASE("A solve ends at the time limit", "[limits]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem slow = valley();
    slow.evaluate = [inner = valley().evaluate](const Vector &x, Vector &g) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return inner(x, g);
    };
    Harness<TestType> harness(slow, 5);
    harness.set_real(CUDA_OPT_MAX_SECONDS, 0.1);
    const Outcome outcome = harness.run();
    check_promises<TestType>(valley(), outcome);
    CHECK(outcome.task == CUDA_OPT_TIME_LIMIT);
    CHECK(outcome.evaluations <= 7);
    CHECK(outcome.message.find("0.1") != std::string::npos);
}

CONFIGURED_TEST_CASE("A solve ends at the target for f", "[limits]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(valley(), 5);
    harness.set_real(CUDA_OPT_F_TARGET, value_after<TestType>(6));
    const Outcome outcome = harness.run();
    check_promises<TestType>(valley(), outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_F_TARGET);
    CHECK(outcome.iterations == 6);

    Harness<TestType> there(valley(), 5);
    there.set_real(CUDA_OPT_F_TARGET, 1e9);
    const Outcome at_once = there.run();
    check_promises<TestType>(valley(), at_once);
    CHECK(at_once.task == CUDA_OPT_CONVERGED);
    CHECK(at_once.evaluations == 1);
    CHECK(at_once.iterations == 0);
}

CONFIGURED_TEST_CASE("Each convergence test ends the solve when its inequality first holds", "[limits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const int key = GENERATE(as<int>{}, CUDA_OPT_EPS, CUDA_OPT_PGTOL, CUDA_OPT_FACTR);
    const double tolerance = key == CUDA_OPT_FACTR ? 1e13 : 1e-1;
    Harness<TestType> harness(valley(), 5);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(key, tolerance);
    const Outcome outcome = harness.run();
    check_promises<TestType>(valley(), outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == key);
    CHECK(harness.get_real(CUDA_OPT_F) == outcome.f);
    REQUIRE(outcome.history.size() >= 3);
    for (std::size_t k = 1; k < outcome.history.size(); k++) {
        const Iterate &now = outcome.history[k], &before = outcome.history[k - 1];
        const bool last = k + 1 == outcome.history.size();
        INFO("iteration " << k + 1);
        if (key == CUDA_OPT_PGTOL) CHECK((now.pg_norm_inf <= tolerance) == last);
        if (key == CUDA_OPT_FACTR) {
            const double scale = std::fmax(std::fmax(std::fabs(now.f), std::fabs(before.f)), 1);
            CHECK((before.f - now.f <= tolerance * 2.220446049250313e-16 * scale) == last);
        }
        if (key == CUDA_OPT_EPS && last)
            CHECK(now.pg_norm2 < tolerance * std::fmax(1, harness.get_real(CUDA_OPT_X_NORM2)));
    }
}

CONFIGURED_TEST_CASE("The tolerance EPS is relative to the larger of 1 and the norm of x", "[limits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    constexpr double eps = 1e-2;
    const Problem small{"small solution", Vector(100, 0.01), [](const Vector &x, Vector &g) {
                            return pairwise_sum(0, 100, [&](int64_t i) {
                                const double weight = 1 + static_cast<double>(i), way = x[i] - 1e-4;
                                g[i] = weight * way;
                                return weight * way * way / 2;
                            });
                        }};
    Harness<TestType> harness(small, 5);
    harness.set_real(CUDA_OPT_EPS, eps);
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    REQUIRE(!outcome.history.empty());
    for (const Iterate &iterate : outcome.history)
        CHECK((iterate.pg_norm2 < eps) == (iterate.iteration == outcome.iterations));
    CHECK(outcome.history.back().pg_norm2 >= eps * harness.get_real(CUDA_OPT_X_NORM2));
}

CONFIGURED_TEST_CASE("A start that is a solution is accepted after one evaluation", "[limits]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem problem = extended_rosenbrock(100);
    problem.start.assign(100, 1.0);
    for (const bool tests_off : {false, true}) {
        INFO("convergence tests disabled: " << tests_off);
        Harness<TestType> harness(problem, 5);
        if (tests_off) harness.set_real(CUDA_OPT_EPS, 0);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.evaluations == 1);
        CHECK(outcome.f == 0);
        CHECK(outcome.x == problem.start);
    }
}

CONFIGURED_TEST_CASE("A stop can be requested from another thread", "[limits][threads]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem problem = valley();
    Harness<TestType> *solving = nullptr;
    std::atomic<int> evaluations{0};
    problem.evaluate = [&, inner = valley().evaluate](const Vector &x, Vector &g) {
        if (++evaluations == 5) std::thread([&] { CHECK(cuda_opt_request_stop(solving->handle()) == 0); }).join();
        return inner(x, g);
    };
    Harness<TestType> harness(problem, 5);
    harness.set_real(CUDA_OPT_EPS, 1e-3);
    solving = &harness;
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_STOPPED);
    CHECK(evaluations == 5);
    CHECK(!outcome.message.empty());
    check_promises<TestType>(valley(), outcome);

    // The request applies to one solve only; the next solve runs to its end.
    harness.restart();
    CHECK(harness.run().task == CUDA_OPT_CONVERGED);
}

CONFIGURED_TEST_CASE("A stop before the first evaluation ends the solve without an evaluation", "[limits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(valley(), 5);
    CHECK(cuda_opt_request_stop(harness.handle()) == 0);
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_STOPPED);
    CHECK(outcome.evaluations == 0);
    CHECK(outcome.message == "stopped by the caller before the first evaluation"); // the message contains no f
}

CONFIGURED_TEST_CASE("Settings can be changed during a solve", "[limits]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(valley(), 5);
    while (harness.get_int(CUDA_OPT_ITERATIONS) < 4) REQUIRE(harness.step() > 0);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 6);
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_ITERATION_LIMIT);
    CHECK(outcome.iterations == 6);
}

CONFIGURED_TEST_CASE("The reported results agree with x and g at every iterate", "[limits]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(30, 30);
    Harness<TestType> harness(problem, 5);
    int task = 1;
    int64_t iterates = 0;
    while ((task = harness.step()) > 0) {
        if (task != CUDA_OPT_NEW_ITERATE) continue;
        iterates++;
        const Outcome now = harness.outcome();
        CHECK(now.iterations == iterates);
        CHECK(now.f == harness.get_real(CUDA_OPT_F));
        double norm2 = 0, norm_inf = 0, x_norm2 = 0;
        int64_t free = 0;
        for (std::size_t i = 0; i < now.x.size(); i++) {
            using Real = typename TestType::Real;
            const double lower = static_cast<Real>(problem.lower[i]), upper = static_cast<Real>(problem.upper[i]);
            const double pg = now.x[i] - std::min(upper, std::max(lower, now.x[i] - now.g[i]));
            norm2 += pg * pg;
            norm_inf = std::fmax(norm_inf, std::fabs(pg));
            x_norm2 += now.x[i] * now.x[i];
            free += lower < now.x[i] && now.x[i] < upper;
        }
        CHECK(harness.get_real(CUDA_OPT_PG_NORM2) == Approx(std::sqrt(norm2)).epsilon(1e-9).margin(1e-15));
        CHECK(harness.get_real(CUDA_OPT_PG_NORM_INF) == Approx(norm_inf).epsilon(1e-9).margin(1e-15));
        CHECK(harness.get_real(CUDA_OPT_X_NORM2) == Approx(std::sqrt(x_norm2)).epsilon(1e-9));
        CHECK(harness.get_int(CUDA_OPT_FREE_COUNT) == free);
        CHECK(harness.get_int(CUDA_OPT_FREE_COUNT) + harness.get_int(CUDA_OPT_LOWER_COUNT) +
                  harness.get_int(CUDA_OPT_UPPER_COUNT) ==
              problem.size());
        CHECK(harness.get_int(CUDA_OPT_PAIRS) <= 5);
        CHECK(harness.get_real(CUDA_OPT_STEP) > 0);
        CHECK(harness.get_real(CUDA_OPT_THETA) > 0);
        CHECK(harness.get_real(CUDA_OPT_CAUCHY_T) >= 0);
    }
    CHECK(task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_real(CUDA_OPT_SOLVER_SECONDS) > 0);
    CHECK(harness.get_int(CUDA_OPT_CAUCHY_SEGMENTS) >= iterates);
}

CONFIGURED_TEST_CASE("A solve without timing is identical to one with timing", "[limits]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {torsion(30, 30), extended_rosenbrock(500)}) {
        Harness<TestType> timed(problem, 5), untimed(problem, 5);
        untimed.set_int(CUDA_OPT_TIMED, 0);
        const Outcome outcome = untimed.run(), expected = timed.run();
        CHECK(outcome.task == expected.task);
        CHECK(outcome.evaluations == expected.evaluations);
        CHECK(outcome.f == expected.f);
        CHECK(outcome.x == expected.x);
        CHECK(timed.get_real(CUDA_OPT_SOLVER_SECONDS) > 0);
        const bool keeps_no_time = TestType::backend == CUDA_OPT_BACKEND_CUDA;
        CHECK((untimed.get_real(CUDA_OPT_SOLVER_SECONDS) == 0) == keeps_no_time);
    }
}

CONFIGURED_TEST_CASE("Every evaluation limit ends a solve near the rounding level with a valid code", "[limits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // A ripple below the rounding level of f makes f increase there. The solve then continues for some iterations, in
    // search of a lower f.
    Problem problem = extended_rosenbrock(20);
    problem.evaluate = [inner = problem.evaluate](const Vector &x, Vector &g) {
        return 1e6 + inner(x, g) + 1e-6 * std::sin(1e6 * x[0]);
    };
    for (const bool bounded : {false, true})
        for (int64_t limit = 1; limit < 100; limit++) {
            INFO("bounded: " << bounded << ", limit " << limit);
            Harness<TestType> harness(bounded ? in_box(problem, -2, 2) : problem, 5);
            harness.set_int(CUDA_OPT_MAX_EVALUATIONS, limit).set_real(CUDA_OPT_EPS, bounded ? 1e-5 : 1e-7);
            const Outcome outcome = harness.run();
            CHECK(outcome.evaluations <= limit);
            CHECK((outcome.task == CUDA_OPT_EVALUATION_LIMIT || outcome.task == CUDA_OPT_CONVERGED ||
                   outcome.task == CUDA_OPT_LINE_SEARCH_FAILED));
        }
}
