// With the simplest possible sweeps the state machine finds the same minima as the library.
#include <catch2/catch.hpp>
#include <cmath>

#include "../support/harness.hpp"
#include "standard.hpp"

using namespace block_test;

namespace {

// The minimum of a convex quadratic with this diagonal, by minimising over one variable after the other (Gauss-Seidel
// with bounds).
double least_by_relaxation(const Problem &problem, double diagonal) {
    std::vector<double> x, g(static_cast<std::size_t>(problem.n));
    for (int i = 0; i < problem.n; i++) x.push_back(problem.start(i));
    for (int round = 0; round < 500; round++)
        for (int i = 0; i < problem.n; i++) {
            problem.evaluate(x.data(), g.data());
            x[i] = cudaopt::clamp_to_box(x[i] - g[i] / diagonal, problem.lower(i), problem.upper(i));
        }
    return problem.evaluate(x.data(), g.data());
}

double known_minimum(const Problem &problem) {
    std::vector<double> x, g(static_cast<std::size_t>(problem.n));
    switch (problem.kind) {
    case Kind::quadratic:
        for (int i = 0; i < problem.n; i++) x.push_back(problem.minimiser(i));
        return problem.evaluate(x.data(), g.data());
    case Kind::breakpoints: // separable
        for (int i = 0; i < problem.n; i++) {
            const double target = (i % 2 == 0 ? -1 : 1) * (1 + i * 37 % 101 / 50.0);
            x.push_back(cudaopt::clamp_to_box(target, problem.lower(i), problem.upper(i)));
        }
        return problem.evaluate(x.data(), g.data());
    case Kind::torsion: return least_by_relaxation(problem, 4);
    default: // at 1, or with every second variable at its upper bound and the others in the valley
        return problem.bounded ? problem.n / 2 * (1 - problem.largest) * (1 - problem.largest) : 0;
    }
}

double minimum_by_library(const Problem &problem, int m, double eps) {
    cudaopt_test::Problem same{"", {}, [problem](const std::vector<double> &x, std::vector<double> &g) {
                                   return problem.evaluate(x.data(), g.data());
                               }};
    for (int i = 0; i < problem.n; i++) {
        same.start.push_back(problem.start(i));
        if (!problem.bounded) continue;
        same.lower.push_back(problem.lower(i));
        same.upper.push_back(problem.upper(i));
    }
    cudaopt_test::Harness<cudaopt_test::HostDouble> harness(same, m);
    harness.set_real(CUDA_OPT_EPS, eps);
    const cudaopt_test::Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    return outcome.f;
}

} // namespace

TEST_CASE("The state machine with plain sweeps finds the minima that the library finds", "[block]") {
    for (const Standard &one : standard_problems())
        for (const int m : {1, 5, 8}) {
            Prepared solve = prepare_standard(one, m);
            INFO(solve.name);
            solve.run();
            const cudaopt::Results &results = solve.state().results;
            CHECK(solve.job.task == CUDA_OPT_CONVERGED);
            CHECK(results.stop_test == CUDA_OPT_EPS);
            CHECK(solve.job.iterates == results.iterations);
            CHECK(solve.job.iterates <= solve.job.most_iterates);
            CHECK(solve.f() == results.f);
            const double known = known_minimum(one.problem), scale = std::max(1.0, std::fabs(known));
            CHECK(std::fabs(solve.f() - known) <= 1e-9 * scale);
            CHECK(std::fabs(solve.f() - minimum_by_library(one.problem, m, 1e-8)) <= 1e-9 * scale);
            const std::vector<double> x = solve.x();
            for (int i = 0; i < one.problem.n; i++)
                if (one.problem.bounded) CHECK((one.problem.lower(i) <= x[i] && x[i] <= one.problem.upper(i)));
        }
}

TEST_CASE("A problem with many breakpoints crosses some and has active bounds at its solution", "[block]") {
    Prepared solve = prepare("many breakpoints", {Kind::breakpoints, 60, true}, 5);
    solve.run();
    CHECK(solve.state().results.cauchy_crossings > 0);
    CHECK(solve.state().results.at_lower + solve.state().results.at_upper > 20);
}
