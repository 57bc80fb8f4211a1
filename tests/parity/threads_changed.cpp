// The number of threads of a handle changes between two solves, and allocations for the new threads fail. The program
// defines aligned_alloc, and is therefore separate from the other tests.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

int64_t granted = -1; // number of allocations that still succeed; all if negative
int64_t asked_for = 0;

} // namespace

extern "C" void *__libc_memalign(std::size_t alignment, std::size_t size); // glibc provides this function
extern "C" void *aligned_alloc(std::size_t alignment, std::size_t size) {
    asked_for++;
    if (granted == 0) return nullptr;
    if (granted > 0) granted--;
    return __libc_memalign(alignment, size);
}

TEST_CASE("After a failed allocation for more threads the handle can still solve", "[memory]") {
    const Problem problem = extended_rosenbrock(50000);
    const auto solve_with = [&](Harness<HostDouble> &harness, int threads) {
        harness.restart();
        harness.set_int(CUDA_OPT_THREADS, threads).set_int(CUDA_OPT_MAX_ITERATIONS, 10);
        return harness.run();
    };
    Harness<HostDouble> fresh(problem, 5);
    const Outcome expected = solve_with(fresh, 9); // the threads exist from now on
    REQUIRE(expected.task == CUDA_OPT_ITERATION_LIMIT);
    for (const int64_t refused : {0, 1, 2, 3}) {
        INFO("failing allocation: " << refused);
        Harness<HostDouble> harness(problem, 5);
        CHECK(solve_with(harness, 4).x == expected.x);
        const int64_t bytes = harness.get_int(CUDA_OPT_WORKSPACE_BYTES);
        for (const int threads : {1, 9}) {
            asked_for = 0;
            granted = refused;
            const Outcome outcome = solve_with(harness, threads);
            granted = -1;
            if (asked_for > refused) {
                CHECK(outcome.task == CUDA_OPT_OUT_OF_MEMORY);
                CHECK(outcome.message.find("bytes of workspace were asked for") != std::string::npos);
                CHECK(harness.get_int(CUDA_OPT_WORKSPACE_BYTES) == bytes);
            } else {
                CHECK(outcome.x == expected.x);
            }
            CHECK(solve_with(harness, 4).x == expected.x);
            CHECK(harness.get_int(CUDA_OPT_WORKSPACE_BYTES) == bytes);
        }
    }
}

TEST_CASE("An increase of the number of threads takes one allocation", "[memory]") {
    Harness<HostDouble> harness(extended_rosenbrock(50000), 5);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 2).set_int(CUDA_OPT_THREADS, 3).run();
    harness.restart();
    harness.set_int(CUDA_OPT_THREADS, 2).run();
    harness.restart();
    asked_for = 0;
    harness.set_int(CUDA_OPT_THREADS, 3).run();
    CHECK(asked_for == 1);
}
