// This program runs the tests of threads and of forked children in a program that uses OpenMP itself. The solver then
// uses the threads of OpenMP.
#include <omp.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "../support/harness.hpp"
#include "../support/living_threads.hpp"

namespace parity_openmp {

using namespace cudaopt_test;

namespace {

Outcome solve_with_threads(int threads) {
    Harness<HostDouble> harness(in_box(extended_rosenbrock(20000), -1.1, 0.4), 3);
    harness.set_int(CUDA_OPT_THREADS, threads).set_int(CUDA_OPT_MAX_ITERATIONS, 6);
    return harness.run();
}

} // namespace

// This test has to be the first one, because the threads of OpenMP remain.
TEST_CASE("In a program with OpenMP a solve with little work uses one thread", "[threads]") {
    if (std::getenv("OMP_NUM_THREADS")) return; // the number is then used as it is
    const int64_t before = living_threads();
    solve_with_threads(0);
    CHECK(living_threads() == before);
}

TEST_CASE("In a program with OpenMP the solver uses only the threads of OpenMP", "[threads]") {
    const Outcome alone = solve_with_threads(1);
    constexpr int team = 3;
    int64_t within = 0;
    std::vector<Outcome> outcomes(2 * team);
#pragma omp parallel num_threads(team)
    {
#pragma omp for
        for (int k = 0; k < 2 * team; k++) outcomes[k] = solve_with_threads(4);
#pragma omp single
        within = living_threads();
    }
    CHECK(within == team);
    for (const Outcome &outcome : outcomes) CHECK(outcome.x == alone.x);
    for (const int threads : {2, 5}) CHECK(solve_with_threads(threads).x == alone.x);
    CHECK(living_threads() <= 5);
}

} // namespace parity_openmp
