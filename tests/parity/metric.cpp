// These tests cover the learned diagonal: its purpose, its guarantees, and get_diagonal.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

// Stiffening springs to targets, with stiffnesses over 4 decades, and soft springs between neighbours.
Problem springs(int64_t n) {
    return {"springs", Vector(static_cast<std::size_t>(n), 0.0), [](const Vector &x, Vector &g) {
                const auto count = static_cast<int64_t>(x.size());
                std::fill(g.begin(), g.end(), 0.0);
                return pairwise_sum(0, count, [&](int64_t i) {
                    const double c = std::pow(10.0, static_cast<double>(i % 5) - 2),
                                 e = x[i] - 1.5 * std::sin(static_cast<double>(i)),
                                 between = i > 0 ? x[i] - x[i - 1] : 0;
                    g[i] += c * (e + 0.1 * e * e * e) + 0.005 * between;
                    if (i > 0) g[i - 1] -= 0.005 * between;
                    return c * (e * e / 2 + 0.025 * e * e * e * e) + 0.0025 * between * between;
                });
            }};
}

// One variable, f = c - x + a x^2 + b x^3, from x = 0.
Problem cubic(double c, double a, double b) {
    return {"cubic", {0.0}, [=](const Vector &x, Vector &g) {
                const double t = x[0];
                g[0] = -1 + 2 * a * t + 3 * b * t * t;
                return c - t + a * t * t + b * t * t * t;
            }};
}

// One variable, f = offset + (x - 3)^2 / 2.
Problem parabola(double start, double offset) {
    return {"parabola", {start}, [=](const Vector &x, Vector &g) {
                g[0] = x[0] - 3;
                return offset + g[0] * g[0] / 2;
            }};
}

// Returns the problem with f and x in other units, with a different unit for each variable.
Problem in_units(Problem problem, double of_f, double least, double most) {
    Vector unit(problem.start.size());
    for (std::size_t i = 0; i < unit.size(); i++)
        unit[i] = least * std::pow(most / least, static_cast<double>(i) / static_cast<double>(unit.size()));
    for (Vector *values : {&problem.start, &problem.lower, &problem.upper})
        for (std::size_t i = 0; i < values->size(); i++) (*values)[i] *= unit[i];
    problem.evaluate = [=, honest = problem.evaluate](Vector x, Vector &g) {
        for (std::size_t i = 0; i < x.size(); i++) x[i] /= unit[i];
        const double f = of_f * honest(x, g);
        for (std::size_t i = 0; i < x.size(); i++) g[i] *= of_f / unit[i];
        return f;
    };
    return problem;
}

template <class Configuration> Vector diagonal_of(Harness<Configuration> &harness) {
    using Real = typename Configuration::Real;
    std::vector<Real> values(static_cast<std::size_t>(harness.n()));
    REQUIRE(Abi<Real>::get_diagonal(harness.handle(), values.data()) == 0);
    return Vector(values.begin(), values.end());
}

} // namespace

CONFIGURED_TEST_CASE("A learned diagonal saves evaluations if the problem is badly scaled", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    std::vector<double> ratios;
    for (const bool bounded : {false, true})
        for (const bool approximate : {false, true})
            for (const int m : {1, 5, 12, 17, 23})
                for (const double start : {0.0, 0.5}) {
                    INFO("m = " << m << (bounded ? ", bounds" : "") << (approximate ? ", approximate" : ""));
                    Problem problem = springs(300);
                    problem.start.assign(problem.start.size(), start);
                    if (bounded) problem = in_box(problem, -1, 0.9);
                    const auto solved = [&](int64_t metric) {
                        Harness<TestType> harness(problem, m);
                        harness.set_int(CUDA_OPT_METRIC, metric).set_int(CUDA_OPT_APPROXIMATE_CAUCHY, approximate);
                        harness.set_real(CUDA_OPT_EPS, wide ? 1e-7 : 1e-3).set_int(CUDA_OPT_MAX_ITERATIONS, 0);
                        const Outcome outcome = harness.run();
                        check_promises<TestType>(problem, outcome);
                        CHECK(outcome.task == CUDA_OPT_CONVERGED);
                        return outcome;
                    };
                    const Outcome plain = solved(CUDA_OPT_METRIC_ONE_NUMBER), learned = solved(CUDA_OPT_METRIC_LEARNED);
                    CHECK(std::fabs(learned.f - plain.f) <= (wide ? 1e-7 : 1e-2) * (1 + std::fabs(plain.f)));
                    ratios.push_back(static_cast<double>(learned.evaluations) / static_cast<double>(plain.evaluations));
                }
    std::sort(ratios.begin(), ratios.end());
    if (wide) CHECK(ratios[ratios.size() / 2] < 0.9); // the median of 40 solves is about 0.3
}

CONFIGURED_TEST_CASE("A solve that begins from the sizes of the variables continues in another handle bitwise",
                     "[metric][checkpoint]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const auto begun = [] {
        Harness<TestType> harness(dose_responses()[0], 5);
        harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED);
        return harness;
    };
    Harness<TestType> harness = begun();
    const Outcome whole = harness.run();
    CHECK(harness.get_int(CUDA_OPT_REFRESHES) >= 8); // the first restart that begins so is the eighth
    Harness<TestType> from = begun();
    for (int call = 1; from.step() > 0; call++) {
        if (call % 5 > 0) continue;
        Harness<TestType> to = begun();
        to.load(from.save());
        const Outcome later = to.run();
        INFO("loaded after " << call << " calls");
        CHECK(later.x == whole.x);
        CHECK(later.f == whole.f);
        CHECK(later.evaluations == whole.evaluations);
    }
}

// Without a diagonal that begins from the sizes of the variables, f is above the minimum after 1000 evaluations. With
// FACTR = 0, rounding errors decide whether a step along -g still moves a variable before the eighth restart.
CONFIGURED_TEST_CASE("A curve in natural units is fitted by few evaluations", "[metric]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const int m : {5, 10, 40})
        for (const Problem &problem : dose_responses()) {
            Harness<TestType> harness(problem, m);
            harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_real(CUDA_OPT_FACTR, 1e7);
            const Outcome outcome = harness.run();
            INFO(problem.name << ", m = " << m << ": f = " << outcome.f << ", " << outcome.evaluations);
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
            CHECK(outcome.f < 1.01 * dose_response_minimum);
            CHECK(outcome.evaluations < 500); // all take 80 to 150
        }
}

CONFIGURED_TEST_CASE("With a learned diagonal theta is the curvature at the end of the step", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    struct {
        double c, a, b;
        bool learned;
        double theta;
    } const cases[] = {
        {10, 0.5, 0.2, false, 1.6}, // (g(1) - g(0)) / 1
        {10, 0.5, 0.2, true, 2.2},  // f''(1)
        {10, 0.8, -0.1, true, 1},   // f''(1), lower than the mean
        {10, -1.5, 2, true, 6},     // f''(1) = 9 is more than twice the mean
        {10, 1.2, -0.4, true, 0.6}, // f''(1) = 0 is less than half of it
        {3e6, 0.5, 0.2, true, 1.6}, // the decrease of f is lost in rounding errors
    };
    for (const auto &c : cases) {
        INFO("f = " << c.c << " - x + " << c.a << " x^2 + " << c.b << " x^3" << (c.learned ? ", learned" : ""));
        Harness<TestType> harness(cubic(c.c, c.a, c.b), 5);
        harness.set_int(CUDA_OPT_METRIC, c.learned ? CUDA_OPT_METRIC_LEARNED : CUDA_OPT_METRIC_ONE_NUMBER);
        harness.set_int(CUDA_OPT_MAX_ITERATIONS, 1);
        harness.run();
        CHECK(harness.get_real(CUDA_OPT_THETA) == Approx(c.theta).epsilon(5e-3)); // y may be stored in 16 bits
    }
}

CONFIGURED_TEST_CASE("With a learned diagonal the line search accepts a positive slope", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const bool bounded : {false, true})
        for (const int64_t metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
            Problem problem = cubic(10, -1.5, 2); // f(1) = f(0) - 1/2, f'(1) = -2 f'(0)
            if (bounded) problem = in_box(problem, 0, 5), problem.upper[0] = INFINITY;
            Harness<TestType> harness(problem, 5);
            harness.set_int(CUDA_OPT_METRIC, metric).set_int(CUDA_OPT_MAX_ITERATIONS, 1);
            const Outcome outcome = harness.run();
            INFO("initial Hessian " << metric << (bounded ? ", bounds" : ""));
            CHECK((outcome.evaluations == 2) == (metric == CUDA_OPT_METRIC_LEARNED));
            CHECK(harness.get_int(CUDA_OPT_LINE_SEARCH_INFO) == 1);
        }
    // The other part of the curvature condition still applies: f'(1) = 0.95 f'(0) is too steep a descent.
    Harness<TestType> harness(cubic(10, 0.025, 0), 5);
    harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 1);
    CHECK(harness.run().evaluations > 2);
}

CONFIGURED_TEST_CASE("With a learned diagonal the length of the first step is estimated from f", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    enum { unbounded, one_sided, boxed };
    struct {
        double start, offset;
        int bounds;
        double length; // 2 f / |g|, and at most the usual length: 1, or |g| with two bounds
    } const cases[] = {
        {1, 0, unbounded, 1},
        {2.75, 0, unbounded, 0.25},
        {2.75, 0.03125, unbounded, 0.5},
        {1, 0, one_sided, 1},
        {2.75, 0, one_sided, 0.25},
        {2.75, -0.0625, one_sided, 0.25},
        {1, 0, boxed, 2},
        {2.75, 0.25, boxed, 0.25},
        {2, -0.5, unbounded, 1},           // f = 0 gives no estimate
        {2, -0.5 + 1e-6, unbounded, 1e-3}, // f near 0 gives a poor one
        {2, -0.5 - 1e-6, one_sided, 1e-3},
    };
    for (const auto &c : cases) {
        INFO("from " << c.start << ", offset " << c.offset << ", bounds " << c.bounds);
        Problem problem = parabola(c.start, c.offset);
        if (c.bounds == one_sided) problem.lower = {0};
        if (c.bounds == boxed) problem = in_box(problem, -10, 10);
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED);
        REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
        REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
        CHECK(harness.outcome().x[0] - c.start == Approx(c.length).epsilon(1e-3));
    }
}

CONFIGURED_TEST_CASE("get_diagonal returns the scalar or the given or the learned diagonal", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = springs(700);
    for (const int64_t metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_DIAGONAL, CUDA_OPT_METRIC_LEARNED}) {
        INFO("initial Hessian " << metric);
        Harness<TestType> harness(problem, 5);
        harness.with_diagonal([](const Vector &, const Vector &, Vector &diagonal) {
            for (std::size_t i = 0; i < diagonal.size(); i++) diagonal[i] = 0.25 + static_cast<double>(i % 4);
        });
        harness.set_int(CUDA_OPT_METRIC, metric).set_int(CUDA_OPT_MAX_ITERATIONS, 40);
        harness.set_real(CUDA_OPT_EPS, 0);
        typename TestType::Real nothing[700];
        CHECK(Abi<typename TestType::Real>::get_diagonal(harness.handle(), nothing) == CUDA_OPT_MISUSE);
        CHECK_THAT(cuda_opt_message(harness.handle()), Catch::Contains("no solve has begun"));
        harness.run();
        const Vector diagonal = diagonal_of(harness);
        const double theta = harness.get_real(CUDA_OPT_THETA);
        const auto [least, most] = std::minmax_element(diagonal.begin(), diagonal.end());
        CHECK((*least > 0 && std::isfinite(*most)));
        if (metric == CUDA_OPT_METRIC_ONE_NUMBER) {
            CHECK(*least == *most);
            CHECK(*least == Approx(1 / theta).epsilon(1e-6));
        } else if (metric == CUDA_OPT_METRIC_DIAGONAL) {
            for (std::size_t i = 0; i < diagonal.size(); i++) CHECK(diagonal[i] == 0.25 + static_cast<double>(i % 4));
        } else { // A part of the four decades is learned, and the elements have the order of the reciprocal curvatures.
            CHECK(*most > 10 * *least);
            for (std::size_t i = 4; i < diagonal.size(); i += 5) CHECK(diagonal[i] < diagonal[i - 4]);
        }
    }
}

CONFIGURED_TEST_CASE("get_diagonal refuses a null pointer and an array of another precision", "[metric]", HostDouble,
                     HostFloat) {
    Harness<TestType> harness(springs(7), 5);
    harness.step();
    double wide[7];
    float narrow[7];
    const bool single = sizeof(typename TestType::Real) == 4;
    const int wrong =
        single ? cuda_opt_get_diagonal(harness.handle(), wide) : cuda_opt_get_diagonal_f32(harness.handle(), narrow);
    CHECK(wrong == CUDA_OPT_MISUSE);
    CHECK_THAT(cuda_opt_message(harness.handle()), Catch::Contains("another precision"));
    CHECK(Abi<typename TestType::Real>::get_diagonal(harness.handle(), nullptr) == CUDA_OPT_MISUSE);
    CHECK_THAT(cuda_opt_message(harness.handle()), Catch::Contains("NULL"));
}

CONFIGURED_TEST_CASE("With a learned diagonal extreme units of f and x end the solve with a return code", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    const std::vector<double> units =
        wide ? std::vector<double>{1e-150, 1e-60, 1, 1e60, 1e150} : std::vector<double>{1e-30, 1e-12, 1, 1e12, 1e30};
    for (const double of_f : units)
        for (const double least : units)
            for (const double most : units)
                for (const bool bounded : {false, true}) {
                    INFO("f times " << of_f << ", x from " << least << " to " << most << (bounded ? ", bounds" : ""));
                    const Problem valley = bounded ? in_box(extended_rosenbrock(20), -2, 0.8) : extended_rosenbrock(20);
                    const Problem problem = in_units(valley, of_f, least, most);
                    Harness<TestType> harness(problem, 5);
                    harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED);
                    harness.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 40);
                    harness.set_int(CUDA_OPT_MAX_EVALUATIONS, 120);
                    const Outcome outcome = harness.run();
                    CHECK(outcome.outside == 0);
                    CHECK(outcome.task <= 0);
                    if (outcome.task == CUDA_OPT_NOT_FINITE) continue; // mostly at the start
                    CHECK(std::isfinite(harness.get_real(CUDA_OPT_THETA)));
                    for (const double h : diagonal_of(harness))
                        if (!(h >= 0)) FAIL("an element of the diagonal is " << h); // 1 / theta may be out of range
                }
}

CONFIGURED_TEST_CASE("With a learned diagonal repeated solves are bitwise identical", "[metric]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {torsion(40, 40), in_box(springs(20001), -1, 0.9), extended_wood(1000)}) {
        INFO(problem.name);
        Harness<TestType> harness(problem, 5), other(problem, 5);
        harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 60);
        other.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 60);
        other.set_int(CUDA_OPT_THREADS, 3); // for the host backend
        const Outcome first = harness.run(), beside = other.run();
        const Vector diagonal = diagonal_of(harness);
        check_promises<TestType>(problem, first);
        CHECK(first.x == beside.x);
        CHECK(first.f == beside.f);
        CHECK(diagonal == diagonal_of(other));
        harness.restart();
        const Outcome again = harness.run();
        CHECK(first.x == again.x);
        CHECK(first.g == again.g);
        CHECK(first.message == again.message);
        CHECK(diagonal == diagonal_of(harness));
    }
}

CONFIGURED_TEST_CASE("With a learned diagonal CUDA computes the iterates of the host", "[metric]", CudaDouble,
                     CudaFloat) {
    if (skipped<TestType>()) return;
    using Host = std::conditional_t<sizeof(typename TestType::Real) == 8, HostDouble, HostFloat>;
    const bool wide = sizeof(typename TestType::Real) == 8;
    for (const bool bounded : {false, true})
        for (const int m : {1, 5, 17}) {
            INFO("m = " << m << (bounded ? ", bounds" : ""));
            Problem problem = springs(5000);
            if (bounded) problem = in_box(problem, -1, 0.9);
            Harness<TestType> here(problem, m);
            Harness<Host> there(problem, m);
            here.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 12);
            there.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 12);
            const Outcome a = here.run(), b = there.run();
            if (wide) {
                Harness<Host> other(moved(problem), m);
                other.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 12);
                const Outcome c = other.run();
                check_same_iterates(a, b, c, 1e-8, 12);
                if (certain_iterates(b, c) < 12) continue;
            }
            REQUIRE(a.history.size() == b.history.size());
            for (std::size_t k = 0; k < a.history.size() && !wide; k++)
                CHECK(a.history[k].f == Approx(b.history[k].f).epsilon(1e-3));
            const Vector learned = diagonal_of(here), expected = diagonal_of(there);
            for (std::size_t i = 0; i < learned.size(); i++)
                if (!(std::fabs(learned[i] - expected[i]) <= (wide ? 1e-6 : 0.05) * expected[i]))
                    FAIL("h_" << i << " = " << learned[i] << ", not " << expected[i]);
        }
}

CONFIGURED_TEST_CASE("The learned diagonal is discarded if a solve uses another initial Hessian", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = springs(300);
    const auto bytes_after = [&](int64_t metric) {
        Harness<TestType> harness(problem, 9);
        if (metric == CUDA_OPT_METRIC_DIAGONAL)
            harness.with_diagonal(
                [](const Vector &, const Vector &, Vector &h) { std::fill(h.begin(), h.end(), 0.5); });
        harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 30).run();
        REQUIRE(cuda_opt_warm_start(harness.handle()) == 0);
        harness.set_int(CUDA_OPT_METRIC, metric);
        REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
        if (metric == CUDA_OPT_METRIC_ONE_NUMBER) {
            const Vector told = diagonal_of(harness);
            CHECK(told == Vector(told.size(), told[0]));
        }
        int64_t bytes = 0;
        REQUIRE(cuda_opt_save(harness.handle(), nullptr, &bytes) == 0);
        std::vector<unsigned char> checkpoint(static_cast<std::size_t>(bytes));
        REQUIRE(cuda_opt_save(harness.handle(), checkpoint.data(), &bytes) == 0);
        return bytes;
    };
    // The caller's array is not part of a checkpoint, because a load would have to write to it.
    CHECK(bytes_after(CUDA_OPT_METRIC_DIAGONAL) == bytes_after(CUDA_OPT_METRIC_ONE_NUMBER));
}

CONFIGURED_TEST_CASE("A warm start with another initial Hessian keeps the correction pairs", "[metric]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    const int64_t metrics[] = {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_DIAGONAL, CUDA_OPT_METRIC_LEARNED};
    for (const bool bounded : {false, true})
        for (const int64_t before : metrics)
            for (const int64_t after : metrics) {
                INFO("from initial Hessian " << before << " to " << after << (bounded ? ", bounds" : ""));
                Problem problem = springs(300);
                if (bounded) problem = in_box(problem, -1, 0.9);
                Harness<TestType> harness(problem, 9);
                harness.with_diagonal([](const Vector &, const Vector &, Vector &diagonal) {
                    std::fill(diagonal.begin(), diagonal.end(), 0.5);
                });
                harness.set_real(CUDA_OPT_EPS, wide ? 1e-7 : 1e-4);
                harness.set_int(CUDA_OPT_METRIC, before);
                const Outcome first = harness.run();
                REQUIRE(first.task == CUDA_OPT_CONVERGED);
                REQUIRE(cuda_opt_warm_start(harness.handle()) == 0);
                harness.set_int(CUDA_OPT_METRIC, after);
                const int64_t pairs = harness.get_int(CUDA_OPT_PAIRS);
                CHECK(pairs == std::min<int64_t>(9, first.iterations));
                harness.write_x(problem.start);
                REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
                REQUIRE(harness.step() > 0);
                CHECK(harness.get_int(CUDA_OPT_PAIRS) == pairs);
                const Outcome second = harness.run();
                CHECK(second.task == CUDA_OPT_CONVERGED);
                CHECK(second.outside == 0);
                CHECK(std::fabs(second.f - first.f) <= (wide ? 1e-7 : 1e-3) * (1 + std::fabs(first.f)));
            }
}
