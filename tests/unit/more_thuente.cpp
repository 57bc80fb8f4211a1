// Tests of the line search alone, on functions of one variable.
#include "line_search/more_thuente.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "../support/line_functions.hpp"
#include "../support/seed.hpp"

using namespace cudaopt_test;
using cudaopt::MoreThuente;
using cudaopt::SearchTolerances;
using cudaopt::SearchVerdict;

namespace {

struct Search {
    SearchVerdict verdict;
    double step;
    int evaluations;
};

// Runs a whole line search. If `finite` returns false for a step, this step is cut.
Search run(
    const std::function<Value(double)> &at, double first_step, const SearchTolerances &tolerances,
    const std::function<bool(double)> &finite = [](double) { return true; }) {
    MoreThuente search;
    const Value start = at(0);
    search.start(start.phi, start.slope, first_step, tolerances);
    Search result{SearchVerdict::evaluate, first_step, 0};
    while (result.verdict == SearchVerdict::evaluate && result.evaluations < 100) {
        result.step = search.step();
        result.evaluations++;
        if (finite(result.step)) {
            const Value value = at(result.step);
            result.verdict = search.update(value.phi, value.slope);
        } else {
            search.cut();
        }
    }
    return result;
}

SearchTolerances wide(double ftol, double gtol) { return {ftol, gtol, 1e-10, 0, 1e4}; }

} // namespace

TEST_CASE("Both strong Wolfe conditions hold if the line search reports convergence", "[line-search]") {
    for (const LineFunction &function : line_functions())
        for (const double first_step : first_steps) {
            INFO(function.name << " from step " << first_step);
            const Search search = run(function.at, first_step, wide(function.ftol, function.gtol));
            CHECK(search.verdict == SearchVerdict::converged);
            const Value start = function.at(0), end = function.at(search.step);
            CHECK(end.phi <= start.phi + function.ftol * search.step * start.slope);
            CHECK(std::fabs(end.slope) <= function.gtol * std::fabs(start.slope));
            CHECK(search.evaluations <= 20);
        }
}

TEST_CASE("The line search reports step limits and small intervals and rounding errors", "[line-search]") {
    const auto falling = [](double a) { return Value{-a, -1}; };
    CHECK(run(falling, 1, {1e-3, 0.9, 0.1, 0, 64}).verdict == SearchVerdict::at_maximum_step);
    CHECK(run(falling, 1, {1e-3, 0.9, 0.1, 0, 64}).step == 64);

    const auto rising = [](double a) { return Value{a, -1}; };
    CHECK(run(rising, 1, {1e-3, 0.9, 0, 1e-3, 64}).verdict == SearchVerdict::at_minimum_step);
    CHECK(run(rising, 1, {1e-3, 0.9, 0, 1e-3, 64}).step == 1e-3);

    const auto kink = [](double a) { return Value{std::fabs(a - 3), a < 3 ? -1.0 : 1.0}; };
    CHECK(run(kink, 1, {1e-3, 0.9, 0.1, 0, 64}).verdict == SearchVerdict::interval_too_small);
    CHECK(run(kink, 1, {1e-3, 0.9, 0, 0, 64}).verdict == SearchVerdict::rounding_errors);
}

// The values are random, but the same if a step recurs, and some of them cannot be evaluated. All branches of the line
// search are executed in this way.
TEST_CASE("Setting step_max only when the next step depends on it gives the same steps", "[line-search]") {
    std::mt19937_64 random(cudaopt_test::seed(19));
    const auto uniform = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
    int asked = 0, spared = 0, updates = 0;
    for (int k = 0; k < 50000; k++) {
        const double first = std::exp(uniform(-5, 5)), longest = first * (k % 5 == 0 ? 1 : std::exp(uniform(0, 4)));
        const SearchTolerances known{1e-4, 0.9, k % 3 == 0 ? 0.1 : 1e-16, k % 4 == 0 ? first * uniform(0, 1) : 0,
                                     longest};
        SearchTolerances taken = known;
        taken.step_max = first;
        MoreThuente before, late;
        before.start(0, -1, first, known);
        late.start(0, -1, first, taken);
        std::map<double, Value> values;
        bool open = true, any_finite = false;
        SearchVerdict verdict = SearchVerdict::evaluate;
        for (int turn = 0; verdict == SearchVerdict::evaluate && turn < 8; turn++) {
            const double step = late.step(), way = uniform(0, 1);
            REQUIRE(before.step() == step);
            if (uniform(0, 1) < 0.1 && values.count(step) == 0) {
                before.cut();
                late.cut();
                open = open && any_finite;
                continue;
            }
            const Value drawn = way < 0.3   ? Value{uniform(-1, 1) * step, uniform(-3, 3)}
                                : way < 0.6 ? Value{-0.5 * step, uniform(-2, 0)}
                                            : Value{step * (0.4 * step / first - 1), 0.8 * step / first - 1};
            const Value at = values.emplace(step, drawn).first->second;
            if (open && late.next_step_depends_on_step_max(1e20, at.phi, at.slope)) {
                late.set_step_max(longest);
                open = false;
                asked++;
            }
            verdict = before.update(at.phi, at.slope);
            REQUIRE(late.update(at.phi, at.slope) == verdict);
            any_finite = true;
            updates++;
        }
        REQUIRE(late.step() == before.step());
        REQUIRE(late.lowest_step() == before.lowest_step());
        spared += open;
    }
    CHECK(asked > 10000);
    CHECK(spared > 10000);
    CHECK(updates > 80000);
}

TEST_CASE("A trial point repeats an end if phi and the slope are equal and the step is close", "[line-search]") {
    constexpr double close = 2, too_close = 0x1p-20; // distances above and below those of the step from both ends
    MoreThuente search;
    search.start(0, -1, 1, wide(1e-3, 0.5));
    CHECK_FALSE(search.repeats_an_end(0, -1, close)); // the minimum is not bracketed
    REQUIRE(search.update(3, 2) == SearchVerdict::evaluate);
    REQUIRE(search.step() > 0.01);
    REQUIRE(search.step() < 0.99);
    for (const Value end : {Value{0, -1}, Value{3, 2}}) {
        CHECK(search.repeats_an_end(end.phi, end.slope, close));
        CHECK_FALSE(search.repeats_an_end(end.phi, end.slope, too_close));
        CHECK_FALSE(search.repeats_an_end(end.phi, end.slope + 0.5, close));
        CHECK_FALSE(search.repeats_an_end(end.phi + 0.5, end.slope, close));
    }
}

TEST_CASE("After a cut no trial step reaches a step at which f was undefined", "[line-search]") {
    for (const LineFunction &function : line_functions())
        for (const double first_step : first_steps)
            for (const double edge : {1e-2, 0.5, 3.0}) {
                INFO(function.name << " from step " << first_step << ", defined below " << edge);
                double least_failed = std::numeric_limits<double>::infinity();
                bool kept_below = true;
                const Search search = run(function.at, first_step, wide(function.ftol, function.gtol), [&](double a) {
                    kept_below = kept_below && a < least_failed;
                    if (a >= edge) least_failed = a;
                    return a < edge;
                });
                CHECK(kept_below);
                CHECK(search.verdict != SearchVerdict::evaluate);
                CHECK(search.step > 0);
                CHECK(search.step < edge);
                CHECK(function.at(search.step).phi < function.at(0).phi);
            }
}

TEST_CASE("Each cut makes the step smaller and keeps it positive", "[line-search]") {
    MoreThuente search;
    search.start(1, -1, 1, wide(1e-3, 0.9));
    double last = search.step();
    for (int k = 0; k < 30; k++) {
        search.cut();
        CHECK(search.step() > 0);
        CHECK(search.step() < last);
        last = search.step();
    }
}

TEST_CASE("A cut reduces a step at step_min and keeps it positive", "[line-search]") {
    MoreThuente search;
    SearchTolerances tolerances = wide(1e-3, 0.9);
    tolerances.step_min = 1e-2;
    search.start(1, -1, 1e-2, tolerances);
    for (int k = 0; k < 3; k++) {
        const double last = search.step();
        search.cut();
        CHECK(search.step() > 0);
        CHECK(search.step() < last);
    }
    while (search.step() > std::numeric_limits<double>::min()) search.cut();
    search.cut();
    CHECK(search.step() > 0);
}
