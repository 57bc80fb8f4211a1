// The system refuses to create threads. The program defines pthread_create, and is therefore separate from the other
// tests.
#include <dlfcn.h>
#include <pthread.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

int granted = -1; // number of threads that can still be created; all if negative
int refused = 0;
int threads = 2; // increases each time, so that new threads have to be created

} // namespace

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                              void *argument) noexcept {
    using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    if (granted == 0) {
        refused++;
        return EAGAIN;
    }
    if (granted > 0) granted--;
    return create(thread, attributes, start, argument);
}

CONFIGURED_TEST_CASE("If the system refuses threads the results are the same", "[threads]", HOST_CONFIGURATIONS) {
    // n is large enough for this many threads, whose scratch memory is limited to a share of the vectors.
    const Problem problem = in_box(extended_rosenbrock(200000), -1.5, 0.8);
    const auto solve_with = [&](int number) {
        Harness<TestType> harness(problem, 5);
        harness.set_int(CUDA_OPT_THREADS, number).set_int(CUDA_OPT_MAX_ITERATIONS, 15);
        return harness.run();
    };
    const Outcome expected = solve_with(1);
    for (const int possible : {0, 1, 2, 0}) {
        INFO(possible << " of " << threads << " threads");
        granted = possible;
        refused = 0;
        const Outcome outcome = solve_with(threads);
        granted = -1;
        CHECK(refused > 0);
        CHECK(outcome.task == expected.task);
        CHECK(outcome.x == expected.x);
        CHECK(outcome.g == expected.g);
        threads += 2;
    }
    CHECK(solve_with(threads++).x == expected.x);
}
