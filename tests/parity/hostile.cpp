// These tests use functions and numbers at the limits of the floating-point range. Every call returns, every evaluation
// point is in the box, and the message at the end is true.
#include <catch2/catch.hpp>
#include <limits>
#include <memory>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

constexpr double largest = std::numeric_limits<double>::max();

// f = sum of exp(x_i) + exp(-2 x_i). Its curvatures at the start are about 1e152 and 1e87.
Problem exponentials() {
    Problem problem{"exponentials", {350, 200}, [](const Vector &x, Vector &g) {
                        double f = 0;
                        for (std::size_t i = 0; i < x.size(); i++) {
                            const double up = std::exp(x[i]), down = std::exp(-2 * x[i]);
                            f += up + down;
                            g[i] = up - 2 * down;
                        }
                        return f;
                    }};
    return in_box(problem, -100, 400);
}

// Returns the problem with its k-th evaluation (from 1) changed by spoil(f, g).
template <class Spoil> Problem spoilt(Problem problem, int k, Spoil spoil) {
    auto count = std::make_shared<int>(0);
    problem.evaluate = [=, honest = problem.evaluate](const Vector &x, Vector &g) {
        double f = honest(x, g);
        if (++*count == k) spoil(f, g);
        return f;
    };
    return problem;
}

// Returns the problem of_f f(x / of_x), which is the given one in other units.
Problem in_units(Problem problem, double of_f, double of_x) {
    for (Vector *values : {&problem.start, &problem.lower, &problem.upper})
        for (double &v : *values) v *= of_x;
    problem.evaluate = [=, honest = problem.evaluate](Vector x, Vector &g) {
        for (double &v : x) v /= of_x;
        const double f = of_f * honest(x, g);
        for (double &v : g) v *= of_f / of_x;
        return f;
    };
    return problem;
}

template <class Configuration> void check_end(Harness<Configuration> &harness) {
    const Outcome outcome = harness.run();
    CHECK(outcome.outside == 0);
    CHECK(outcome.task <= 0);
}

} // namespace

// float and bfloat16 cannot represent numbers beyond 3.4e38, nor nonzero numbers below 1e-45 and 9e-41.
CONFIGURED_TEST_CASE("Units beyond the range of the history precision cause no false report", "[hostile]", HostDouble,
                     HostDouble32, HostDouble16, CudaDouble, CudaDouble32, CudaDouble16) {
    if (skipped<TestType>()) return;
    for (const double of_f : {1.0, 1e-150, 1e-45, 1e-40, 1e38, 1e45, 1e150})
        for (const double of_x : {1.0, 1e-60, 1e-45, 1e-40, 1e-30, 1e30, 1e38, 1e60})
            for (const bool bounded : {false, true}) {
                INFO("f times " << of_f << ", x times " << of_x << (bounded ? ", bounds" : ""));
                const Problem valley = bounded ? in_box(extended_rosenbrock(20), -2, 0.8) : extended_rosenbrock(20);
                const Problem problem = in_units(valley, of_f, of_x);
                Harness<TestType> harness(problem, 5);
                harness.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 60);
                harness.set_int(CUDA_OPT_MAX_EVALUATIONS, 200);
                REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
                const double f_start = harness.outcome().f;
                const Outcome outcome = harness.run();
                check_promises<TestType>(problem, outcome);
                CHECK(outcome.f <= f_start);
                CHECK((outcome.iterations > 0) == (outcome.f < f_start));
                CHECK(std::isfinite(harness.get_real(CUDA_OPT_THETA)));
                CHECK(harness.get_int(CUDA_OPT_PAIRS) <=
                      outcome.iterations - harness.get_int(CUDA_OPT_SKIPPED_UPDATES));
                CHECK(outcome.message.find("nan") == std::string::npos);
                INFO(outcome.message);
                switch (outcome.task) {
                case CUDA_OPT_CONVERGED:
                    if (harness.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_ROUNDING) {
                        CHECK_THAT(outcome.message, Catch::Contains("no lower f than"));
                        break;
                    }
                    CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_PGTOL);
                    CHECK(harness.get_real(CUDA_OPT_PG_NORM_INF) == 0);
                    break;
                case CUDA_OPT_ITERATION_LIMIT: CHECK(outcome.iterations == 60); break;
                case CUDA_OPT_EVALUATION_LIMIT: CHECK(outcome.evaluations == 200); break;
                default:
                    CHECK(outcome.task == CUDA_OPT_LINE_SEARCH_FAILED);
                    CHECK_THAT(outcome.message, Catch::Contains("the line search failed") ||
                                                    Catch::Contains("no descent direction is left"));
                }
            }
}

CONFIGURED_TEST_CASE("A correction pair whose y cannot be stored is skipped", "[hostile]", HostDouble32, HostDouble16,
                     CudaDouble32, CudaDouble16) {
    if (skipped<TestType>()) return;
    for (const double of_f : {1e45, 1e-50, 1e38}) {
        INFO("f times " << of_f);
        Harness<TestType> harness(in_units(extended_rosenbrock(20), of_f, 1), 5);
        harness.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 30);
        const Outcome outcome = harness.run();
        REQUIRE(outcome.task == CUDA_OPT_ITERATION_LIMIT);
        const int64_t left_out = harness.get_int(CUDA_OPT_SKIPPED_UPDATES);
        if (of_f == 1e38) { // only the first pairs
            CHECK((left_out > 0 && left_out < 30));
            CHECK(harness.get_int(CUDA_OPT_PAIRS) > 0);
        } else {
            CHECK(left_out == 30);
            CHECK(harness.get_int(CUDA_OPT_PAIRS) == 0);
        }
        CHECK(outcome.f < 0.5 * outcome.history.front().f); // the solve continues without these pairs
    }
}

CONFIGURED_TEST_CASE("A solve converges although a curvature overflows", "[hostile]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(exponentials(), 5);
    const Outcome outcome = harness.run();
    CHECK(outcome.outside == 0);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    for (const double x : outcome.x) CHECK(x == Approx(std::log(2.0) / 3).margin(1e-4)); // exp(x) = 2 exp(-2x)
}

CONFIGURED_TEST_CASE("A gradient element of 1e80 at one trial point does not prevent termination", "[hostile]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const double size = sizeof(typename TestType::Real) == 8 ? 1e80 : 1e30;
    for (int k = 1; k <= 12; k++) {
        INFO("evaluation " << k);
        const Problem problem =
            spoilt(in_box(extended_rosenbrock(20), -2, 2), k, [=](double &, Vector &g) { g[3] = size; });
        Harness<TestType> harness(problem, 5);
        check_end(harness);
    }
}

CONFIGURED_TEST_CASE("Diagonal elements from 1e-300 to 1e300 do not prevent termination", "[hostile]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    for (const double element : {1e160, 1e-160, 1e300, 1e-300})
        for (const bool bounded : {false, true}) {
            INFO("element " << element << (bounded ? ", bounds" : ""));
            Harness<TestType> harness(bounded ? in_box(extended_rosenbrock(20), -2, 2) : extended_rosenbrock(20), 5);
            harness.with_diagonal([=](const Vector &, const Vector &, Vector &h) {
                std::fill(h.begin(), h.end(), 1.0);
                h[3] = element;
            });
            harness.set_int(CUDA_OPT_MAX_EVALUATIONS, 500);
            check_end(harness);
        }
}

CONFIGURED_TEST_CASE("With f near the largest number at one trial point x stays finite", "[hostile]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double f_there : {1.7e308, largest, -largest, 1e200})
        for (int k = 2; k <= 8; k++) {
            INFO("f = " << f_there << " at evaluation " << k);
            const Problem problem = spoilt(extended_rosenbrock(20), k, [=](double &f, Vector &) { f = f_there; });
            Harness<TestType> harness(problem, 5);
            check_end(harness);
        }
}

CONFIGURED_TEST_CASE("If squares of g underflow or overflow x stays finite", "[hostile]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const double scale : {1e-320, 1e-200, 1e-160, 1e160, 1e200, 1e300}) {
        INFO("f is multiplied by " << scale);
        Problem problem = scaled_quadratic(10, 1);
        problem.evaluate = [scale, honest = problem.evaluate](const Vector &x, Vector &g) {
            const double f = honest(x, g) * scale;
            for (double &component : g) component *= scale;
            return f;
        };
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 200);
        const Outcome outcome = harness.run();
        CHECK(outcome.outside == 0);
        CHECK(outcome.task <= 0);
        CHECK(std::isfinite(harness.get_real(CUDA_OPT_PG_NORM2)));
    }
}

CONFIGURED_TEST_CASE("A function that falls to -1e163 leads to no NaN in x", "[hostile]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem problem{"cubic", Vector(3, -1.0), [](const Vector &x, Vector &g) {
                              double f = 0;
                              for (std::size_t i = 0; i < x.size(); i++) {
                                  f += x[i] * x[i] * x[i];
                                  g[i] = 3 * x[i] * x[i];
                              }
                              return f;
                          }};
    for (const double stpmax : {1e10, 1e20, 1e300}) {
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_STPMAX, stpmax).set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 300);
        check_end(harness);
    }
}

CONFIGURED_TEST_CASE("A line search without an acceptable step takes its lowest point", "[hostile]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // No step near a kink satisfies the curvature condition.
    const Problem kink{"|x|", Vector(1, 1.3), [](const Vector &x, Vector &g) {
                           g[0] = x[0] < 0 ? -1 : 1;
                           return std::fabs(x[0]);
                       }};
    Harness<TestType> harness(kink, 5);
    const Outcome outcome = harness.run();
    CHECK(outcome.outside == 0);
    CHECK(outcome.f < 1e-3);
    for (const Iterate &iterate : outcome.history) CHECK(outcome.f <= iterate.f);

    Harness<TestType> as_3_0(kink, 5);
    as_3_0.set_int(CUDA_OPT_ROBUST, 0);
    const Outcome given_up = as_3_0.run();
    CHECK(given_up.task == CUDA_OPT_LINE_SEARCH_FAILED);
    CHECK(given_up.message.find("was found, but not accepted") !=
          std::string::npos); // the message reports that a lower point was found
}

CONFIGURED_TEST_CASE("The Rosenbrock function times 1e18 is minimised", "[hostile]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const bool one_sided : {false, true}) {
        Problem problem = extended_rosenbrock(20);
        if (one_sided) problem.lower = Vector(20, -5.0);
        problem.evaluate = [honest = problem.evaluate](const Vector &x, Vector &g) {
            const double f = honest(x, g) * 1e18;
            for (double &component : g) component *= 1e18;
            return f;
        };
        Harness<TestType> harness(problem, 5);
        // If g_i > 0, (P g)_i is at most the distance to the lower bound, so that a tolerance of this size would be
        // useless.
        harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, one_sided ? 0 : 1e13);
        harness.set_int(CUDA_OPT_MAX_ITERATIONS, 500);
        const Outcome outcome = harness.run();
        CHECK(outcome.task <= 0);
        for (const double x : outcome.x) CHECK(x == Approx(1).margin(1e-3));
    }
}

CONFIGURED_TEST_CASE("A requested stop ends the solve at the next call", "[hostile]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (int calls = 1; calls <= 12; calls++) {
        INFO("after " << calls << " calls");
        const Problem problem = in_box(extended_rosenbrock(20), -1.5, 0.8);
        Harness<TestType> harness(problem, 5);
        harness.with_diagonal([](const Vector &, const Vector &, Vector &h) { std::fill(h.begin(), h.end(), 1e-2); });
        for (int k = 0; k < calls; k++) REQUIRE(harness.step() > 0);
        REQUIRE(cuda_opt_request_stop(harness.handle()) == 0);
        CHECK(harness.step() == CUDA_OPT_STOPPED);
    }
}
