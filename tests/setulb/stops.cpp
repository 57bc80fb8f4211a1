// The tasks STOP, and STOP: CPU, which restores the base point of the line search, as in L-BFGS-B 3.0.
#include <catch2/catch.hpp>

#include "run.hpp"

namespace setulb_stops {

using namespace cudaopt_test;

namespace {

Problem sample() { return with_mixed_bounds(chained_rosenbrock(50, 1)); }

// Continues to the k-th iterate, makes this number of further calls, and stops.
Caller stopped(const std::string &words, int k, int calls_on, Setulb setulb) {
    Caller caller(sample(), 5, 0, 0);
    caller.go_to_iterate(k, setulb);
    for (int i = 0; i < calls_on; i++) caller.step(setulb);
    caller.set_task(words);
    caller.call(setulb);
    return caller;
}

} // namespace

TEST_CASE("STOP: CPU within a line search restores the last iterate", "[setulb]") {
    if (backend_lacks()) return;
    Caller iterate(sample(), 5, 0, 0);
    iterate.go_to_iterate(4);
    REQUIRE(iterate.says("NEW_X"));
    const Caller ours = stopped("STOP: CPU EXCEEDING THE TIME LIMIT.", 4, 1, setulb_);
    CHECK(ours.task_words() == "STOP: CPU EXCEEDING THE TIME LIMIT.");
    CHECK(ours.x == iterate.x);
    CHECK(ours.g == iterate.g);
    CHECK(ours.f == iterate.f);
    // Driver 3 of L-BFGS-B reads the latest iterate in wa before it stops.
    const int before = 3 * ours.n + 2 * ours.m * ours.n + 11 * ours.m * ours.m;
    CHECK(std::equal(iterate.x.begin(), iterate.x.end(), ours.wa.begin() + before));
    CHECK(ours.measure(2) == iterate.f);
}

TEST_CASE("Any other STOP task leaves x and f and g unchanged", "[setulb]") {
    if (backend_lacks()) return;
    Caller trial(sample(), 5, 0, 0);
    trial.go_to_iterate(4);
    trial.step();
    const Caller ours = stopped("STOP: ENOUGH", 4, 1, setulb_);
    CHECK(ours.task_words() == "STOP: ENOUGH");
    CHECK(ours.x == trial.x);
    CHECK(ours.g == trial.g);
    CHECK(ours.f == trial.f);
}

TEST_CASE("x and f and g after a STOP task match L-BFGS-B 3.0", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_setulb();
    if (!reference) {
        WARN("skipped: x, f and g after a stop are not compared with L-BFGS-B 3.0, for liblbfgsb is not installed");
        return;
    }
    for (const std::string words : {"STOP: CPU", "STOP: ENOUGH", "STOP"})
        for (const int calls_on : {0, 1}) {
            INFO(words << ", " << calls_on << " calls after an iterate");
            const Caller ours = stopped(words, 3, calls_on, setulb_);
            const Caller theirs = stopped(words, 3, calls_on, reference);
            CHECK(ours.task_words() == theirs.task_words());
            CHECK(ours.f == Approx(theirs.f).epsilon(1e-10));
            for (std::size_t i = 0; i < ours.x.size(); i++) {
                CHECK(ours.x[i] == Approx(theirs.x[i]).epsilon(1e-9));
                CHECK(ours.g[i] == Approx(theirs.g[i]).epsilon(1e-6).margin(1e-8));
            }
        }
}

TEST_CASE("A STOP task before the first evaluation leaves x at the start", "[setulb]") {
    if (backend_lacks()) return;
    Caller caller(sample(), 5, 0, 0);
    caller.call();
    REQUIRE(caller.task_words() == "FG_START");
    const Vector start = caller.x;
    caller.set_task("STOP: CPU");
    caller.call();
    CHECK(caller.x == start);
}

TEST_CASE("Solves to the rounding level of f converge about as often as in L-BFGS-B 3.0", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_setulb();
    if (!reference) {
        WARN("skipped: solves to the rounding level of f are not compared with L-BFGS-B 3.0, for liblbfgsb is not "
             "installed");
        return;
    }
    // The end of a single problem depends on rounding errors. 18 of the 300 problems did not converge, with either
    // library; the limit of the difference is three times this number.
    int ours = 0, theirs = 0;
    constexpr int problems = 300;
    for (int k = 0; k < problems; k++) {
        const Problem problem = {"quartic", Vector(1, 3.0), [k](const Vector &x, Vector &g) {
                                     const double a = 1 + 0.1 * k, away = x[0] - 0.01 * k;
                                     g[0] = a * away + 0.4 * x[0] * x[0] * x[0];
                                     return a / 2 * away * away + 0.1 * x[0] * x[0] * x[0] * x[0];
                                 }};
        Caller of_ours(problem, 5, 0, 0), of_theirs(problem, 5, 0, 0);
        of_ours.solve();
        of_theirs.solve(reference);
        ours += of_ours.says("CONVERGENCE");
        theirs += of_theirs.says("CONVERGENCE");
    }
    INFO(ours << " of ours and " << theirs << " of theirs converge");
    CHECK(std::abs(ours - theirs) <= 3 * 18);
}

} // namespace setulb_stops
