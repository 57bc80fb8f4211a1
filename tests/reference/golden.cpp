// Solves with the tolerances of L-BFGS-B 3.0 are compared with it: f at the first 20 iterates as far as rounding errors
// do not decide it, the final f and the active set.
#include <catch2/catch.hpp>

#include "comparison.hpp"

using namespace cudaopt_test;

namespace {

struct GoldenCase {
    Problem problem;
    int m;
    double pgtol;
    // If the minimum is zero, the largest difference of the final values of f.
    double zero_minimum = 0;
};

// All variables are fixed by l = u at random points.
Problem all_fixed(int64_t n) {
    Problem problem = in_random_boxes(extended_rosenbrock(n), 5);
    problem.upper = problem.lower;
    problem.name = "Rosenbrock, all variables fixed";
    return problem;
}

// At the start, -g points out of the box in each variable, so that the start is the solution.
Problem none_free_at_the_solution() {
    Problem problem = in_box(extended_rosenbrock(100), -3, -2);
    problem.start = problem.upper;
    problem.name = "Rosenbrock, started at a vertex";
    return problem;
}

// f is so flat that the first line search would take a step larger than 1. With bounds, 1 is the largest first step.
Problem flat() {
    Problem problem = with_mixed_bounds(chained_rosenbrock(200, 2));
    problem.evaluate = [steep = problem.evaluate](const Vector &x, Vector &g) {
        constexpr double scale = 1e-6;
        const double f = steep(x, g);
        for (double &component : g) component *= scale;
        return scale * f;
    };
    problem.name = "flat " + problem.name;
    return problem;
}

// The first Cauchy point is a vertex of the box, so that no variable is free there.
Problem none_free_at_the_start(int64_t n) {
    KnownQuadratic known = quadratic_with_known_active_set(n);
    for (int64_t i = 0; i < n; i++) {
        double &lower = known.problem.lower[i], &upper = known.problem.upper[i];
        lower = known.minimiser[i] + 1e-3 * (1 + static_cast<double>(i % 4)) - (i % 2 == 0 ? 0.01 : 0);
        upper = lower + 0.01;
        known.problem.start[i] = i % 2 == 0 ? lower : upper;
    }
    known.problem.name = "quadratic in a small box, started at a vertex";
    return known.problem;
}

std::vector<GoldenCase> golden_cases() {
    return {
        {torsion(40, 40), 5, 1e-8},
        {torsion(40, 40), 3, 1e-8},
        {torsion(40, 40), 17, 1e-8},
        {torsion(100, 100), 5, 1e-8},
        {chained_rosenbrock(200, 1), 3, 1e-4},
        {chained_rosenbrock(200, 2), 5, 1e-4},
        {chained_rosenbrock(200, 3), 17, 1e-4},
        {chained_rosenbrock(60, 8), 17, 1e-5},
        {chained_rosenbrock(60, 11), 5, 1e-5},
        {in_random_boxes(extended_rosenbrock(4), 1), 3, 1e-6},
        {with_mixed_bounds(chained_rosenbrock(200, 1)), 5, 1e-5},
        {with_mixed_bounds(extended_wood(1000)), 17, 1e-5},
        {flat(), 5, 1e-10},
        {in_box(extended_rosenbrock(1000), -1.5, 0.8), 5, 1e-8},
        {in_box(extended_rosenbrock(1000), -1.5, 1.5), 5, 1e-8, 1e-10},
        {in_box(extended_beale(1000), 0, 2.5), 5, 1e-6},
        {in_random_boxes(extended_beale(1000), 1), 5, 1e-4},
        {in_box(extended_powell(1000), 0.1, 3), 3, 1e-8},
        {in_box(extended_wood(1000), -3, 0.9), 17, 1e-8},
        {in_box(trigonometric(100), -0.1, 0.25), 3, 1e-8, 1e-10},
        {in_random_boxes(trigonometric(100), 2), 17, 1e-4},
        {quadratic_with_known_active_set(300).problem, 3, 1e-6},
        {quadratic_with_known_active_set(300).problem, 5, 1e-6},
        {quadratic_with_known_active_set(300).problem, 17, 1e-6},
        {quadratic_with_many_breakpoints(100000).problem, 5, 1e-6},
        {all_fixed(100), 5, 1e-8},
        {none_free_at_the_start(300), 5, 1e-8},
        {none_free_at_the_solution(), 5, 1e-8},
        {without_bounds(quadratic_with_known_active_set(300).problem), 5, 1e-6},
        {extended_rosenbrock(1000), 5, 1e-6, 1e-10},
        {extended_rosenbrock(1000), 17, 1e-6, 1e-10},
        {extended_wood(1000), 3, 1e-6, 1e-10},
        {extended_powell(1000), 17, 1e-6, 1e-8},
        {trigonometric(100), 5, 1e-6},
        {scaled_quadratic(500, 100), 17, 1e-8, 1e-10},
    };
}

template <class Configuration> Outcome solve_as_reference(const GoldenCase &golden, Harness<Configuration> &harness) {
    set_as_reference(harness, golden.pgtol);
    const Outcome outcome = harness.run();
    check_promises<Configuration>(golden.problem, outcome);
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_PGTOL);
    return outcome;
}

} // namespace

CONFIGURED_TEST_CASE("The iterates and the active set match those of L-BFGS-B 3.0", "[reference]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    int64_t crossings = 0, truncations = 0;
    for (const GoldenCase &golden : golden_cases()) {
        INFO(golden.problem.name << ", m = " << golden.m);
        const ReferenceOutcome theirs = solve_reference(golden.problem, golden.m, golden.pgtol);
        Harness<TestType> harness(golden.problem, golden.m);
        const Outcome ours = solve_as_reference(golden, harness);
        crossings += harness.get_int(CUDA_OPT_CAUCHY_CROSSINGS);
        truncations += harness.get_int(CUDA_OPT_SUBSPACE_TRUNCATIONS);

        const ReferenceOutcome other =
            solve_reference(moved(golden.problem), golden.m, golden.pgtol, iterations_to_follow);
        CHECK(theirs.task == "CONVERGENCE: NORM_OF_PROJECTED_GRADIENT_<=_PGTOL");
        check_the_same_way(values(theirs.history[0].f, ours.history), values(theirs.history), values(other.history),
                           1e-9);

        const double scale = golden.zero_minimum > 0 ? golden.zero_minimum / 1e-10 : std::fabs(theirs.f);
        CHECK(std::fabs(ours.f - theirs.f) <= 1e-10 * scale);
        CHECK(same_active_set(golden.problem, ours, theirs.x, golden.pgtol));
    }
    // The cases must also execute the rarely used parts of the algorithm.
    CHECK(crossings > 0);
    CHECK(truncations > 0);
}
