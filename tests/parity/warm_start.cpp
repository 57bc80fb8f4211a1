// A warm start uses the correction pairs of one solve as the history of the next, which solves a slightly different
// problem.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

constexpr int64_t n = 10;

// Returns a problem of a sequence: a quadratic with curvatures from 1 to 1000, whose targets and box differ a little
// between the problems. Some of the targets are outside the box. With as many correction pairs as variables, the model
// of one problem is that of the next, so that a warm start takes few evaluations.
Problem of_sequence(int number) {
    Uniform uniform(static_cast<uint64_t>(number) + 1);
    const auto moves = [&uniform](double value) { return value + 0.01 * (uniform() - 0.5); };
    Vector target(n), lower(n), upper(n);
    for (std::size_t i = 0; i < n; i++) {
        target[i] = moves(1 + 0.25 * static_cast<double>(i % 5));
        lower[i] = moves(-5);
        upper[i] = moves(1.6);
    }
    const auto evaluate = [target](const Vector &x, Vector &g) {
        return pairwise_sum(0, n, [&](int64_t i) {
            const double away = x[i] - target[i];
            g[i] = scaled_quadratic_curvature(i, n, 1e3) * away;
            return g[i] * away / 2;
        });
    };
    return {"of a sequence", Vector(n, 0.0), evaluate, lower, upper};
}

// Solves all problems of a sequence with one handle. Each solve starts at the solution of the previous problem.
template <class Configuration> class Sequence {
  public:
    using Real = typename Configuration::Real;

    Sequence() : s_(n, m), x_(s_, n), g_(s_, n), lower_(s_, n), upper_(s_, n), f_(s_, 1) {
        s_.set_real(CUDA_OPT_EPS, sizeof(Real) == 8 ? 1e-5 : 1e-4);
        s_.set_bounds(lower_.data(), upper_.data());
        x_.write(Vector(n, 0.0));
    }
    Handle<Configuration> &handle() { return s_; }

    // Sets the bounds of this problem.
    Problem begin(int number) {
        const Problem problem = of_sequence(number);
        lower_.write(problem.lower);
        upper_.write(problem.upper);
        return problem;
    }
    // Returns the number of evaluations.
    int64_t solve(int number) {
        const Problem problem = begin(number);
        int task;
        while ((task = s_.solve(x_.data(), f_.data(), g_.data())) > 0) {
            Vector g(n);
            f_.write({problem.evaluate(x_.read(), g)});
            g_.write(g);
        }
        INFO(s_.message());
        CHECK(task == CUDA_OPT_CONVERGED);
        return s_.get_int(CUDA_OPT_EVALUATIONS);
    }
    double f() const { return f_.read()[0]; }
    void load(const Checkpoint &checkpoint) { s_.load(checkpoint, x_.data(), f_.data(), g_.data()); }

  private:
    static constexpr int m = 20;

    Handle<Configuration> s_;
    Array<Real> x_, g_, lower_, upper_;
    Array<double> f_;
};

} // namespace

CONFIGURED_TEST_CASE("In a sequence of similar problems warm starts save evaluations", "[warm-start]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Sequence<TestType> cold, warm;
    cold.solve(0);
    warm.solve(0);
    int64_t without = 0, with = 0;
    for (int number = 1; number <= 10; number++) {
        cold.handle().reset();
        without += cold.solve(number);
        warm.handle().warm_start();
        CHECK(warm.handle().get_int(CUDA_OPT_PAIRS) > 0);
        CHECK(warm.handle().get_int(CUDA_OPT_ITERATIONS) == 0);
        with += warm.solve(number);
        CHECK(warm.f() == Approx(cold.f()).epsilon(sizeof(typename TestType::Real) == 8 ? 1e-7 : 1e-4));
    }
    INFO(with << " evaluations with a warm start, " << without << " without");
    CHECK(with < without); // about a third
}

CONFIGURED_TEST_CASE("A warm start after a load is identical to one of the saved solve", "[warm-start]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Sequence<TestType> one, other;
    one.solve(0);
    other.solve(5); // the reset discards this history
    other.handle().reset();
    other.begin(0);
    other.load(one.handle().save());
    one.handle().warm_start();
    other.handle().warm_start();
    CHECK(other.handle().get_int(CUDA_OPT_PAIRS) == one.handle().get_int(CUDA_OPT_PAIRS));
    CHECK(other.solve(1) == one.solve(1));
    CHECK(other.f() == one.f());
}

// Between an iterate and the next direction, the slot of the newest y still contains the previous gradient. A warm
// start forms y.
CONFIGURED_TEST_CASE("A warm start at an iterate takes the next step of the uninterrupted solve", "[warm-start]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    for (const Problem &problem : {chained_rosenbrock(20, 1), in_box(chained_rosenbrock(20, 1), -2, 0.9)})
        for (int iterate = 1; iterate <= 8; iterate++) {
            INFO(problem.name << ", iterate " << iterate);
            Harness<TestType> on(problem, 5), anew(problem, 5);
            for (Harness<TestType> *harness : {&on, &anew})
                while (harness->get_int(CUDA_OPT_ITERATIONS) < iterate) REQUIRE(harness->step() > 0);
            REQUIRE(cuda_opt_warm_start(anew.handle()) == 0);
            REQUIRE(anew.step() == CUDA_OPT_EVALUATE_FG); // evaluates at the iterate
            CHECK(anew.outcome().x == on.outcome().x);
            REQUIRE(anew.step() == CUDA_OPT_EVALUATE_FG);
            REQUIRE(on.step() == CUDA_OPT_EVALUATE_FG);
            const Vector there = on.outcome().x, here = anew.outcome().x;
            for (std::size_t i = 0; i < there.size(); i++)
                CHECK(here[i] == Approx(there[i]).epsilon(wide ? 1e-9 : 1e-4));
        }
}

CONFIGURED_TEST_CASE("A warm start is possible after any number of calls", "[warm-start]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = in_box(extended_rosenbrock(20), -2, 2);
    const double f = solve<TestType>(problem).f;
    for (int calls = 0; calls < 40; calls++) {
        INFO("after " << calls << " calls");
        Harness<TestType> harness(problem, 5);
        if (sizeof(typename TestType::Real) == 4) harness.set_real(CUDA_OPT_EPS, 1e-3);
        for (int call = 0; call < calls; call++) harness.step();
        REQUIRE(cuda_opt_warm_start(harness.handle()) == 0);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(std::fabs(outcome.f - f) < 1e-4);
        CHECK(outcome.outside == 0);
    }
}

CONFIGURED_TEST_CASE("After a bad diagonal the kept correction pairs are independent of the array g", "[warm-start]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // y of the newest correction pair is formed at the end of the solve, so that later changes of g have no effect.
    const auto evaluations = [](bool spoilt) {
        Harness<TestType> harness(extended_rosenbrock(20), 5);
        int64_t asked = 0;
        harness.with_diagonal([&asked](const Vector &, const Vector &, Vector &diagonal) {
            std::fill(diagonal.begin(), diagonal.end(), ++asked == 12 ? -1.0 : 1e-3);
        });
        const Outcome ended = harness.run();
        CHECK(ended.task == CUDA_OPT_BAD_DIAGONAL);
        for (const Iterate &iterate : ended.history) CHECK(ended.f <= iterate.f);
        if (spoilt) harness.write_g(Vector(20, 1e10));
        CHECK(cuda_opt_warm_start(harness.handle()) == 0);
        harness.set_int(CUDA_OPT_DIAGCO, 0);
        return harness.run().evaluations;
    };
    CHECK(evaluations(true) == evaluations(false));
}

CONFIGURED_TEST_CASE("Every solve requests a new diagonal", "[warm-start]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(extended_rosenbrock(20), 5);
    harness.with_diagonal(
        [](const Vector &, const Vector &, Vector &diagonal) { std::fill(diagonal.begin(), diagonal.end(), 1e-3); });
    harness.set_int(CUDA_OPT_DIAGONAL_EVERY, 0); // once per solve
    harness.run();
    CHECK(harness.diagonals_asked_for() == 1);
    harness.restart();
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 3); // far from the minimum
    harness.run();
    CHECK(harness.diagonals_asked_for() == 1); // the count restarted
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 2000);
    harness.warm_start();
    harness.run();
    CHECK(harness.diagonals_asked_for() == 2);
}
