// Compares each call with L-BFGS-B 3.0: the same tasks in the same order, the same iterates, the same array entries.
#include <catch2/catch.hpp>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

// Multiplies f and its gradient by a factor. If f is steep, the first line search takes several steps.
Problem scaled(Problem problem, double factor) {
    problem.evaluate = [plain = problem.evaluate, factor](const Vector &x, Vector &g) {
        const double f = plain(x, g);
        for (double &component : g) component *= factor;
        return factor * f;
    };
    problem.name += ", scaled";
    return problem;
}

struct GoldenCase {
    Problem problem;
    int m;
    double factr, pgtol;
};

std::vector<GoldenCase> golden_cases() {
    return {
        {torsion(40, 40), 5, 0, 1e-6},
        {in_random_boxes(extended_beale(1000), 1), 5, 1e4, 0},
        {in_box(extended_rosenbrock(1000), -1.5, 0.8), 5, 0, 1e-8},
        {with_mixed_bounds(chained_rosenbrock(200, 1)), 5, 1e10, 0},
        {with_mixed_bounds(extended_wood(1000)), 17, 1e9, 1e-4},
        {scaled(in_box(trigonometric(100), -0.1, 0.25), 1e3), 3, 1e10, 0},
        {quadratic_with_known_active_set(300).problem, 5, 0, 1e-6},
        {quadratic_with_many_breakpoints(20000).problem, 5, 0, 1e-6},
        {without_bounds(quadratic_with_known_active_set(300).problem), 5, 0, 1e-6},
        {scaled_quadratic(500, 100), 17, 1e7, 1e-8},
        {in_box(extended_rosenbrock(100), -3, -2), 5, 1e7, 1e-5},
    };
}

void check_close(double ours, double theirs, double tolerance) {
    constexpr double rounding = 1e-12; // of f and g, which are of order 1 or larger
    CHECK(std::fabs(ours - theirs) <= tolerance * std::fabs(theirs) + rounding);
}

void check_entries(const Caller &ours, const Caller &theirs) {
    // These entries are: segments in total, unit of the log, skipped updates, oldest pair, number of pairs, newest
    // pair, iteration, updates, segments in this iteration, evaluations, info of the line search, evaluations in this
    // line search, whether the subspace minimiser was outside the box, free variables, active variables.
    for (const int k : {22, 24, 26, 27, 28, 29, 30, 31, 33, 34, 35, 36, 37, 38, 39}) {
        INFO("isave(" << k << ")");
        CHECK(ours.count(k) == theirs.count(k));
    }
    for (int k = 1; k <= 4; k++) {
        INFO("lsave(" << k << ")");
        CHECK((ours.lsave[k - 1] != 0) == (theirs.lsave[k - 1] != 0));
    }
    for (const int k : {1, 2, 3, 4, 5, 13, 14, 15, 16, 17, 18, 21}) {
        INFO("dsave(" << k << ")");
        check_close(ours.measure(k), theirs.measure(k), 1e-6);
    }
    INFO("dsave(11)"); // may be near 0
    CHECK(std::fabs(ours.measure(11) - theirs.measure(11)) <= 1e-6 * std::fabs(theirs.measure(15)));
}

} // namespace

TEST_CASE("Tasks and iterates and array entries match L-BFGS-B 3.0 at each call", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_setulb();
    if (!reference) {
        WARN("skipped: tasks, iterates and entries are not compared with those of L-BFGS-B 3.0, for liblbfgsb is not "
             "installed");
        return;
    }
    // If the start of L-BFGS-B 3.0 is multiplied by 1 + 1e-15, f and x of these iterates change by at most 7e-12, and
    // no count changes. At the end f changes by at most 7e-12, although chance decides the number of iterations of two
    // cases.
    constexpr int iterations_to_follow = 12;
    for (const GoldenCase &golden : golden_cases()) {
        INFO(golden.problem.name << ", m = " << golden.m);
        Caller ours(golden.problem, golden.m, golden.factr, golden.pgtol);
        Caller theirs(golden.problem, golden.m, golden.factr, golden.pgtol);
        bool goes_on = true;
        while (goes_on && theirs.count(30) < iterations_to_follow) {
            goes_on = theirs.step(reference);
            REQUIRE(ours.step() == goes_on);
            INFO("iteration " << theirs.count(30));
            REQUIRE(ours.task_words() == theirs.task_words());
            check_close(ours.f, theirs.f, 1e-9);
            CHECK(ours.count(30) == theirs.count(30));
            CHECK(ours.count(34) == theirs.count(34));
            if (theirs.says("NEW_X")) check_entries(ours, theirs);
        }
        if (!goes_on) continue;
        theirs.solve(reference);
        ours.solve();
        CHECK(ours.task_words() == theirs.task_words());
        CHECK(ours.says("CONVERGENCE"));
        check_close(ours.f, theirs.f, golden.factr > 0 ? 1e-7 : 1e-9);
    }
}

// If the projected subspace step is not a descent direction, version 3.0 and our host backend know this before the
// trial point is evaluated. On a GPU the host would have to wait for this information.
TEST_CASE("A truncated subspace step costs more evaluations than L-BFGS-B 3.0 only on a GPU", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_setulb();
    if (!reference) {
        WARN("skipped: the evaluations after a truncated step are not compared with those of L-BFGS-B 3.0, for "
             "liblbfgsb is not installed");
        return;
    }
    const Problem problem = in_box(extended_beale(1000), 0, 2.5);
    Caller ours(problem, 5, 0, 1e-6), theirs(problem, 5, 0, 1e-6);
    for (int k = 1; k <= 10; k++) {
        INFO("iteration " << k);
        ours.go_to_iterate(k);
        theirs.go_to_iterate(k, reference);
        REQUIRE(theirs.says("NEW_X"));
        check_close(ours.f, theirs.f, 1e-9);
    }
    const int more = ours.count(34) - theirs.count(34);
    if (runs_on_cuda()) {
        CHECK(more > 0);
        CHECK(more <= 2);
    } else {
        CHECK(more == 0);
    }
}

TEST_CASE("A gradient of the wrong sign ends the solve as in L-BFGS-B 3.0", "[setulb]") {
    if (backend_lacks()) return;
    Problem wrong = in_box(extended_rosenbrock(20), -2, 2);
    wrong.evaluate = [right = wrong.evaluate](const Vector &x, Vector &g) {
        const double f = right(x, g);
        for (double &component : g) component = -component;
        return f;
    };
    Caller ours(wrong, 5, 1e7, 1e-5);
    ours.solve();
    CHECK(ours.task_words() == "ABNORMAL_TERMINATION_IN_LNSRCH");
    // The best point is restored.
    Vector g(ours.g.size());
    CHECK(ours.f == wrong.evaluate(ours.x, g));
    CHECK(ours.g == g);
    if (const Setulb reference = reference_setulb()) {
        Caller theirs(wrong, 5, 1e7, 1e-5);
        theirs.solve(reference);
        CHECK(ours.task_words() == theirs.task_words());
        CHECK(ours.x == theirs.x);
        for (const int k : {30, 35}) CHECK(ours.count(k) == theirs.count(k));
    } else {
        WARN("skipped: the failed line search is not compared with that of L-BFGS-B 3.0, for liblbfgsb is not "
             "installed");
    }
}
