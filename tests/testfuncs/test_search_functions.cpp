// The twelve functions of the pattern search: against the formulas in print, their ranges, their minima, their
// gradients against finite differences, and what a change of one coordinate is said to change.
#include <catch2/catch.hpp>

#include "../support/seed.hpp"
#include "naive_search.hpp"
#include "testfuncs/search/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace cudaopt::testfuncs::search;
using Vector = std::vector<double>;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

namespace {

Vector random_point(const Facts &facts, int n, unsigned seed) {
    std::mt19937_64 random(cudaopt_test::seed(seed));
    std::uniform_real_distribution<double> uniform(facts.lower, facts.upper);
    Vector x(n);
    std::generate(x.begin(), x.end(), [&] { return uniform(random); });
    return x;
}

double value(const Function &f, const Vector &x) { return evaluate(f, x.data(), static_cast<int>(x.size())); }

template <class Check> void for_each(const Check &check) {
    for (const Function &f : all_functions()) {
        const Facts facts = facts_of(f);
        CAPTURE(facts.name);
        check(f, facts);
    }
}

} // namespace

TEST_CASE("search functions: the twelve functions have the ranges of Yao et al.") {
    const std::map<std::string, double> ranges = {
        {"ackley", 32},        {"griewank", 600},      {"penalised-1", 50}, {"penalised-2", 50},
        {"quartic", 1.28},     {"rastrigin", 5.12},    {"rosenbrock", 30},  {"schwefel-1.2", 100},
        {"schwefel-2.22", 10}, {"schwefel-2.21", 100}, {"sphere", 100},     {"step", 100},
    };
    CHECK(all_functions().size() == ranges.size());
    for_each([&](const Function &, const Facts &facts) {
        CHECK(ranges.at(facts.name) == facts.upper);
        CHECK(facts.lower == -facts.upper);
        CHECK(facts_of(function_by_name(facts.name)).title == facts.title);
    });
    CHECK_THROWS_WITH(function_by_name("spear"), Catch::StartsWith("there is no function 'spear'; there are ackley, "));
}

TEST_CASE("search functions: values equal the printed formulas") {
    for_each([](const Function &f, const Facts &facts) {
        for (const int n : {1, 2, 3, 20, 31})
            for (unsigned seed = 0; seed < 40; seed++) {
                Vector x = random_point(facts, n, seed);
                if (seed % 2) // within a millionth of the range around the minimiser, but off the step's edges
                    for (double &x_j : x) x_j = facts.minimiser + 1e-6 * x_j;
                CAPTURE(n, seed);
                const long double expected = naive_search_function(facts.name, x);
                CHECK(std::fabs(value(f, x) - expected) <= 2e-15L * n * std::fabs(expected) + 1e-15L);
            }
    });
}

TEST_CASE("search functions: values close to the minimum are accurate in spite of cancellation") {
    constexpr double pi2 = 9.8696044010893586;
    const Vector x(20, 1e-12);
    CHECK(value(Ackley(), x) == Approx(4e-12).epsilon(1e-10));
    CHECK(value(Rastrigin(), x) == Approx(20 * (1 + 20 * pi2) * 1e-24).epsilon(1e-11));
}

TEST_CASE("search functions: the minimum is 0 at the minimiser and no value is lower") {
    for_each([](const Function &f, const Facts &facts) {
        for (const int n : {1, 2, 20, 30}) {
            const Vector at(n, facts.minimiser);
            CHECK(value(f, at) == 0);
            for (int j = 0; j < n && facts.name != "step" && !(facts.name == "rosenbrock" && n == 1); j++)
                for (const double away : {-1e-3, 1e-3}) {
                    Vector x = at;
                    x[j] += away;
                    CHECK(value(f, x) > 0);
                }
            for (unsigned seed = 0; seed < 200; seed++) CHECK(value(f, random_point(facts, n, seed)) >= 0);
        }
    });
    CHECK(Step()(Vector{-0.5, 0.49, 0}.data(), 3) == 0);
    CHECK(Step()(Vector{-0.51, 0.5, 0}.data(), 3) == 2);
}

TEST_CASE("search functions: gradients agree with central differences") {
    for_each([](const Function &f, const Facts &facts) {
        if (!has_gradient(f)) {
            CHECK(facts.name == "step");
            double g = 0;
            CHECK_THROWS_AS(evaluate(f, &g, 1, &g), std::invalid_argument);
            return;
        }
        for (const int n : {1, 2, 5, 20})
            for (unsigned seed = 0; seed < 10; seed++) {
                const Vector x = random_point(facts, n, 1000 + seed);
                CAPTURE(n, seed);
                Vector g(n, std::numeric_limits<double>::quiet_NaN());
                const double f_x = evaluate(f, x.data(), n, g.data());
                CHECK(f_x == value(f, x));
                for (int j = 0; j < n; j++) {
                    constexpr double h = 1e-4;
                    const auto at = [&](double away) {
                        Vector moved = x;
                        moved[j] += away;
                        return naive_search_function(facts.name, moved);
                    };
                    const long double difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
                    const double rounding = 1e-18 * f_x / h, size = 1 + std::fabs(g[j]);
                    CHECK(std::fabs(g[j] - difference) <= 1e-9 * size + rounding);
                }
            }
    });
}

TEST_CASE("search functions: gradients are correct at a zero factor and at a cone's apex") {
    const Vector x = {0, 3, -2};
    Vector g(3);
    evaluate(Schwefel222(), x.data(), 3, g.data());
    CHECK(g == Vector{7, 1, -1});
    evaluate(Griewank(), Vector{std::acos(0.0), 0.0, 0.0}.data(), 3, g.data()); // cos x_1 = 0
    CHECK(g[0] == Approx(std::acos(0.0) / 2000 + 1));
    evaluate(Ackley(), Vector(3, 0.0).data(), 3, g.data());
    CHECK(g == Vector(3, 0.0));
}

// A search relies on this if it does not recompute f.
TEST_CASE("search functions: values formed from partial sums and terms equal full evaluations") {
    int of_sums = 0, of_neighbours = 0;
    for_each([&](const Function &any, const Facts &facts) {
        std::visit(
            [&](const auto &f) {
                using F = std::decay_t<decltype(f)>;
                const int n = 7;
                const Vector x = random_point(facts, n, 5), y = random_point(facts, n, 6);
                if constexpr (std::is_base_of_v<OfSums<F, 1>, F> || std::is_base_of_v<OfSums<F, 2>, F>) {
                    of_sums++;
                    constexpr int S = F::sums;
                    for (int k = 0; k < n; k++) {
                        double sum[S] = {}, t[S];
                        for (int j = 0; j < n; j++) {
                            f.terms(j, j == k ? y[j] : x[j], n, t);
                            for (int s = 0; s < S; s++) sum[s] += t[s];
                        }
                        Vector moved = x;
                        moved[k] = y[k];
                        CHECK(f.combine(sum, n) == f(moved.data(), n));
                    }
                } else if constexpr (std::is_base_of_v<OfNeighbours<F, 1>, F>) {
                    of_neighbours++;
                    for (int k = 0; k < n; k++) {
                        Vector moved = x;
                        moved[k] = y[k];
                        for (int j = 0; j < n; j++)
                            if (std::abs(j - k) > F::reach) CHECK(f.term(x.data(), j, n) == f.term(moved.data(), j, n));
                        double change = 0;
                        for (int j = std::max(0, k - F::reach); j <= std::min(n - 1, k + F::reach); j++)
                            change += f.term(moved.data(), j, n) - f.term(x.data(), j, n);
                        // Both values are sums of n terms that are not negative.
                        const double before = f(x.data(), n), after = f(moved.data(), n);
                        CHECK(std::fabs(change - (after - before)) <= 4 * n * epsilon * (after + before));
                    }
                }
            },
            any);
    });
    CHECK(of_sums == 5);
    CHECK(of_neighbours == 3);
}
