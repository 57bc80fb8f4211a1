// The line search by itself, on functions of one variable.
#include "line_search/more_thuente.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../support/line_functions.hpp"

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

// The whole search; where `finite` does not hold for a step, it is cut.
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

TEST_CASE("Both conditions hold where the search says so", "[line-search]") {
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

TEST_CASE("Each other verdict has its occasion", "[line-search]") {
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

TEST_CASE("A step that cannot be evaluated is never exceeded again", "[line-search]") {
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

TEST_CASE("Cutting goes on as long as it is asked to, and never to zero or below", "[line-search]") {
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

TEST_CASE("A step at the smallest one is cut, too", "[line-search]") {
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
