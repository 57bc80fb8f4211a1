// Tests that the problems are well formed, that their gradients match their values, and that they have values that the
// papers print.
#include <catch2/catch.hpp>

#include <set>

#include "larger.hpp"
#include "nist.hpp"
#include "problem.hpp"
#include "support/problems.hpp"

using namespace cudaopt_problems;

namespace {

// Returns the central difference of order four in long double. Its error is far below that of f and g in double.
long double difference(const Problem &problem, LongVector x, std::size_t i, long double h) {
    const long double middle = x[i];
    const auto at = [&](int steps) {
        x[i] = middle + steps * h;
        return problem.in_long_double(x);
    };
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
}

// Returns a point in the box near the start, at which gradients do not vanish.
Vector near_start(const Problem &problem, cudaopt_test::Uniform &uniform) {
    Vector x = problem.start;
    for (std::size_t i = 0; i < x.size(); i++) {
        x[i] += 0.02 * (uniform() - 0.5) * (x[i] == 0 ? 1 : std::abs(x[i]));
        x[i] = std::min(problem.upper[i], std::max(problem.lower[i], x[i]));
    }
    return x;
}

// Compares f and g at x with f in long double and with its differences, for every `stride`-th variable.
void check_gradient(const Problem &problem, const Vector &x, std::size_t stride) {
    CAPTURE(problem.name);
    Vector g(x.size());
    const double f = problem.evaluate(x, g);
    const LongVector point(x.begin(), x.end());
    const double exact = static_cast<double>(problem.in_long_double(point));
    CHECK(f == Approx(exact).epsilon(1e-9));
    double largest = 0;
    for (const double slope : g) largest = std::max(largest, std::abs(slope));
    for (std::size_t i = 0; i < x.size(); i += stride) {
        const long double h = 1e-5L * std::max(1e-4, std::abs(x[i]));
        const double slope = static_cast<double>(difference(problem, point, i, h));
        CAPTURE(i, largest);
        CHECK(g[i] == Approx(slope).epsilon(1e-7).margin(1e-8 * largest + 1e-11 * std::abs(f)));
    }
}

} // namespace

TEST_CASE("problems: all are well formed and a third of them have bounds") {
    std::set<std::string> names;
    std::size_t bounded = 0;
    for (const Problem &problem : all_problems()) {
        CAPTURE(problem.name);
        CHECK(names.insert(problem.name).second);
        CHECK(problem.name.find_first_of(", \t\n") == std::string::npos);
        CHECK_FALSE(problem.source.empty());
        const std::size_t n = problem.start.size();
        CHECK((n >= 1 && n <= 100 && problem.lower.size() == n && problem.upper.size() == n));
        for (std::size_t i = 0; i < n; i++) {
            CHECK(std::isfinite(problem.start[i]));
            CHECK(problem.lower[i] <= problem.upper[i]);
        }
        bounded += problem.bounded();
    }
    CHECK(names.size() >= 120);
    CHECK(3 * bounded >= names.size());
}

TEST_CASE("problems: the gradient matches differences of f") {
    cudaopt_test::Uniform uniform(20);
    for (const Problem &problem : all_problems()) check_gradient(problem, near_start(problem, uniform), 1);
}

TEST_CASE("problems: the larger ones are well formed and have a slope of at most 1 at the start") {
    cudaopt_test::Uniform uniform(21);
    std::set<std::string> names;
    for (const Problem &problem : all_problems()) names.insert(problem.name);
    for (const Problem &problem : larger_problems()) {
        CAPTURE(problem.name);
        CHECK(names.insert(problem.name).second);
        CHECK(problem.name.find_first_of(", \t\n") == std::string::npos);
        CHECK_FALSE(problem.source.empty());
        Vector g(problem.start.size());
        problem.evaluate(problem.start, g);
        const double slope = projected_gradient_norm(problem, problem.start, g);
        CHECK((slope > 0 && slope <= 1 + 1e-9)); // it is less than 1 if bounds shorten the projected gradient
        check_gradient(problem, near_start(problem, uniform), g.size() / 20);
    }
    CHECK(larger_problems().size() >= 30);
}

TEST_CASE("problems: the sums of squares at NIST's parameters match NIST's values") {
    CHECK(regressions().size() == 17);
    for (const Regression &regression : regressions()) {
        CAPTURE(regression.problem.name);
        Vector g(regression.certified.size());
        const double sum = regression.problem.evaluate(regression.certified, g);
        CHECK(sum == Approx(regression.certified_sum).epsilon(1e-8));
    }
}
