// Tests which trial points a line search accepts, and that it ends if x no longer changes.
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>

#include "solve.hpp"

using namespace terminations;

namespace {

struct Value {
    double f, g;
};

// Returns the number of iterations of a solve with one variable. f and g are 0 and -1 at the start and -1 and -1 at the
// first trial point, where f falls so steeply that the line search goes on. At the second trial point they are `third`.
// All later points are minimisers with f = -2.
int64_t iterations_with(Value third, int metric, double noise) {
    const std::vector<Value> values = {{0, -1}, {-1, -1}, third, {-2, 0}};
    std::size_t evaluations = 0;
    const Function f = [&](const Vector &, Vector &g) {
        const Value &value = values[std::min(evaluations++, values.size() - 1)];
        g[0] = value.g;
        return value.f;
    };
    const Outcome end = solve(f, {0}, {}, metric, {{CUDA_OPT_NOISE_ABS, noise}});
    CHECK(end.stop_test == CUDA_OPT_PGTOL);
    CHECK(end.evaluations == 4);
    return end.iterations;
}

} // namespace

// If the second trial point is accepted, the minimiser is the second iterate. Otherwise it is the first one.
TEST_CASE("The weak Wolfe conditions accept no point above a lower one of the line search", "[line-search]") {
    constexpr double steep = 5; // too steep for the strong and the approximate Wolfe conditions
    CHECK(iterations_with({-1.25, steep}, Initial::learned, 0) == 2);
    CHECK(iterations_with({-0.75, steep}, Initial::learned, 0) == 1);
    CHECK(iterations_with({-1.25, steep}, Initial::scalar, 0) == 1); // without noise the weak ones do not apply
    for (const int metric : {Initial::scalar, Initial::learned}) {
        constexpr double noise = 0.0625; // values of f may then differ by twice this level
        CHECK(iterations_with({-1 + 1.5 * noise, steep}, metric, noise) == 2);
        CHECK(iterations_with({-1 + 2.5 * noise, steep}, metric, noise) == 1);
    }
}

// g has the wrong sign. The trial points therefore approach x from above until they are rounded to x.
TEST_CASE("A line search ends when it evaluates a point again", "[line-search]") {
    const Function rising = [](const Vector &x, Vector &g) {
        g[0] = -1;
        return x[0];
    };
    const Outcome end = solve(rising, {std::ldexp(1.0, 40)});
    CHECK(end.task == CUDA_OPT_LINE_SEARCH_FAILED);
    CHECK(end.repeated == 1);
    const Outcome without = solve(rising, {std::ldexp(1.0, 40)}, {}, Initial::scalar, {{CUDA_OPT_FACTR, 0}});
    CHECK(without.repeated > 1); // without FACTR the line search continues as in L-BFGS-B 3.0
}
