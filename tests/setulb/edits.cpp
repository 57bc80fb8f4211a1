// Changes that a caller may make to its arguments and arrays between two calls, compared with L-BFGS-B 3.0. Some take
// effect; others are documented to have no effect.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

// Returns NULL, with a warning, if L-BFGS-B 3.0 is not available.
Setulb reference_or_warning() {
    const Setulb reference = reference_setulb();
    if (!reference)
        WARN("skipped: the calls after an edit are not compared with L-BFGS-B 3.0, for liblbfgsb is not installed");
    return reference;
}

// Solves the same problem with our library and L-BFGS-B 3.0, with the same changes.
struct Both {
    Caller ours, theirs;
    Setulb reference;

    Both(const Problem &problem, int m, double factr, double pgtol, Setulb reference)
        : ours(problem, m, factr, pgtol), theirs(ours), reference(reference) {}
    void go_to_iterate(int k) {
        ours.go_to_iterate(k);
        theirs.go_to_iterate(k, reference);
        REQUIRE(ours.says("NEW_X"));
        REQUIRE(theirs.says("NEW_X"));
    }
    void edit(const std::function<void(Caller &)> &change) {
        change(ours);
        change(theirs);
    }
    bool step() {
        const bool goes_on = theirs.step(reference);
        CHECK(ours.step() == goes_on);
        return goes_on;
    }
    // The tolerances are far above the effect of rounding errors: from a start times 1 + 1e-15, f and x of the first 16
    // iterates of sample() change by at most 2e-14.
    void check_same(double tolerance) const {
        INFO("iteration " << theirs.count(30));
        CHECK(ours.task_words() == theirs.task_words());
        CHECK(ours.f == Approx(theirs.f).epsilon(tolerance));
        for (std::size_t i = 0; i < ours.x.size(); i++)
            CHECK(ours.x[i] == Approx(theirs.x[i]).epsilon(tolerance).margin(tolerance));
        for (const int k : {26, 30, 31, 34, 36}) {
            INFO("isave(" << k << ")");
            CHECK(ours.count(k) == theirs.count(k));
        }
    }
    void check_same_path(int calls, double tolerance) {
        for (int i = 0; i < calls && step(); i++) check_same(tolerance);
        check_same(tolerance);
    }
    void check_same_solution() {
        ours.solve();
        theirs.solve(reference);
        INFO(ours.task_words() << " after " << ours.count(30) << " iterations, f = " << ours.f);
        CHECK(ours.says("CONVERGENCE"));
        CHECK(theirs.says("CONVERGENCE"));
        CHECK(ours.f == Approx(theirs.f).epsilon(1e-6).margin(1e-9));
    }
};

Problem sample() { return with_mixed_bounds(chained_rosenbrock(50, 1)); }
Problem without_gradient() {
    Problem flat = in_box(extended_rosenbrock(6), -1, 2);
    flat.evaluate = [](const Vector &, Vector &g) {
        std::fill(g.begin(), g.end(), 0.0);
        return 7.0;
    };
    return flat;
}
// Returns a problem with all nbd = 2 and some infinite bounds.
Caller boxed_without_end(const Problem &problem, std::size_t finite) {
    Caller caller(problem, 5, 0, 1e-5); // with 1e-7, rounding errors of f are too large on a GPU
    std::fill(caller.kind.begin(), caller.kind.end(), 2);
    std::fill_n(caller.lower.begin(), finite, -2.0);
    std::fill_n(caller.upper.begin(), finite, 0.8);
    return caller;
}

} // namespace

TEST_CASE("A change of f at NEW_X takes effect and keeps the correction pairs", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    // If f is decreased by 100, no step reaches a lower f, which the line search detects.
    for (const double less : {1e-3, 100.0})
        for (const Problem &problem : {sample(), without_bounds(chained_rosenbrock(50, 1))}) {
            INFO("f - " << less);
            Both both(problem, 5, 0, 1e-6, reference);
            both.go_to_iterate(6);
            both.edit([=](Caller &c) { c.f -= less; });
            const double edited = both.ours.f;
            both.step();
            CHECK(both.ours.measure(2) == edited);
            both.check_same(1e-7);
            both.check_same_path(5, 1e-6);
        }
}

TEST_CASE("A change of the objective at NEW_X leads to the solution of L-BFGS-B 3.0", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    Problem heavier = sample();
    double weight = 1;
    heavier.evaluate = [plain = heavier.evaluate, &weight](const Vector &x, Vector &g) {
        const double f = plain(x, g);
        for (double &component : g) component *= weight;
        return weight * f;
    };
    Both both(heavier, 5, 1e3, 1e-6, reference);
    both.go_to_iterate(6);
    weight = 0.5;
    both.edit([](Caller &c) { c.evaluate(); });
    both.check_same_solution();
}

TEST_CASE("The solve continues from another point that is set at NEW_X", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    Both both(in_box(extended_rosenbrock(20), -2, 2), 5, 1e3, 1e-6, reference);
    both.go_to_iterate(3);
    both.edit([](Caller &c) {
        std::fill(c.x.begin(), c.x.end(), 0.9); // closer to the solution
        c.evaluate();
    });
    const Vector edited = both.ours.x;
    both.step();
    for (const Caller *caller : {&both.ours, &both.theirs}) {
        const auto base = caller->wa.begin() + 3 * caller->n + 2 * caller->m * caller->n + 11 * caller->m * caller->m;
        CHECK(std::equal(edited.begin(), edited.end(), base));
    }
    both.check_same_solution();
}

TEST_CASE("A point that is set at NEW_X is refused if it is not finite", "[setulb]") {
    if (backend_lacks()) return;
    Caller caller(sample(), 5, 0, 0);
    caller.go_to_iterate(3);
    caller.f -= 1;
    caller.x[7] = std::nan("");
    caller.call();
    CHECK(caller.task_words() == "ERROR: X IS NOT FINITE");
}

// This differs from L-BFGS-B 3.0: our library looks for changes of x and g only if f has changed.
TEST_CASE("A change of x or g at NEW_X has no effect if f is unchanged", "[setulb]") {
    if (backend_lacks()) return;
    Caller plain(sample(), 5, 0, 1e-6), edited = plain;
    for (Caller *caller : {&plain, &edited}) caller->go_to_iterate(3);
    edited.x[0] += 0.25;
    edited.g[1] *= 2;
    plain.step();
    edited.step();
    CHECK(edited.x == plain.x);
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    Caller theirs(sample(), 5, 0, 1e-6);
    theirs.go_to_iterate(3, reference);
    theirs.x[0] += 0.25;
    theirs.g[1] *= 2;
    theirs.step(reference);
    CHECK(std::fabs(theirs.x[0] - plain.x[0]) > 1e-3);
}

// This also differs from L-BFGS-B 3.0: our library uses the x that was given with START.
TEST_CASE("A change of x at FG_START has no effect", "[setulb]") {
    if (backend_lacks()) return;
    Caller ours(without_bounds(chained_rosenbrock(4, 1)), 3, 0, 1e-6), theirs = ours;
    const Vector away(4, 100.0);
    const auto distance = [](const Caller &c) {
        double largest = 0;
        for (const double x : c.x) largest = std::max(largest, std::fabs(x - 100));
        return largest;
    };
    const auto edit = [&](Caller &c, Setulb setulb) {
        c.call(setulb);
        c.x = away;
        c.evaluate();
        c.call(setulb);
        CHECK(c.says("FG_LNSRCH"));
    };
    edit(ours, setulb_);
    CHECK(distance(ours) > 10);
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    edit(theirs, reference);
    CHECK(distance(theirs) <= 1);
}

TEST_CASE("pgtol is read at each call", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    Both both(sample(), 5, 0, 1e30, reference); // any point satisfies this test
    both.step();
    CHECK(both.ours.says("FG_START"));
    both.edit([](Caller &c) { c.pgtol = 0; });
    both.step();
    CHECK(both.ours.says("FG_LNSRCH"));
    both.edit([](Caller &c) { c.pgtol = 1e30; });
    while (both.step()) both.check_same(1e-8);
    CHECK(both.ours.task_words() == "CONVERGENCE: NORM_OF_PROJECTED_GRADIENT_<=_PGTOL");
    both.check_same(1e-8);

    Both at_start(sample(), 5, 0, 0, reference);
    at_start.step();
    at_start.edit([](Caller &c) { c.pgtol = 1e30; });
    CHECK_FALSE(at_start.step());
    at_start.check_same(0);
    CHECK(at_start.ours.says("CONVERGENCE: NORM"));
}

TEST_CASE("A zero gradient is not convergence if pgtol is negative or NaN", "[setulb]") {
    if (backend_lacks()) return;
    for (const double pgtol : {-1.0, std::nan(""), 0.0}) {
        Caller ours(without_gradient(), 5, 0, pgtol), theirs = ours;
        ours.solve();
        CHECK(ours.says(pgtol == 0 ? "CONVERGENCE: NORM" : "ABNORMAL"));
        const Setulb reference = reference_or_warning();
        if (!reference) continue;
        theirs.solve(reference);
        CHECK(ours.task_words() == theirs.task_words());
        CHECK(ours.x == theirs.x);
        for (const int k : {30, 34, 35}) CHECK(ours.count(k) == theirs.count(k));
    }
}

TEST_CASE("The first step is 1 if all nbd are 2 even if bounds are infinite", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    for (const std::size_t finite : {0u, 10u}) {
        Both both(chained_rosenbrock(50, 1), 5, 0, 1e-5, reference);
        both.edit([=](Caller &c) { c = boxed_without_end(chained_rosenbrock(50, 1), finite); });
        both.check_same_path(15, 1e-6);
        CHECK(both.ours.lsave[2] != 0);
        both.check_same_solution();
    }
}

// This differs from L-BFGS-B 3.0: our library reads the bounds at START and if the caller has changed f.
TEST_CASE("A change of the bounds at NEW_X takes effect only if f changes too", "[setulb]") {
    if (backend_lacks()) return;
    Caller ours(in_box(extended_rosenbrock(20), -2, 0.5), 5, 0, 1e-8), other_f = ours, theirs = ours;
    const auto widen = [](Caller &c) { std::fill(c.upper.begin(), c.upper.end(), 3.0); };
    const auto largest = [](const Caller &c) { return *std::max_element(c.x.begin(), c.x.end()); };
    ours.go_to_iterate(1);
    REQUIRE(ours.says("NEW_X"));
    widen(ours);
    ours.solve();
    CHECK(ours.says("CONVERGENCE"));
    CHECK(largest(ours) == 0.5);
    other_f.go_to_iterate(1);
    widen(other_f);
    other_f.f = std::nextafter(other_f.f, 0.0);
    other_f.solve();
    CHECK(other_f.says("CONVERGENCE"));
    CHECK(largest(other_f) == Approx(1).epsilon(1e-5));
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    theirs.go_to_iterate(1, reference);
    widen(theirs);
    theirs.solve(reference);
    CHECK(largest(theirs) > 0.5);
}

TEST_CASE("An unexpected task acts as FG_START at the caller's x and keeps the pairs", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    for (const std::string words : {"nonsense", "", "CONVERGENCE", "FG_START"})
        for (const int calls_on : {0, 1}) {
            INFO("'" << words << "', " << calls_on << " calls after an iterate");
            Both both(sample(), 5, 0, 1e-6, reference);
            both.go_to_iterate(4);
            for (int i = 0; i < calls_on; i++) both.step();
            both.edit([&](Caller &c) { c.set_task(words); });
            both.step();
            const bool same_pairs = calls_on > 0; // at NEW_X, version 3.0 has not stored the newest pair yet
            if (words != "FG_START") {
                CHECK(both.ours.says("FG_START"));
                both.check_same(1e-6);
                both.step();
            }
            if (same_pairs) both.check_same(1e-5);
            both.check_same_solution();
        }
}

TEST_CASE("S and Y are written to wa only if CUDA_OPT_SETULB_PAIRS is 1", "[setulb]") {
    if (backend_lacks()) return;
    const Setulb reference = reference_or_warning();
    if (!reference) return;
    for (const bool shown : {true, false}) {
        if (shown) setenv("CUDA_OPT_SETULB_PAIRS", "1", 1);
        else unsetenv("CUDA_OPT_SETULB_PAIRS");
        for (const int iterations : {3, 9}) {
            Both both(sample(), 4, 0, 0, reference);
            both.go_to_iterate(iterations);
            both.step(); // the last pair is stored in the call after NEW_X
            const auto size = static_cast<std::size_t>(2 * both.ours.m * both.ours.n);
            double largest = 0, difference = 0;
            for (std::size_t i = 0; i < size; i++) {
                largest = std::max(largest, std::fabs(both.theirs.wa[i]));
                difference = std::max(difference, std::fabs(both.ours.wa[i] - both.theirs.wa[i]));
            }
            if (shown) CHECK(difference <= 1e-6 * largest);
            else
                CHECK(std::all_of(both.ours.wa.begin(), both.ours.wa.begin() + static_cast<std::ptrdiff_t>(size),
                                  [](double v) { return v == 0; }));
            for (const int k : {4, 5, 27, 28, 29}) CHECK(both.ours.count(k) == both.theirs.count(k));
        }
    }
    unsetenv("CUDA_OPT_SETULB_PAIRS");
}
