// f and x are expressed in other units, which are powers of two, and the convergence criterion is scaled in the same
// way. The solution must not depend on the units. If the first displacement scales with x, all iterates are bitwise
// identical.
//
// Without bounds, the first displacement is g/||g||, so that f may be multiplied by 2^k. If each variable has two
// finite bounds, it is P(x - g) - x, so that x may be multiplied by 2^k together with f by 4^k.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/harness.hpp"

using namespace cudaopt_test;

namespace {

const std::vector<int> exponents = {-300, -250, -200, -150, -100, -67, -50, -33, -7,  -1,
                                    1,    7,    33,   50,   67,   100, 150, 200, 250, 300};

struct Path {
    int task = 0;
    std::vector<Vector> points; // all trial points, in the units of the original problem
    Vector x;
    double f = 0;
    std::string message;
};

Vector times(Vector values, int exponent) {
    for (double &value : values) value = std::ldexp(value, exponent);
    return values;
}

// Minimises 2^of_f f(x / 2^of_x) from the start times 2^of_x until ||P g||_inf <= pgtol.
Path solved(const Problem &problem, double pgtol, int of_f, int of_x) {
    Path path;
    Problem other = problem;
    other.start = times(problem.start, of_x);
    other.lower = times(problem.lower, of_x);
    other.upper = times(problem.upper, of_x);
    other.evaluate = [&, of_f, of_x](const Vector &x, Vector &g) {
        path.points.push_back(times(x, -of_x));
        const double f = problem.evaluate(path.points.back(), g);
        g = times(g, of_f - of_x);
        return std::ldexp(f, of_f);
    };
    Harness<HostDouble> harness(other, 5);
    harness.set_int(CUDA_OPT_THREADS, 1).set_int(CUDA_OPT_MAX_ITERATIONS, 0).set_int(CUDA_OPT_MAX_EVALUATIONS, 2000);
    harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, pgtol);
    const Outcome outcome = harness.run();
    path.task = outcome.task;
    path.message = outcome.message;
    path.x = times(outcome.x, -of_x);
    path.f = std::ldexp(outcome.f, -of_f);
    return path;
}

void check_the_same_path(const Problem &problem, double pgtol, int of_f, int of_x) {
    const Path original = solved(problem, pgtol, 0, 0),
               path = solved(problem, std::ldexp(pgtol, of_f - of_x), of_f, of_x);
    CAPTURE(problem.name, of_f, of_x, path.message);
    REQUIRE(original.task == CUDA_OPT_CONVERGED);
    CHECK(path.task == CUDA_OPT_CONVERGED);
    CHECK(path.points.size() == original.points.size());
    const std::size_t both = std::min(path.points.size(), original.points.size());
    std::size_t same = 0;
    while (same < both && path.points[same] == original.points[same]) same++;
    CHECK(same == both);
    CHECK(path.x == original.x);
    CHECK(path.f == original.f);
}

// Returns the tolerance for the scaled problem. Components of P g are at most as large as the distances to the bounds.
// If gradients are much larger than the width of the box, each point satisfies a tolerance in the units of the
// gradient, and rounding errors prevent a solve from reaching one in the units of x. The tolerance is 0 in this case.
double tolerance(const Problem &problem, double pgtol, int of_f, int of_x) {
    const bool bounded = !problem.lower.empty() || !problem.upper.empty();
    const double scaled = std::ldexp(pgtol, of_f - of_x);
    return bounded && scaled > std::ldexp(1e-5, of_x) ? 0 : scaled;
}

void check_the_same_solution(const Problem &problem, int of_f, int of_x) {
    const double pgtol = tolerance(problem, 1e-8, of_f, of_x);
    const Path original = solved(problem, 1e-8, 0, 0), path = solved(problem, pgtol, of_f, of_x);
    CAPTURE(problem.name, of_f, of_x, path.points.size(), path.message);
    REQUIRE(original.task == CUDA_OPT_CONVERGED);
    // Rounding errors of f can end a line search where ||P g|| is about sqrt(2 lambda epsilon |f|), which may be above
    // the tolerance.
    CHECK((path.task == CUDA_OPT_CONVERGED || path.task == CUDA_OPT_LINE_SEARCH_FAILED));
    double furthest = 0;
    for (std::size_t i = 0; i < path.x.size(); i++)
        furthest = std::max(furthest, std::fabs(path.x[i] - original.x[i]) / std::max(1.0, std::fabs(original.x[i])));
    CHECK(furthest <= 1e-6);
}

Problem tridiagonal() { return without_bounds(quadratic_with_known_active_set(30).problem); }

} // namespace

TEST_CASE("Iterates are bitwise identical if f is scaled by 2^k without bounds", "[robustness]") {
    for (const int k : exponents)
        for (const Problem &problem : {extended_rosenbrock(2), extended_rosenbrock(20), tridiagonal()})
            check_the_same_path(problem, 1e-8, k, 0);
}

TEST_CASE("Iterates are bitwise identical if x is scaled by 2^k and f by 4^k in a finite box", "[robustness]") {
    for (const int k : exponents) {
        const int half = k / 2; // f is multiplied by numbers from 2^-300 to 2^300
        check_the_same_path(in_box(extended_rosenbrock(20), -2, 0.8), 1e-8, 2 * half, half);
        check_the_same_path(torsion(10, 10), 1e-8, 2 * half, half);
        check_the_same_path(in_box(tridiagonal(), -5, 5), 1e-8, 2 * half, half);
    }
}

TEST_CASE("The solution does not change if f is scaled by 2^k with any kind of bounds", "[robustness]") {
    for (const int k : exponents) {
        check_the_same_solution(in_box(extended_rosenbrock(10), -2, 0.8), k, 0);
        check_the_same_solution(in_box(extended_rosenbrock(10), -INFINITY, 0.8), k, 0);
        check_the_same_solution(torsion(10, 10), k, 0);
        check_the_same_solution(quadratic_with_known_active_set(30).problem, k, 0);
    }
}

TEST_CASE("The solution does not change if x is scaled by 2^k", "[robustness]") {
    for (const int k : exponents) {
        check_the_same_solution(torsion(10, 10), 0, k);
        check_the_same_solution(quadratic_with_known_active_set(30).problem, 0, k);
        check_the_same_solution(tridiagonal(), 0, k);
        if (std::abs(k) > 100) continue; // the fourth power of a trial point far from the start would overflow
        check_the_same_solution(extended_rosenbrock(10), 0, k);
        check_the_same_solution(in_box(extended_rosenbrock(10), -2, 0.8), 0, k);
    }
}
