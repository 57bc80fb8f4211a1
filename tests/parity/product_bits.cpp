// These tests cover CUDA_OPT_PRODUCT_BITS: inner products may be formed in single precision without a loss of the
// guarantees.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

template <class Configuration> Outcome solve_with(const Problem &problem, int m, int bits, int64_t iterations) {
    Harness<Configuration> harness(problem, m);
    harness.set_int(CUDA_OPT_PRODUCT_BITS, bits).set_int(CUDA_OPT_MAX_ITERATIONS, iterations);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, sizeof(typename Configuration::Real) == 8 ? 1e-4 : 1e-3);
    return harness.run();
}

// Returns the problem with f times a power of two, so that the squares of g exceed the range of single precision.
Problem scaled(Problem problem, double factor) {
    const auto evaluate = problem.evaluate;
    problem.evaluate = [=](const Vector &x, Vector &g) {
        const double f = evaluate(x, g);
        for (double &v : g) v *= factor;
        return f * factor;
    };
    return problem;
}

} // namespace

CONFIGURED_TEST_CASE("With products in single precision a solve converges to the same f", "[product bits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // From 8 starts that differ by rounding errors, f at the end differs by at most 4e-4 in single precision and 8e-7
    // in double precision. The problems have one minimum.
    const double tolerance = sizeof(typename TestType::Real) == 8 ? 1e-5 : 2e-3;
    for (const Problem &problem : {torsion(40, 40), quadratic_with_known_active_set(1000).problem, extended_wood(1000)})
        for (const int m : {1, 5, 8, 20, 25}) {
            INFO(problem.name << ", m = " << m);
            const Outcome in_double = solve_with<TestType>(problem, m, 64, 2000),
                          in_single = solve_with<TestType>(problem, m, 32, 2000);
            check_promises<TestType>(problem, in_single);
            CHECK(in_double.task == CUDA_OPT_CONVERGED);
            CHECK(in_single.task == CUDA_OPT_CONVERGED);
            CHECK(in_single.f == Approx(in_double.f).epsilon(tolerance).margin(tolerance));
        }
}

CONFIGURED_TEST_CASE("With products in single precision f of the first 6 iterates agrees to 1e-3", "[product bits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem inner_torsion = torsion(60, 60); // rounding errors could decide among the equal breakpoints of the start
    for (double &x : inner_torsion.start) x *= 0.5;
    for (const Problem &problem : {inner_torsion, extended_rosenbrock(20000)}) {
        INFO(problem.name);
        const Outcome in_double = solve_with<TestType>(problem, 5, 64, 6),
                      in_single = solve_with<TestType>(problem, 5, 32, 6);
        REQUIRE(in_single.history.size() == in_double.history.size());
        for (std::size_t k = 0; k < in_double.history.size(); k++) {
            INFO("iteration " << k + 1);
            CHECK(in_single.history[k].f == Approx(in_double.history[k].f).epsilon(1e-3));
        }
    }
}

CONFIGURED_TEST_CASE("Two solves with products in single precision are bitwise identical", "[product bits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(70, 70);
    const Outcome first = solve_with<TestType>(problem, 8, 32, 100), second = solve_with<TestType>(problem, 8, 32, 100);
    CHECK(first.f == second.f);
    CHECK(first.x == second.x);
    CHECK(first.evaluations == second.evaluations);
}

CONFIGURED_TEST_CASE("A solve converges if the products exceed the range of single precision", "[product bits]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool single = sizeof(typename TestType::Real) == 4;
    for (const int power : {-60, -45, 45, 60}) { // the squares range from 2^-120 to 2^120 and beyond
        INFO("f times 2^" << power);
        const Problem problem = scaled(torsion(20, 20), std::ldexp(1, power));
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_PRODUCT_BITS, 32).set_real(CUDA_OPT_EPS, 0);
        harness.set_real(CUDA_OPT_PGTOL, std::ldexp(single ? 1e-3 : 1e-6, power));
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        check_promises<TestType>(problem, outcome);
    }
}
