// The same calls give bitwise identical results: if they are repeated, beside other handles, in other threads, and with
// any number of host threads.
#include <catch2/catch.hpp>
#include <thread>

#include "../support/same_bits.hpp"

using namespace cudaopt_test;

namespace {

// n is large enough that every thread or block has several tiles.
template <class Configuration>
const int64_t several_tiles = Configuration::backend == CUDA_OPT_BACKEND_HOST ? 50001 : 200001;

} // namespace

CONFIGURED_TEST_CASE("A solve after a reset is bitwise identical", "[determinism]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {torsion(40, 40), extended_wood(1000)}) {
        INFO(problem.name);
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_MAX_ITERATIONS, 60);
        const Outcome first = harness.run();
        harness.restart();
        const Outcome second = harness.run();
        check_same_bits(first, second);
        check_promises<TestType>(problem, second);
    }
}

CONFIGURED_TEST_CASE("A reset in the middle of a solve discards its state", "[determinism]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(20, 20);
    Harness<TestType> harness(problem, 5);
    for (int call = 0; call < 25; call++) harness.step();
    harness.restart();
    CHECK(harness.get_int(CUDA_OPT_ITERATIONS) == 0);
    CHECK(harness.get_int(CUDA_OPT_EVALUATIONS) == 0);
    check_same_bits(harness.run(), solve<TestType>(problem));
}

CONFIGURED_TEST_CASE("Two handles give bitwise identical results", "[determinism]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = chained_rosenbrock(30001, 8);
    Harness<TestType> first(problem, 5), second(problem, 5);
    const int iterations = sanitized ? 20 : 100;
    first.set_int(CUDA_OPT_MAX_ITERATIONS, iterations);
    second.set_int(CUDA_OPT_MAX_ITERATIONS, iterations);
    check_same_bits(first.run(), second.run());
}

CONFIGURED_TEST_CASE("Two handles that are called alternately are independent", "[determinism]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem one = torsion(30, 30), two = extended_rosenbrock(5000);
    Harness<TestType> first(one, 5), second(two, 3);
    bool first_goes_on = true, second_goes_on = true;
    while (first_goes_on || second_goes_on) {
        if (first_goes_on) first_goes_on = first.step() > 0;
        if (second_goes_on) second_goes_on = second.step() > 0;
    }
    check_same_bits(first.outcome(), solve<TestType>(one, 5));
    check_same_bits(second.outcome(), solve<TestType>(two, 3));
}

CONFIGURED_TEST_CASE("Two handles in two threads are independent", "[determinism][threads]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem one = torsion(30, 30), two = extended_rosenbrock(5000);
    Harness<TestType> first(one, 5), second(two, 3);
    std::string failure;
    std::thread other([&] {
        try {
            second.run();
        } catch (const std::exception &e) {
            failure = e.what();
        }
    });
    first.run();
    other.join();
    REQUIRE(failure.empty());
    check_same_bits(first.outcome(), solve<TestType>(one, 5));
    check_same_bits(second.outcome(), solve<TestType>(two, 3));
}

CONFIGURED_TEST_CASE("A handle can be called from different threads with the same results", "[determinism][threads]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(20, 20);
    Harness<TestType> harness(problem, 5);
    for (int call = 0; call < 10; call++) std::thread([&] { harness.step(); }).join();
    check_same_bits(harness.run(), solve<TestType>(problem));
}

CONFIGURED_TEST_CASE("Any number of host threads gives bitwise identical results", "[determinism]",
                     HOST_CONFIGURATIONS) {
    const Problem boxed = chained_rosenbrock(several_tiles<TestType>, 9),
                  free = extended_wood(several_tiles<TestType> - 1);
    const int iterations = sanitized ? 7 : 15; // more than m
    for (const Problem &problem : {boxed, free}) {
        INFO(problem.name);
        const auto run_with = [&](int64_t threads) {
            Harness<TestType> harness(problem, 5);
            harness.set_int(CUDA_OPT_THREADS, threads).set_int(CUDA_OPT_MAX_ITERATIONS, iterations);
            return harness.run();
        };
        const Outcome alone = run_with(1);
        CHECK(alone.iterations == iterations);
        for (const int64_t threads : {0, 2, 3, 7}) {
            INFO(threads << " threads");
            check_same_bits(run_with(threads), alone);
        }
    }
}

// n is larger than 8,192, the smallest size for which several threads are used.
CONFIGURED_TEST_CASE("Any number of host threads gives bitwise identical results if products are updated",
                     "[determinism]", HOST_CONFIGURATIONS) {
    const Problem problem = torsion(96, 97);
    const auto run_with = [&](int64_t threads, int64_t metric) {
        Harness<TestType> harness(problem, 30);
        harness.set_int(CUDA_OPT_METRIC, metric).set_real(CUDA_OPT_EPS, 0);
        harness.set_int(CUDA_OPT_THREADS, threads).set_int(CUDA_OPT_MAX_ITERATIONS, sanitized ? 25 : 45);
        return harness.run();
    };
    for (const int64_t metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
        const Outcome alone = run_with(1, metric);
        CHECK(alone.iterations == (sanitized ? 25 : 45));
        for (const int64_t threads : {1, 2, 3}) {
            INFO(threads << " threads, initial Hessian " << metric);
            check_same_bits(run_with(threads, metric), alone);
        }
    }
}
