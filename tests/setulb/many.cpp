// Several problems at the same time, abandoned problems, and arrays that are reused, copied or moved.
#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

constexpr int many = 8;

Problem problem_number(int k) {
    return k % 2 == 0 ? with_mixed_bounds(chained_rosenbrock(60 + 10 * k, static_cast<uint64_t>(k)))
                      : quadratic_with_known_active_set(40 + 9 * k).problem;
}
Caller caller_number(int k) { return Caller(problem_number(k), 3 + k % 5, 1e7, 1e-7); }

// Returns the result of each problem if it is solved separately.
std::vector<Caller> solved_alone() {
    std::vector<Caller> callers;
    for (int k = 0; k < many; k++) {
        callers.push_back(caller_number(k));
        callers.back().solve();
        REQUIRE(callers.back().says("CONVERGENCE"));
    }
    return callers;
}

void check_same(const Caller &one, const Caller &other) {
    CHECK(one.task_words() == other.task_words());
    CHECK(one.x == other.x);
    CHECK(one.f == other.f);
    CHECK(one.count(34) == other.count(34));
}

} // namespace

TEST_CASE("Eight problems solved by alternating calls match their separate solves", "[setulb]") {
    if (backend_lacks()) return;
    const std::vector<Caller> alone = solved_alone();
    std::vector<Caller> callers;
    for (int k = 0; k < many; k++) callers.push_back(caller_number(k));
    std::vector<bool> goes_on(many, true);
    while (std::find(goes_on.begin(), goes_on.end(), true) != goes_on.end())
        for (int k = 0; k < many; k++)
            if (goes_on[k]) goes_on[k] = callers[k].step();
    for (int k = 0; k < many; k++) {
        INFO("problem " << k);
        check_same(callers[k], alone[k]);
    }
}

TEST_CASE("Eight problems in eight threads match their separate solves", "[setulb][threads]") {
    if (backend_lacks()) return;
    const std::vector<Caller> alone = solved_alone();
    std::vector<Caller> callers;
    for (int k = 0; k < many; k++) callers.push_back(caller_number(k));
    std::vector<std::thread> threads;
    for (Caller &caller : callers) threads.emplace_back([&caller] { caller.solve(); });
    for (std::thread &thread : threads) thread.join();
    for (int k = 0; k < many; k++) {
        INFO("problem " << k);
        check_same(callers[k], alone[k]);
    }
}

TEST_CASE("START in the arrays of an abandoned or finished problem begins a new solve", "[setulb]") {
    if (backend_lacks()) return;
    Caller alone = caller_number(2);
    alone.solve();
    Caller again = caller_number(2);
    again.go_to_iterate(5);
    again.restart();
    again.solve();
    check_same(again, alone);
    again.restart(); // after the end of the solve
    again.solve();
    check_same(again, alone);
}

// A leak checker reports nothing, because the memory of these problems stays reachable and is freed if it is reused.
TEST_CASE("Abandoned problems leak no memory", "[setulb]") {
    if (backend_lacks()) return;
    for (int k = 0; k < 3 * many; k++) {
        const auto caller = std::make_unique<Caller>(caller_number(k % many));
        caller->go_to_iterate(1 + k % 3);
        if (k % 4 == 0) caller->step();
        if (k % 5 == 0) cuda_opt_setulb_release(caller->isave);
    }
    cuda_opt_setulb_release(nullptr);
    cuda_opt_setulb_release(nullptr); // no problem is left
    Caller caller = caller_number(0); // this problem is left until the library is unloaded
    caller.go_to_iterate(2);
}

TEST_CASE("Arrays may move between two calls", "[setulb]") {
    if (backend_lacks()) return;
    Caller alone = caller_number(4);
    alone.solve();
    auto caller = std::make_unique<Caller>(caller_number(4));
    while (caller->step()) {
        auto elsewhere = std::make_unique<Caller>(*caller);
        std::fill(caller->wa.begin(), caller->wa.end(), 0);
        caller = std::move(elsewhere);
    }
    check_same(*caller, alone);
}

// Without its handle, a problem continues from its last iterate with an empty history. The iterates differ, but the
// solve converges.
TEST_CASE("A released problem or a copy of its arrays continues with an empty history", "[setulb]") {
    if (backend_lacks()) return;
    Caller alone = caller_number(6);
    alone.solve();
    for (const int calls_on : {0, 1}) {
        INFO(calls_on << " calls after an iterate");
        Caller caller = caller_number(6);
        caller.go_to_iterate(4);
        for (int i = 0; i < calls_on; i++) caller.step();
        const double f = caller.says("NEW_X") ? caller.f : caller.measure(2);
        Caller copy = caller;
        caller.solve();
        check_same(caller, alone);

        CHECK(copy.step());
        CHECK(copy.task_words() == "FG_LNSRCH");
        CHECK(copy.measure(2) == f);
        CHECK(copy.count(31) == 0);
        copy.solve();
        CHECK(copy.says("CONVERGENCE"));
        CHECK(copy.f == Approx(alone.f).epsilon(1e-6));
        CHECK(copy.count(30) > 5);
    }
    Caller caller = caller_number(6);
    caller.step();
    cuda_opt_setulb_release(caller.isave);
    caller.solve();
    check_same(caller, alone); // the history was still empty
}

// This test is run separately with CUDA_OPT_SETULB_KEEP=2. The first problem that continues replaces the seventh.
TEST_CASE("Problems in excess of CUDA_OPT_SETULB_KEEP continue with an empty history", "[.][room]") {
    if (backend_lacks()) return;
    std::vector<Caller> callers;
    for (int k = 0; k < many; k++) callers.push_back(Caller(quadratic_with_known_active_set(30).problem, 3, 1e3, 1e-6));
    for (Caller &caller : callers) caller.go_to_iterate(2);
    int without_memory = 0;
    for (Caller &caller : callers) {
        caller.step();
        without_memory += caller.count(31) == 0;
        caller.solve();
        CHECK(caller.says("CONVERGENCE"));
        CHECK(caller.f == Approx(callers[0].f).epsilon(1e-9));
    }
    CHECK(without_memory == many - 1); // the last problem had kept its history
}
