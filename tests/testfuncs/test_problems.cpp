// The manual's functions on the host: starts, minima, gradients, and what is refused.
#include <catch2/catch.hpp>

#include "evaluation.hpp"

#include <cstdio>

using namespace cudaopt::testfuncs;

namespace {

// The manual's five.
std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Facts &facts : list_problems()) all.push_back(facts.name);
    all.resize(5);
    return all;
}

double norm(const Vector &v) {
    long double sum = 0;
    for (const double a : v) sum += static_cast<long double>(a) * a;
    return static_cast<double>(std::sqrt(sum));
}

std::string printed(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%e", value);
    return text;
}

Vector random_point(int64_t n, unsigned seed) {
    std::mt19937_64 random(cudaopt_test::seed(seed));
    std::uniform_real_distribution<double> uniform(-2, 2);
    Vector x(n);
    for (double &value : x) value = static_cast<float>(uniform(random)); // a point of both precisions
    return x;
}

// The manual's formulas, written down once more, naively: i from 1.
long double formula(const std::string &name, const Vector &values) {
    const auto n = static_cast<int64_t>(values.size());
    const auto x = [&](int64_t i) { return static_cast<long double>(values[i - 1]); };
    const auto sq = [](long double a) { return a * a; };
    long double f = 0;
    if (name == "rosenbrock")
        for (int64_t i = 1; i <= n / 2; i++) f += 100 * sq(x(2 * i) - sq(x(2 * i - 1))) + sq(1 - x(2 * i - 1));
    if (name == "beale")
        for (int64_t i = 1; i <= n / 2; i++)
            f += sq(1.5L - x(2 * i - 1) * (1 - x(2 * i))) + sq(2.25L - x(2 * i - 1) * (1 - sq(x(2 * i)))) +
                 sq(2.625L - x(2 * i - 1) * (1 - x(2 * i) * sq(x(2 * i))));
    if (name == "powell")
        for (int64_t i = 1; i <= n / 4; i++)
            f += sq(x(4 * i - 3) + 10 * x(4 * i - 2)) + 5 * sq(x(4 * i - 1) - x(4 * i)) +
                 sq(sq(x(4 * i - 2) - 2 * x(4 * i - 1))) + 10 * sq(sq(x(4 * i - 3) - x(4 * i)));
    if (name == "wood")
        for (int64_t i = 1; i <= n / 4; i++)
            f += 100 * sq(sq(x(4 * i - 3)) - x(4 * i - 2)) + sq(x(4 * i - 3) - 1) +
                 90 * sq(sq(x(4 * i - 1)) - x(4 * i)) + sq(x(4 * i - 1) - 1) +
                 10.1L * (sq(x(4 * i - 2) - 1) + sq(x(4 * i) - 1)) + 19.8L * (x(4 * i - 2) - 1) * (x(4 * i) - 1);
    if (name == "trigonometric")
        for (int64_t i = 1; i <= n; i++) {
            long double r = n;
            for (int64_t j = 1; j <= n; j++) r -= std::cos(x(j));
            f += sq(r + i * (1 - std::cos(x(i))) - std::sin(x(i)));
        }
    return f;
}

} // namespace

TEST_CASE("The five functions of the manual are listed and each has a description") {
    CHECK(names() == std::vector<std::string>{"rosenbrock", "beale", "powell", "wood", "trigonometric"});
    for (const Facts &facts : list_problems()) {
        CAPTURE(facts.name);
        for (const std::string &text :
             {facts.title, facts.formula, facts.start, facts.minimum, facts.requirement, facts.source}) {
            CHECK_FALSE(text.empty());
            CHECK(text.find('\n') == std::string::npos);
        }
    }
}

TEST_CASE("f equals the formula of the manual") {
    for (const std::string &name : names())
        for (const int64_t n : {4, 8, 100}) {
            CAPTURE(name, n);
            const auto problem = make_problem(name, n);
            for (const Vector &x : {start_of(*problem), random_point(n, 1), random_point(n, 2)}) {
                const auto expected = static_cast<double>(formula(name, x));
                CHECK(std::fabs(evaluate(*problem, x).f - expected) <= 1e-13 * expected);
            }
        }
}

TEST_CASE("g agrees with central differences of f") {
    for (const std::string &name : names())
        for (unsigned seed = 1; seed <= 5; seed++) {
            CAPTURE(name, seed);
            const int64_t n = 12;
            const auto problem = make_problem(name, n);
            const Vector x = random_point(n, seed);
            CHECK(gradient_error(*problem, x, 1e-4) <= 1e-8 * (1 + norm_inf(evaluate(*problem, x).g)));
        }
}

TEST_CASE("With single precision f has the same bits and g is rounded") {
    for (const std::string &name : names()) {
        CAPTURE(name);
        const int64_t n = 1000;
        const auto problem = make_problem(name, n);
        const Vector x = random_point(n, 3);
        const Value expected = evaluate(*problem, x);
        const std::vector<float> single(x.begin(), x.end());
        std::vector<float> g(n);
        double f;
        problem->evaluate(single.data(), &f, g.data(), Place{});
        CHECK(f == expected.f);
        CHECK(g == std::vector<float>(expected.g.begin(), expected.g.end()));
    }
}

TEST_CASE("The starts are those of the manual even if they are written in several calls") {
    const std::vector<std::pair<std::string, Vector>> starts = {{"rosenbrock", {-1.2, 1, -1.2, 1}},
                                                                {"beale", {1, 0.8, 1, 0.8}},
                                                                {"powell", {3, -1, 0, 1}},
                                                                {"wood", {-3, -1, -3, -1}},
                                                                {"trigonometric", {0.2, 0.2, 0.2, 0.2}}};
    for (const auto &[name, block] : starts) {
        CAPTURE(name);
        const auto problem = make_problem(name, 8);
        const Vector x = start_of(*problem);
        CHECK(Vector(x.begin(), x.begin() + 4) == block);
        CHECK(Vector(x.begin() + 4, x.end()) == block);
        Vector pieces(8);
        problem->start(0, 3, pieces.data());
        problem->start(3, 5, pieces.data() + 3);
        CHECK(pieces == x);
        std::vector<float> single(8);
        problem->start(0, 8, single.data());
        CHECK(single == std::vector<float>(x.begin(), x.end()));
    }
}

TEST_CASE("f has its documented minimum and a zero gradient at the minimiser") {
    const std::vector<std::pair<std::string, Vector>> minimisers = {{"rosenbrock", {1, 1, 1, 1}},
                                                                    {"beale", {3, 0.5, 3, 0.5}},
                                                                    {"powell", {0, 0, 0, 0}},
                                                                    {"wood", {1, 1, 1, 1}},
                                                                    {"trigonometric", {0, 0, 0, 0}}};
    for (const auto &[name, x] : minimisers) {
        CAPTURE(name);
        const auto problem = make_problem(name, 4);
        const Value value = evaluate(*problem, x);
        CHECK(value.f == problem->minimum().value());
        CHECK(norm(value.g) == 0);
    }
}

TEST_CASE("f and g at the start of Rosenbrock with a million variables are as in the manual") {
    const auto problem = make_problem("rosenbrock", 1000000);
    const Value value = evaluate(*problem, start_of(*problem), 0);
    CHECK(printed(value.f) == "1.210000e+07");
    CHECK(printed(norm(value.g)) == "1.646623e+05");
    CHECK(std::fabs(value.f - 12.1e6) <= 1e-13 * 12.1e6);
}

TEST_CASE("An evaluation has the same bits with any number of threads") {
    for (const std::string &name : names()) {
        CAPTURE(name);
        const int64_t n = 100000;
        const auto problem = make_problem(name, n);
        const Vector x = random_point(n, 4);
        const Value one = evaluate(*problem, x, 1);
        for (const int threads : {2, 3}) {
            const Value value = evaluate(*problem, x, threads);
            CHECK(value.f == one.f);
            CHECK(value.g == one.g);
        }
    }
}

TEST_CASE("The functions of the manual have no bounds") {
    for (const std::string &name : names()) {
        CAPTURE(name);
        const auto problem = make_problem(name, 4);
        CHECK_FALSE(problem->bounded());
        Vector lower(4), upper(4);
        problem->lower(0, 4, lower.data());
        problem->upper(0, 4, upper.data());
        CHECK(lower == Vector(4, -INFINITY));
        CHECK(upper == Vector(4, INFINITY));
    }
}

TEST_CASE("f is not finite at a point with a NaN or infinite variable") {
    for (const std::string &name : names()) {
        CAPTURE(name);
        const auto problem = make_problem(name, 4);
        CHECK_FALSE(std::isfinite(evaluate(*problem, {NAN, 1, 1, 1}).f));
        CHECK_FALSE(std::isfinite(evaluate(*problem, {1, INFINITY, 1, 1}).f));
    }
}

TEST_CASE("Unknown problems and invalid sizes and parameters are refused with a message") {
    CHECK_THROWS_WITH(make_problem("rosenbruck", 4),
                      "there is no problem 'rosenbruck'; there are rosenbrock, beale, powell, wood, trigonometric, "
                      "torsion, bearing, minimal-surface, optimal-design, ginzburg-landau-1d, lennard-jones-2d, "
                      "lennard-jones-3d, combustion, ginzburg-landau-2d");
    CHECK_THROWS_WITH(make_problem("rosenbrock", 7),
                      "rosenbrock: n must be a multiple of 2, and 7 is not: take 6 or 8");
    CHECK_THROWS_WITH(make_problem("wood", 3), "wood: n must be a multiple of 4, and 3 is not: take 4");
    CHECK_THROWS_WITH(make_problem("powell", -4), "powell: n must be at least 4, not -4");
    CHECK_THROWS_WITH(make_problem("trigonometric", 0), "trigonometric: n must be at least 1, not 0");
    CHECK_THROWS_WITH(make_problem("beale", std::numeric_limits<int64_t>::max()),
                      "beale: n must be a multiple of 2, and 9223372036854775807 is not: take 9223372036854775806 or "
                      "9223372036854775808");
    CHECK_THROWS_WITH(make_problem("beale", 4, {{"lambda", 1.0}}), "beale: there is no parameter 'lambda'");
}
