// At these starts f and g give almost no information about the distance to the minimum. The first step is therefore too
// short or too long by any factor, and the solve must still converge. The minima are known in closed form.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

enum class Sides { none, upper, both };

// f = of_f (constant + sum w_i ((x_i / at - 1)^2 - 1)) with w from 1 to 2. The minimiser x_i = at is inside all bounds.
Problem bowl(double at, double start, double constant, double of_f, Sides sides) {
    constexpr int n = 6;
    Problem problem{"bowl", Vector(n, start), [=](const Vector &x, Vector &g) {
                        double f = constant;
                        for (int i = 0; i < n; i++) {
                            const double w = 1 + i / (n - 1.0), y = x[i] / at;
                            f += w * y * (y - 2);
                            g[i] = of_f * (2 * w * (y - 1) / at);
                        }
                        return of_f * f;
                    }};
    for (int i = 0; i < n; i++) problem.start[i] *= 1 + i % 2;
    if (sides != Sides::none) problem.upper = Vector(n, 4 * at);
    if (sides == Sides::both) problem.lower = Vector(n, -3 * at);
    return problem;
}

// All convergence tests are disabled, so that the solve ends where rounding errors of f hide further progress, or at
// the limit of iterations. Chance decides how many evaluations this takes; what is certain is how close to the minimum
// it is. `terms` is the sum of the absolute values of the terms of f. Within the distance below, the decrease of f is
// smaller than 100 of its rounding errors, where CUDA_OPT_ROUNDING may end a solve.
template <class Configuration> void check_found(const Problem &problem, double at, double terms = 0) {
    constexpr bool single = sizeof(typename Configuration::Real) == 4;
    const double distance = std::fmax(single ? 1e-3 : 1e-6, std::sqrt(100 * 0x1p-53 * terms));
    for (const int metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
        Harness<Configuration> harness(problem, 5);
        harness.set_int(CUDA_OPT_METRIC, metric).set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 100);
        const Outcome outcome = harness.run();
        CAPTURE(metric, outcome.task, outcome.message, outcome.evaluations);
        check_promises<Configuration>(problem, outcome);
        double furthest = 0;
        for (const double x : outcome.x) furthest = std::max(furthest, std::fabs(x / at - 1));
        CHECK(furthest <= distance);
    }
}

} // namespace

CONFIGURED_TEST_CASE("A start near 0 with the minimum at 1 converges", "[starts]", HostDouble, HostFloat, CudaDouble,
                     CudaFloat) {
    if (skipped<TestType>()) return;
    constexpr bool single = sizeof(typename TestType::Real) == 4;
    const std::vector<double> starts =
        single ? std::vector<double>{0, 1.5e-45, 1e-40, 1e-35, 1e-30, 1e-25, 1e-20, 1e-12, 1e-6}
               : std::vector<double>{0,     4.9e-324, 1e-308, 1e-250, 1e-170, 1e-160, 1e-140, 1e-100,
                                     1e-60, 1e-40,    1e-30,  1e-25,  1e-20,  1e-12,  1e-6};
    for (const double start : starts)
        for (const double constant : {9.0, 0.0, 1e4})
            for (const Sides sides : {Sides::none, Sides::upper, Sides::both}) {
                CAPTURE(start, constant, static_cast<int>(sides));
                check_found<TestType>(bowl(1, start, constant, 1, sides), 1, constant + 18);
            }
}

// From 2^26 ||x|| no correction pair could be formed here. The step is therefore as long as from 0. With a learned
// diagonal f, which is next to 0, shortens it 1000 times.
CONFIGURED_TEST_CASE("The first step from a start that is too close to 0 to have a scale is not shortened", "[starts]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const double start : {4.9e-324, 1e-308, 1e-250, 1e-170})
        for (const Sides sides : {Sides::none, Sides::upper})
            for (const int metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
                CAPTURE(start, static_cast<int>(sides), metric);
                Harness<TestType> harness(bowl(1, start, 0, 1, sides), 5);
                harness.set_int(CUDA_OPT_METRIC, metric);
                REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
                REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
                double squares = 0;
                for (const double x : harness.outcome().x) squares += x * x;
                CHECK(std::sqrt(squares) == Approx(metric == CUDA_OPT_METRIC_LEARNED ? 1e-3 : 1));
            }
}

CONFIGURED_TEST_CASE("A start near 0 in other units of x converges", "[starts]", HostDouble, HostFloat, CudaDouble,
                     CudaFloat) {
    if (skipped<TestType>()) return;
    for (const double at : {1e-20, 1e-9, 1e9})
        for (const double share : {0.5, 1e-3, 1e-10, 1e-15, 1e-20}) {
            CAPTURE(at, share);
            check_found<TestType>(bowl(at, at * share, 9, 1, Sides::none), at);
            check_found<TestType>(bowl(at, at * share, 9, 1, Sides::upper), at);
        }
}

// With bounds the classical first step is -g, which does not change f in floating point if g is small compared with f.
CONFIGURED_TEST_CASE("A start at or near 0 with f in other units converges", "[starts]", HostDouble, HostFloat,
                     CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    constexpr bool single = sizeof(typename TestType::Real) == 4;
    for (const double of_f :
         single ? std::vector<double>{1e-25, 1e-9, 1e9, 1e15} : std::vector<double>{1e-100, 1e-9, 1e100})
        for (const double start : {0.0, 1e-40, 1e-25, 1e-12})
            for (const Sides sides : {Sides::none, Sides::upper, Sides::both}) {
                CAPTURE(of_f, start, static_cast<int>(sides));
                check_found<TestType>(bowl(1, start, 9, of_f, sides), 1);
            }
}

// Without bounds or with bounds on one side the first step has the length 1 along -g, so that t = 1 / |g|. It is too
// long here, and t is below stpmin from |g| = 1e20 on.
CONFIGURED_TEST_CASE("A first step that is too long with f in other units does not prevent convergence", "[starts]",
                     HostDouble, HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    constexpr bool single = sizeof(typename TestType::Real) == 4;
    for (const double of_f : single ? std::vector<double>{1, 1e15, 1e18, 1e25, 1e30}
                                    : std::vector<double>{1, 1e15, 1e18, 1e25, 1e60, 1e140})
        for (const double at : {1e-2, 1e-6})
            for (const Sides sides : {Sides::none, Sides::upper}) {
                CAPTURE(of_f, at, static_cast<int>(sides));
                check_found<TestType>(bowl(at, 2 * at, 9, of_f, sides), at);
            }
}

// Data of size 1 are fitted by columns of size 1e-9 with x >= 0. The classical first step changes f by a relative
// 1e-18.
CONFIGURED_TEST_CASE("Non-negative least squares with small columns converges from 0", "[starts]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    constexpr double column = 1e-9;
    Problem problem{"small columns", Vector(6), [](const Vector &x, Vector &g) {
                        double f = 0;
                        for (std::size_t i = 0; i < x.size(); i++) {
                            const double residual = column * x[i] - 1;
                            f += residual * residual / 2;
                            g[i] = column * residual;
                        }
                        return f;
                    }};
    problem.lower = Vector(6);
    check_found<TestType>(problem, 1 / column);
}

// Nonnegative factors x_0 x_1 = 1, x_2 x_3 = 1, ...: 0 is a stationary point, but no minimum. At the start the gradient
// is longer than the projected gradient, because the bounds are closer. A first step along the projected gradient path
// with the length of g would end at 0.
CONFIGURED_TEST_CASE("The first step within bounds is not longer than the projected gradient", "[starts]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    for (const double scale : {2.0, 5.0, 30.0})
        for (const int metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
            std::vector<double> distances;
            Problem problem{"products", Vector(6, scale), [&](const Vector &x, Vector &g) {
                                double f = 0, squares = 0;
                                for (std::size_t i = 0; i < x.size(); i += 2) {
                                    const double residual = x[i] * x[i + 1] - 1;
                                    f += residual * residual / 2;
                                    g[i] = residual * x[i + 1], g[i + 1] = residual * x[i];
                                }
                                for (const double x_i : x) squares += (x_i - scale) * (x_i - scale);
                                distances.push_back(std::sqrt(squares));
                                return f;
                            }};
            problem.lower = Vector(6);
            Harness<TestType> harness(problem, 5);
            harness.set_int(CUDA_OPT_METRIC, metric);
            const Outcome outcome = harness.run();
            CAPTURE(scale, metric, outcome.message);
            CHECK(distances[1] <= 1 + 1e-5); // the first trial point is rounded to the precision of x
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
            CHECK(outcome.f < 1e-6);
        }
}

// If a line search ends while f still decreases, the next one takes longer steps, but their length is limited.
// Otherwise ||x|| would become so large that the test of ||P g|| against ||x|| would hold.
CONFIGURED_TEST_CASE("A function without a lower bound is never reported as converged", "[starts]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    const Problem problem{"linear", Vector(6), [](const Vector &x, Vector &g) {
                              double f = 0;
                              for (std::size_t i = 0; i < x.size(); i++) f -= x[i], g[i] = -1;
                              return f;
                          }};
    for (const int metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_METRIC, metric).set_int(CUDA_OPT_MAX_ITERATIONS, 50);
        const Outcome outcome = harness.run();
        CAPTURE(metric, outcome.message);
        CHECK(outcome.task < 0);
    }
}
