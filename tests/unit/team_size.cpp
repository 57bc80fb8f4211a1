// Tests of the class that selects the number of threads, with run times that are made up.
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <utility>

#include "exec/team_size.hpp"

using cudaopt::TeamSize;

namespace {

using Cost = std::function<double(int threads, int turn)>; // seconds

struct Course {
    double taken = 0;
    int last = 0; // the most frequent number of threads in the last hundred executions
};

Course run(TeamSize &size, int turns, const Cost &cost) {
    Course course;
    int times[65] = {};
    for (int turn = 0; turn < turns; turn++) {
        const int threads = size.next();
        REQUIRE(threads >= 1);
        REQUIRE(threads <= 64);
        if (turn >= turns - 100 && ++times[threads] > times[course.last]) course.last = threads;
        const double seconds = cost(threads, turn);
        size.took(seconds);
        course.taken += seconds;
    }
    return course;
}

// Returns the run time of `work` microseconds of work, plus `handing` microseconds per additional thread.
Cost shared(double work, double handing) {
    return [=](int threads, int) { return 1e-6 * (work / threads + handing * (threads - 1)); };
}

} // namespace

TEST_CASE("TeamSize finds the fastest number of threads from any first number", "[threads]") {
    struct Case {
        double work, handing;
        int best;
    };
    for (const Case c : {Case{20, 100, 1}, {100, 15, 2}, {1000, 10, 8}, {1e6, 1, 24}})
        for (const int first : {1, 5, 24}) {
            INFO(c.work << " us of work, " << c.handing << " us per additional thread, from " << first << " threads");
            TeamSize size;
            size.begin(24, first);
            run(size, 2000, shared(c.work, c.handing));
            const Course course = run(size, 1000, shared(c.work, c.handing));
            CHECK(course.last == c.best);
            CHECK(course.taken <= 1.07 * 1000 * shared(c.work, c.handing)(c.best, 0));
        }
}

TEST_CASE("TeamSize selects one thread while other threads are late and more threads afterwards", "[threads]") {
    TeamSize size;
    size.begin(4, 4);
    const Cost idle = shared(100, 2), busy = [&](int threads, int turn) { // in every fourth execution a thread is late
        return idle(threads, turn) + (threads > 1 && turn % 4 == 0 ? 3e-3 : 0);
    };
    CHECK(run(size, 1000, idle).last == 4);
    const Course beside_others = run(size, 3000, busy);
    CHECK(beside_others.last == 1);
    CHECK(beside_others.taken <= 1.2 * 3000 * busy(1, 0));
    run(size, 20000, idle);
    CHECK(run(size, 1000, idle).last == 4);
}

TEST_CASE("TeamSize weighs the delays of late threads by their frequency", "[threads]") {
    const auto late = [](int every, int turn) { return turn % every == 0 ? 3e-3 : 0; };
    // The mean is 0.21 ms with one thread and 0.40 to 0.44 ms with more.
    const Cost better_alone = [&](int threads, int turn) {
        return 1.5e-4 / threads + (threads == 1 ? 0 : 5e-6) + late(threads == 1 ? 50 : 8, turn);
    };
    // The mean is 0.75 ms with one thread and 0.19 ms with four.
    const Cost better_together = [&](int threads, int turn) {
        return 1.5e-4 / threads + late(threads == 1 ? 5 : 5 * threads, turn);
    };
    for (const int first : {1, 4}) {
        INFO("from " << first << " threads");
        TeamSize alone, together;
        alone.begin(4, first), together.begin(4, first);
        run(alone, 3000, better_alone), run(together, 3000, better_together);
        CHECK(run(alone, 3000, better_alone).taken <= 1.15 * 3000 * 0.21e-3);
        CHECK(run(together, 3000, better_together).taken <= 1.15 * 3000 * 0.1875e-3);
    }
}

TEST_CASE("TeamSize leaves a number of threads that is far too small within a few executions", "[threads]") {
    TeamSize size;
    size.begin(16, 1);
    const Cost cost = shared(160, 1);
    CHECK(run(size, 60, cost).taken <= 0.45 * 60 * cost(1, 0));
}

TEST_CASE("One interrupted execution does not determine the number of threads", "[threads]") {
    TeamSize size;
    size.begin(8, 8);
    const Cost cost = [](int threads, int turn) { return 1e-4 / threads + (turn == 10 ? 0.5 : 0); };
    CHECK(run(size, 3000, cost).taken - 0.5 <= 1.35 * 3000 * 1e-4 / 8); // it causes a few trials only
    CHECK(run(size, 17000, cost).last == 8);
}

TEST_CASE("One interrupted trial does not exclude its number of threads", "[threads]") {
    TeamSize size;
    size.begin(8, 8);
    bool interrupted = false;
    const Cost until_then = [&](int threads, int) {
        const bool now = threads < 8 && !std::exchange(interrupted, interrupted || threads < 8);
        return 1e-4 / threads + (now ? 0.5 : 0);
    };
    run(size, 1000, until_then);
    REQUIRE(interrupted);
    // Only a repeated trial of 4 threads leads to 4, because 2 threads are not faster than 8.
    CHECK(run(size, 20000, shared(1000, 60)).last == 4);
}

TEST_CASE("TeamSize selects one thread if the maximum is one", "[threads]") {
    TeamSize size;
    size.begin(1, 1);
    CHECK(run(size, 1000, shared(100, 1)).last == 1);
}
