// These tests compare solves with known solutions, for many sizes of the problem and of the history.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

double distance(const Vector &a, const Vector &b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++) largest = std::fmax(largest, std::fabs(a[i] - b[i]));
    return largest;
}

// The accuracy that a configuration can attain: the square root of its unit roundoff, with a margin.
template <class Configuration> constexpr double attainable = sizeof(typename Configuration::Real) == 8 ? 1e-6 : 2e-3;

// Checks that a solve finds the known minimiser. It is ended by the convergence test whose tolerance is not 0.
template <class Configuration> void check_known(int64_t n, double eps, double pgtol) {
    INFO("n = " << n);
    const KnownQuadratic known = quadratic_with_known_active_set(n);
    Harness<Configuration> harness(known.problem, 5);
    harness.set_real(CUDA_OPT_EPS, eps).set_real(CUDA_OPT_PGTOL, pgtol);
    const Outcome outcome = harness.run();
    check_promises<Configuration>(known.problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(distance(outcome.x, known.minimiser) <= attainable<Configuration>);
    CHECK(harness.get_int(CUDA_OPT_LOWER_COUNT) == (n + 2) / 3);
    CHECK(harness.get_int(CUDA_OPT_UPPER_COUNT) == (n + 1) / 3);
    CHECK(harness.get_int(CUDA_OPT_FREE_COUNT) == n / 3);
}

} // namespace

CONFIGURED_TEST_CASE("Problems of every size from 1 to 70 are solved", "[solution]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (int64_t n = 1; n <= 70; n++) check_known<TestType>(n, attainable<TestType> / 10, 0);
}

CONFIGURED_TEST_CASE("Problems whose size is near a multiple of the tile size are solved", "[solution]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const int64_t n : {127, 128, 129, 255, 257, 511, 513, 1023, 1025, 4095, 4097, 8191, 8193, 33333, 65537}) {
        check_known<TestType>(n, 0, attainable<TestType>);
    }
}

CONFIGURED_TEST_CASE("Solves with 1 to 64 correction pairs converge", "[solution]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    for (const int m : {1, 2, 3, 5, 7, 8, 9, 17, 20, 30, 64}) {
        INFO("m = " << m);
        const Problem free = extended_rosenbrock(1000), boxed = in_box(extended_rosenbrock(1000), -1.5, 1.5);
        for (const Problem &problem : {free, boxed}) {
            INFO(problem.name);
            Harness<TestType> harness(problem, m);
            harness.set_real(CUDA_OPT_EPS, wide ? 1e-5 : 1e-3);
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
            CHECK(outcome.f < (wide ? 1e-6 : 1e-2));
            CHECK(harness.get_int(CUDA_OPT_PAIRS) <= m);
            CHECK(harness.get_int(CUDA_OPT_MEMORY) == m);
        }
    }
}

CONFIGURED_TEST_CASE("A solve with m larger than n converges", "[solution]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const int64_t n : {1, 2, 3}) {
        INFO("n = " << n);
        const KnownQuadratic known = quadratic_with_known_active_set(n);
        const Outcome outcome = solve<TestType>(known.problem, 30);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(distance(outcome.x, known.minimiser) <= attainable<TestType>);
    }
}

CONFIGURED_TEST_CASE("The five functions of the manual are minimised", "[solution]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    for (const Problem &problem : {extended_rosenbrock(10000), extended_beale(10000), extended_powell(10000),
                                   extended_wood(10000), trigonometric(100)}) {
        INFO(problem.name);
        Vector g(problem.start.size());
        const double at_start = problem.evaluate(problem.start, g);
        Harness<TestType> harness(problem, 7);
        harness.set_real(CUDA_OPT_EPS, wide ? 1e-5 : 2e-3);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.f < (wide ? 1e-6 : 1e-3) * std::fmax(1, at_start));
    }
}

CONFIGURED_TEST_CASE("Elastic-plastic torsion converges to the known f and active set", "[solution]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    struct Known {
        int64_t points;
        double f;
        int64_t active;
    };
    for (const Known &known : {Known{40, -0.417865756732326, 488}, Known{100, -0.418391026664265, 2984}}) {
        const Problem problem = torsion(known.points, known.points);
        INFO(problem.name);
        for (const int approximate : {0, 1}) {
            INFO("approximate Cauchy point: " << approximate);
            Harness<TestType> harness(problem, 5);
            harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-8);
            harness.set_int(CUDA_OPT_APPROXIMATE_CAUCHY, approximate);
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
            CHECK(std::fabs(outcome.f - known.f) <= 1e-10 * std::fabs(known.f));
            CHECK(harness.get_int(CUDA_OPT_LOWER_COUNT) + harness.get_int(CUDA_OPT_UPPER_COUNT) == known.active);
            CHECK(harness.get_int(CUDA_OPT_FREE_COUNT) == problem.size() - known.active);
            // At 100 x 100 about every tenth Cauchy point lies beyond the first breakpoint.
            const bool crossed = harness.get_int(CUDA_OPT_CAUCHY_CROSSINGS) > 0;
            if (approximate == 1) CHECK_FALSE(crossed);
            else if (known.points == 100) CHECK(crossed);
            CHECK((harness.get_int(CUDA_OPT_BREAKPOINTS_CROSSED) > 0) == crossed);
            CHECK((harness.get_int(CUDA_OPT_CAUCHY_SEGMENTS) > outcome.iterations) == crossed);
        }
    }
}

CONFIGURED_TEST_CASE("Elastic-plastic torsion in single precision converges to the known f", "[solution]", HostFloat,
                     CudaFloat) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(40, 40);
    Harness<TestType> harness(problem, 5);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-5);
    const Outcome outcome = harness.run();
    check_promises<TestType>(problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(std::fabs(outcome.f + 0.417865756732326) <= 1e-4);
}

CONFIGURED_TEST_CASE("CUDA and the host compute the same first 20 iterates", "[solution]", CudaDouble) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {torsion(40, 40), chained_rosenbrock(2000, 4), extended_rosenbrock(10000)}) {
        INFO(problem.name);
        const Outcome host = solve<HostDouble>(problem), device = solve<CudaDouble>(problem);
        CHECK(host.task == device.task);
        check_same_iterates(device, host, solve<HostDouble>(moved(problem)), 1e-9, 20);
    }
}

CONFIGURED_TEST_CASE("A problem whose breakpoints coincide is solved in few iterations", "[solution]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // All breakpoints coincide: half of the variables reach their bound at the same t, well before the minimiser on the
    // path.
    constexpr int64_t n = 100000;
    Problem problem = {"ties", Vector(n, 0.5), [](const Vector &x, Vector &g) {
                           return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
                               const double target = i % 2 == 0 ? 3 : 0.75;
                               g[i] = x[i] - target;
                               return g[i] * g[i] / 2;
                           });
                       }};
    problem = in_box(problem, 0, 1);
    const Outcome outcome = solve<TestType>(problem);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(outcome.x[0] == 1);
    CHECK(std::fabs(outcome.x[1] - 0.75) < 1e-4);
    CHECK(outcome.iterations <= 5); // in exact arithmetic 1: the Hessian is the identity, and -g leads to the minimiser
}

CONFIGURED_TEST_CASE("A solve converges if thousands of breakpoints lie before a Cauchy point", "[solution]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    const KnownQuadratic known = quadratic_with_many_breakpoints(60000);
    Harness<TestType> harness(known.problem, 5);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, wide ? 1e-9 : 1e-5);
    int64_t most_in_one = 0, so_far = 0;
    while (harness.step() > 0) {
        const int64_t crossed = harness.get_int(CUDA_OPT_BREAKPOINTS_CROSSED);
        most_in_one = std::max(most_in_one, crossed - so_far);
        so_far = crossed;
    }
    const Outcome outcome = harness.outcome();
    check_promises<TestType>(known.problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(most_in_one > 4096);
    CHECK(distance(outcome.x, known.minimiser) <= (wide ? 1e-5 : 0.02));
}
