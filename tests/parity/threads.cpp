// Several threads of the caller solve at the same time, each with several threads of the solver. The test is small
// enough for ThreadSanitizer.
#include <catch2/catch.hpp>
#include <thread>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

// The first Cauchy points cross some of the bounds.
template <class Configuration> Outcome solve_with_threads(int threads) {
    Harness<Configuration> harness(in_box(extended_rosenbrock(20000), -1.1, 0.4), 3);
    harness.set_int(CUDA_OPT_THREADS, threads).set_int(CUDA_OPT_MAX_ITERATIONS, 6);
    return harness.run();
}

} // namespace

CONFIGURED_TEST_CASE("Concurrent solves with several threads each give the same results", "[threads]",
                     HOST_CONFIGURATIONS) {
    const Outcome alone = solve_with_threads<TestType>(1);
    std::vector<Outcome> outcomes(3);
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller < outcomes.size(); caller++)
        callers.emplace_back([&outcome = outcomes[caller], caller] {
            for (const int threads : {2, 4, 3})
                outcome = solve_with_threads<TestType>(threads + static_cast<int>(caller));
        });
    for (std::thread &caller : callers) caller.join();
    for (const Outcome &outcome : outcomes) {
        CHECK(outcome.task == alone.task);
        CHECK(outcome.x == alone.x);
        CHECK(outcome.g == alone.g);
    }
}
