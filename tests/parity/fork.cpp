// The process forks after it has solved with threads. The child does not have these threads and creates its own.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

Outcome solve_with_threads(int threads) {
    Harness<HostDouble> harness(extended_rosenbrock(100000), 5);
    harness.set_int(CUDA_OPT_THREADS, threads).set_int(CUDA_OPT_MAX_ITERATIONS, 10);
    return harness.run();
}

// Runs action() in a child process, which is killed after a hundred seconds. Returns the status of the child.
template <class Action> int status_of_child(const Action &action) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(100);
        _exit(action() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

} // namespace

TEST_CASE("A forked child that solves with threads gets bitwise identical results", "[fork]") {
    const Outcome before = solve_with_threads(2);
    const auto solves = [&] { return solve_with_threads(2).x == before.x && solve_with_threads(3).x == before.x; };
    CHECK(status_of_child(solves) == 0);
    CHECK(status_of_child([&] { return status_of_child(solves) == 0 && solves(); }) == 0);
    CHECK(solve_with_threads(2).x == before.x);
}

TEST_CASE("A forked child can continue a solve of its parent", "[fork]") {
    const Problem problem = extended_rosenbrock(100000);
    Harness<HostDouble> harness(problem, 5);
    harness.set_int(CUDA_OPT_THREADS, 2).set_int(CUDA_OPT_MAX_ITERATIONS, 10);
    const Outcome whole = harness.run();
    harness.restart();
    for (int call = 0; call < 6; call++) harness.step();
    CHECK(status_of_child([&] { return harness.run().x == whole.x; }) == 0);
    CHECK(harness.run().x == whole.x);
}
