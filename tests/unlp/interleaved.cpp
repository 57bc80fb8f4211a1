// Tests of several solves at the same time: by reverse communication in one thread, nested in the function, released
// before their end, and in other threads.
#include <memory>
#include <thread>

#include "run.hpp"

using namespace cudaopt_test;

CONFIGURED_TEST_CASE("Interleaved solves give the same results as separate solves", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    const Problem problems[] = {extended_rosenbrock(100), extended_wood(40), extended_powell(20), trigonometric(30)};
    std::vector<std::unique_ptr<Run<TestType>>> together;
    std::vector<int> codes;
    for (const Problem &problem : problems) {
        together.push_back(std::make_unique<Run<TestType>>(problem));
        codes.push_back(1);
    }
    for (bool any = true; any;) {
        any = false;
        for (std::size_t k = 0; k < together.size(); k++) {
            if (codes[k] > 0) codes[k] = together[k]->reversed_step(3 + static_cast<int>(k));
            any = any || codes[k] > 0;
        }
    }
    for (std::size_t k = 0; k < together.size(); k++) {
        INFO(problems[k].name);
        Run<TestType> alone(problems[k]);
        CHECK(alone.reversed(3 + static_cast<int>(k)) == codes[k]);
        CHECK(alone.x() == together[k]->x());
        CHECK(alone.evaluations() == together[k]->evaluations());
    }
}

CONFIGURED_TEST_CASE("The caller's function may solve another problem", "[unlp]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    Run<TestType> outer(extended_rosenbrock(20)), alone(extended_rosenbrock(20));
    int inner_ended_well = 0;
    outer.at_evaluation = [&] {
        Run<TestType> inner(extended_wood(8));
        inner_ended_well += inner.called_back() == 0;
    };
    CHECK(outer.called_back() == 0);
    alone.called_back();
    CHECK(outer.x() == alone.x());
    CHECK(inner_ended_well == outer.evaluations());
}

CONFIGURED_TEST_CASE("A solve can be released or restarted without an effect on other solves", "[unlp]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    const Problem problem = extended_rosenbrock(100);
    Run<TestType> run(problem), other(problem), plain(problem);
    plain.reversed();
    for (int k = 0; k < 7; k++) {
        REQUIRE(run.reversed_step() > 0);
        REQUIRE(other.reversed_step() > 0);
    }
    CHECK(cuda_opt_unlp_release(run.istate.data()) == 0);
    CHECK(cuda_opt_unlp_release(run.istate.data()) == -3);
    CHECK(run.reversed_step() == -3); // its state is still 1
    CHECK(other.reversed() == 0);     // the release does not affect the other solve
    CHECK(other.x() == plain.x());

    Run<TestType> restarted(problem);
    for (int k = 0; k < 7; k++) REQUIRE(restarted.reversed_step() > 0);
    const Vector there = restarted.x();
    restarted.istate = 0; // restarts from the current x without the history
    CHECK(restarted.reversed() == 0);
    Problem from_there = problem;
    from_there.start = there;
    Run<TestType> fresh(from_there);
    fresh.reversed();
    CHECK(restarted.x() == fresh.x());

    Run<TestType> first(problem), second(problem);
    REQUIRE(first.reversed_step() == 1);
    REQUIRE(second.reversed_step() == 1);
    CHECK(cuda_opt_unlp_release(nullptr) == 0);
    CHECK(cuda_opt_unlp_release(first.istate.data()) == -3);
    CHECK(cuda_opt_unlp_release(second.istate.data()) == -3);
}

CONFIGURED_TEST_CASE("A solve can be continued only by its own thread and is freed with it", "[unlp][threads]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    Run<TestType> run(extended_rosenbrock(100)), plain(extended_rosenbrock(100));
    plain.reversed();
    int elsewhere = untouched;
    std::thread([&] { // The solve is not ended. AddressSanitizer checks that its memory is freed.
        for (int k = 0; k < 5; k++) run.reversed_step();
    })
        .join();
    CHECK(run.reversed_step() == -3);
    CHECK(run.istate == -3);

    Run<TestType> mine(extended_rosenbrock(100));
    for (int k = 0; k < 5; k++) REQUIRE(mine.reversed_step() > 0);
    const int state = mine.istate;
    std::thread([&] { elsewhere = mine.step(5, nullptr); }).join();
    CHECK(elsewhere == -3);
    mine.istate = state;
    CHECK(mine.reversed() == 0);
    CHECK(mine.x() == plain.x());
}

CONFIGURED_TEST_CASE("Solves in concurrent threads give the same result as a single solve", "[unlp][threads]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Defaults defaults;
    const Problem problem = extended_rosenbrock(200);
    Run<TestType> alone(problem);
    alone.called_back();
    std::vector<Vector> found(6);
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < found.size(); k++)
        threads.emplace_back([&, k] {
            Run<TestType> run(problem);
            if (k % 2 == 0) run.called_back();
            else run.reversed();
            found[k] = run.x();
        });
    for (std::thread &thread : threads) thread.join();
    for (const Vector &x : found) CHECK(x == alone.x());
}
