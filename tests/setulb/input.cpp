// Invalid input is refused, with the task of L-BFGS-B 3.0 if there is one, and never causes a crash.
#include <catch2/catch.hpp>
#include <functional>

#include "run.hpp"

namespace setulb_input {

using namespace cudaopt_test;

namespace {

Caller sample() { return Caller(in_box(extended_rosenbrock(6), -1, 2), 3, 1e7, 1e-5); }

struct Spoilt {
    std::string task;
    std::function<void(Caller &)> spoil;
};

const double nan_value = std::nan("");

} // namespace

TEST_CASE("Invalid input is refused with the tasks of L-BFGS-B 3.0", "[setulb]") {
    if (backend_lacks()) return;
    const std::vector<Spoilt> cases = {
        {"ERROR: N .LE. 0", [](Caller &c) { c.n = 0; }},
        {"ERROR: N .LE. 0", [](Caller &c) { c.n = -7; }},
        {"ERROR: M .LE. 0", [](Caller &c) { c.m = 0; }},
        {"ERROR: M .LE. 0", [](Caller &c) { c.n = 0, c.m = -1; }},
        {"ERROR: FACTR .LT. 0", [](Caller &c) { c.factr = -1; }},
        {"ERROR: INVALID NBD", [](Caller &c) { c.kind[5] = 4; }},
        {"ERROR: INVALID NBD", [](Caller &c) { c.kind[0] = -1; }},
        {"ERROR: NO FEASIBLE SOLUTION", [](Caller &c) { c.lower[3] = 2.5; }},
        {"ERROR: NO FEASIBLE SOLUTION", [](Caller &c) { c.kind[0] = 9, c.lower[3] = 2.5; }},
    };
    for (const Spoilt &spoilt : cases) {
        INFO(spoilt.task);
        Caller ours = sample();
        spoilt.spoil(ours);
        const Vector start = ours.x;
        ours.call();
        CHECK(ours.task_words() == spoilt.task);
        CHECK(ours.x == start);
        if (const Setulb reference = reference_setulb()) {
            Caller theirs = sample();
            spoilt.spoil(theirs);
            theirs.call(reference);
            CHECK(theirs.task_words() == spoilt.task);
        }
    }
    if (!reference_setulb())
        WARN("skipped: the tasks of L-BFGS-B 3.0 for invalid input are not compared, for liblbfgsb is not "
             "installed");
}

// With this input version 3.0 would not terminate or would return meaningless results.
TEST_CASE("Invalid input that L-BFGS-B 3.0 does not detect is refused", "[setulb]") {
    if (backend_lacks()) return;
    const std::vector<Spoilt> cases = {
        {"ERROR: X IS NOT FINITE", [](Caller &c) { c.x[2] = nan_value; }},
        {"ERROR: X IS NOT FINITE", [](Caller &c) { c.x[5] = INFINITY, c.kind[5] = 1; }},
        {"ERROR: A BOUND IS NAN", [](Caller &c) { c.lower[1] = nan_value; }},
        {"ERROR: A BOUND IS NAN", [](Caller &c) { c.upper[4] = nan_value, c.kind[4] = 3; }},
        {"ERROR: NO FEASIBLE SOLUTION", [](Caller &c) { c.lower[1] = INFINITY, c.kind[1] = 1; }},
        {"ERROR: NO START BEFORE THIS TASK", [](Caller &c) { c.set_task("NEW_X"); }},
        {"ERROR: NO START BEFORE THIS TASK", [](Caller &c) { c.set_task("nonsense"); }},
    };
    for (const Spoilt &spoilt : cases) {
        INFO(spoilt.task);
        Caller caller = sample();
        spoilt.spoil(caller);
        caller.call();
        CHECK(caller.task_words() == spoilt.task);
    }
    Caller caller = sample();
    caller.call();
    caller.set_task("nonsense");
    caller.call();
    CHECK(caller.task_words() == "FG_START"); // it acts as FG_START, because there is an unfinished problem (edits.cpp)
}

// The documentation of L-BFGS-B says: "If the i-th variable has no lower bound, l(i) need not be defined."
TEST_CASE("Bounds that nbd excludes are not read", "[setulb]") {
    if (backend_lacks()) return;
    Caller ours(with_mixed_bounds(chained_rosenbrock(50, 1)), 5, 1e7, 1e-5), same = ours;
    for (int i = 0; i < ours.n; i++) {
        if (ours.kind[i] == 0 || ours.kind[i] == 3) ours.lower[i] = nan_value;
        if (ours.kind[i] <= 1) ours.upper[i] = nan_value;
    }
    ours.solve();
    same.solve();
    CHECK(ours.says("CONVERGENCE"));
    CHECK(ours.x == same.x);
}

TEST_CASE("A solve whose f is NaN at the start ends abnormally with x unchanged", "[setulb]") {
    if (backend_lacks()) return;
    Problem nowhere = in_box(extended_rosenbrock(6), -1, 2);
    nowhere.evaluate = [](const Vector &, Vector &g) {
        std::fill(g.begin(), g.end(), nan_value);
        return nan_value;
    };
    Caller caller(nowhere, 3, 1e7, 1e-5);
    caller.call();
    const Vector start = caller.x;
    caller.evaluate();
    caller.solve();
    CHECK(caller.task_words() == "ABNORMAL_TERMINATION_IN_LNSRCH");
    CHECK(caller.x == start);
}

TEST_CASE("A task from C may end with a NUL instead of blanks", "[setulb]") {
    if (backend_lacks()) return;
    Caller caller = sample();
    std::memset(caller.task, 'x', sizeof caller.task);
    std::strcpy(caller.task, "START");
    caller.call();
    CHECK(caller.task_words() == "FG_START");
}

TEST_CASE("Counters in isave do not overflow if they are at the largest integer", "[setulb]") {
    if (backend_lacks()) return;
    constexpr int most = std::numeric_limits<int>::max();
    Caller caller(with_mixed_bounds(chained_rosenbrock(50, 1)), 5, 0, 0);
    caller.go_to_iterate(4);
    for (const int k : {22, 26, 30, 31, 34, 36}) caller.isave[k - 1] = most;
    for (int calls = 0; calls < 20 && caller.step(); calls++)
        for (const int k : {22, 26, 30, 31, 34}) CHECK(caller.count(k) == most);
    CHECK(caller.count(28) <= caller.m);
}

TEST_CASE("A workspace that is too large for any array is reported as out of memory", "[setulb]") {
    if (backend_lacks()) return;
    Caller caller(chained_rosenbrock(4, 1), 5, 0, 0);
    caller.m = std::numeric_limits<int>::max();
    caller.call();
    CHECK(caller.task_words() == "ERROR: OUT OF MEMORY");
}

} // namespace setulb_input
