// These tests cover a diagonal of H0, the initial inverse Hessian, that the caller supplies.
#include <catch2/catch.hpp>
#include <limits>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

constexpr double condition = 1e6;

// Sets the diagonal to 1 / curvature of scaled_quadratic.
void inverse_curvature(const Vector &x, const Vector &, Vector &diagonal) {
    for (std::size_t i = 0; i < x.size(); i++)
        diagonal[i] =
            1 / scaled_quadratic_curvature(static_cast<int64_t>(i), static_cast<int64_t>(x.size()), condition);
}

void ones(const Vector &, const Vector &, Vector &diagonal) { std::fill(diagonal.begin(), diagonal.end(), 1.0); }

// Sets each element to gamma = s'y / y'y of the last two iterates, which the solver uses if no diagonal is given.
class GammaIdentity {
  public:
    void operator()(const Vector &x, const Vector &g, Vector &diagonal) {
        double gamma = 1;
        if (!x_.empty()) {
            const int64_t n = static_cast<int64_t>(x.size());
            const auto y = [&](int64_t i) { return g[i] - g_[i]; };
            const double sy = pairwise_sum(0, n, [&](int64_t i) { return (x[i] - x_[i]) * y(i); });
            gamma = sy / pairwise_sum(0, n, [&](int64_t i) { return y(i) * y(i); });
        }
        x_ = x;
        g_ = g;
        std::fill(diagonal.begin(), diagonal.end(), gamma);
    }

  private:
    Vector x_, g_;
};

} // namespace

CONFIGURED_TEST_CASE("The exact inverse diagonal saves iterations if the problem is badly scaled", "[diagonal]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    for (const bool bounded : {false, true}) {
        INFO("bounded: " << bounded);
        Problem problem = scaled_quadratic(500, condition);
        if (bounded) problem = in_box(problem, -1, 1.6);
        // The start is far from the solution, and not in the direction of the gradient from it, so that the diagonal
        // matters.
        for (std::size_t i = 0; i < problem.start.size(); i++) problem.start[i] = -1 + static_cast<double>(i % 3);
        const double eps = wide ? 1e-5 : 1e-2;
        Harness<TestType> plain(problem, 5), scaled(problem, 5);
        // With the diagonal at most 5 iterations are needed, and without it more than 3000.
        plain.set_real(CUDA_OPT_EPS, eps).set_int(CUDA_OPT_MAX_ITERATIONS, 100);
        scaled.set_real(CUDA_OPT_EPS, eps).set_int(CUDA_OPT_MAX_ITERATIONS, 100).with_diagonal(inverse_curvature);
        const Outcome without = plain.run(), with = scaled.run();
        check_promises<TestType>(problem, with);
        CHECK(with.task == CUDA_OPT_CONVERGED);
        CHECK(without.task == CUDA_OPT_ITERATION_LIMIT);
        CHECK(scaled.diagonals_asked_for() >= with.iterations);
        CHECK(scaled.diagonals_asked_for() <= with.iterations + 1);
        CHECK(scaled.diagonal_kept());
    }
}

CONFIGURED_TEST_CASE("The diagonal gamma I gives the iterates of a solve without a diagonal", "[diagonal]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    // The standard start of torsion is not used, because at its equal breakpoints one unit in the last place changes f
    // by 3e-3 (docs/determinism.md).
    Problem inner_torsion = torsion(20, 20);
    for (double &x : inner_torsion.start) x *= 0.5;
    for (const Problem &problem : {extended_rosenbrock(1000), extended_wood(1000), trigonometric(100),
                                   chained_rosenbrock(200, 3), inner_torsion}) {
        INFO(problem.name);
        Harness<TestType> with(problem, 5);
        with.with_diagonal(GammaIdentity());
        const Outcome ours = with.run(), plain = solve<TestType>(problem), other = solve<TestType>(moved(problem));
        check_promises<TestType>(problem, ours);
        CHECK(certain_iterates(plain, other) >= 4);
        check_same_iterates(ours, plain, other, 1e-8, 15);
    }
}

CONFIGURED_TEST_CASE("A solve with a diagonal that changes at every iterate converges", "[diagonal]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    for (const bool bounded : {false, true}) {
        INFO("bounded: " << bounded);
        Problem problem = extended_rosenbrock(1000);
        if (bounded) problem = in_box(problem, -1.5, 1.5);
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_EPS, wide ? 1e-5 : 1e-3);
        harness.with_diagonal([](const Vector &x, const Vector &, Vector &diagonal) {
            for (std::size_t i = 0; i < x.size(); i += 2) {
                diagonal[i] = 1 / (2 + 800 * x[i] * x[i]);
                diagonal[i + 1] = 1.0 / 200;
            }
        });
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.f < (wide ? 1e-6 : 1e-2));
        CHECK(harness.diagonal_kept());
    }
}

namespace {

// Sets the diagonal to the reciprocal diagonal of the Gauss-Newton Hessian of the extended Rosenbrock function at x.
void valley_diagonal(const Vector &x, const Vector &, Vector &diagonal) {
    for (std::size_t i = 0; i < x.size(); i += 2) {
        diagonal[i] = 1 / (2 + 800 * x[i] * x[i]);
        diagonal[i + 1] = 1.0 / 200;
    }
}

// Supplies at every iterate what the solver uses if a diagonal is kept for `every_` iterations (0: for all iterations):
// the kept diagonal times s'y / y'H y of the last two iterates.
class Scaled {
  public:
    explicit Scaled(int64_t every) : every_(every) {}
    void operator()(const Vector &x, const Vector &g, Vector &diagonal) {
        const auto n = static_cast<int64_t>(x.size());
        if (iterate_ == 0 || (every_ > 0 && iterate_ % every_ == 0)) valley_diagonal(x, g, kept_ = diagonal);
        double gamma = 1;
        if (iterate_++ > 0) {
            const auto y = [&](int64_t i) { return g[i] - g_[i]; };
            gamma = pairwise_sum(0, n, [&](int64_t i) { return (x[i] - x_[i]) * y(i); }) /
                    pairwise_sum(0, n, [&](int64_t i) { return kept_[i] * y(i) * y(i); });
        }
        x_ = x, g_ = g;
        for (int64_t i = 0; i < n; i++) diagonal[i] = gamma * kept_[i];
    }

  private:
    int64_t every_, iterate_ = 0;
    Vector kept_, x_, g_;
};

} // namespace

CONFIGURED_TEST_CASE("A diagonal that is kept is scaled by the newest correction pair at each iterate", "[diagonal]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8, exact = TestType::history_bits == 64;
    Problem problem = extended_rosenbrock(1000);
    for (std::size_t i = 0; i < problem.start.size(); i++) problem.start[i] += 0.1 * static_cast<double>(i % 7);
    const Problem boxed = in_box(problem, -1.5, 0.9);
    for (const Problem *one : {&std::as_const(problem), &boxed})
        for (const int m : {1, 5, 17})
            for (const int64_t every : {0, 3, 10}) {
                INFO((one == &boxed ? "bounds, " : "") << "m = " << m << ", iterations per request: " << every);
                Harness<TestType> holding(*one, m), supplied(*one, m);
                for (Harness<TestType> *harness : {&holding, &supplied})
                    harness->set_real(CUDA_OPT_EPS, wide ? 1e-5 : 1e-2).set_int(CUDA_OPT_MAX_ITERATIONS, 12);
                holding.with_diagonal(valley_diagonal).set_int(CUDA_OPT_DIAGONAL_EVERY, every);
                const Outcome a = holding.run();
                check_promises<TestType>(*one, a);
                CHECK(holding.diagonal_kept());
                REQUIRE(a.iterations == 12);
                CHECK(holding.diagonals_asked_for() == (every == 0 ? 1 : (12 + every - 1) / every));
                if (!exact) continue;
                Harness<TestType> other(moved(*one), m);
                other.set_real(CUDA_OPT_EPS, 1e-5).set_int(CUDA_OPT_MAX_ITERATIONS, 12);
                const Outcome b = supplied.with_diagonal(Scaled(every)).run(),
                              c = other.with_diagonal(Scaled(every)).run();
                check_same_iterates(a, b, c, 1e-8, 12);
                CHECK(certain_iterates(b, c) >= 4);
                if (certain_iterates(b, c) < 12) continue;
                Vector ours(problem.start.size()), theirs(problem.start.size()); // the diagonals of the newest model
                REQUIRE(cuda_opt_get_diagonal(holding.handle(), ours.data()) == 0);
                REQUIRE(cuda_opt_get_diagonal(supplied.handle(), theirs.data()) == 0);
                for (std::size_t i = 0; i < ours.size(); i++) CHECK(ours[i] == Approx(theirs[i]).epsilon(1e-6));
            }
}

CONFIGURED_TEST_CASE("The interval between requests of a diagonal can be changed at any call", "[diagonal]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem problem = in_box(extended_rosenbrock(1000), -1.5, 0.9);
    Harness<TestType> harness(problem, 5);
    harness.with_diagonal(valley_diagonal).set_int(CUDA_OPT_DIAGONAL_EVERY, 0).set_real(CUDA_OPT_EPS, 0);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 20);
    std::vector<int64_t> asked_at;
    int task = 1;
    while (task > 0) {
        const int64_t iterations = harness.get_int(CUDA_OPT_ITERATIONS);
        task = harness.step();
        if (task == CUDA_OPT_SUPPLY_DIAGONAL) asked_at.push_back(iterations);
        if (task == CUDA_OPT_NEW_ITERATE) { // the inner products have already been formed, with or without the diagonal
            const int64_t iterate = harness.get_int(CUDA_OPT_ITERATIONS);
            if (iterate == 4) harness.set_int(CUDA_OPT_DIAGONAL_EVERY, 1);
            if (iterate == 7) harness.set_int(CUDA_OPT_DIAGONAL_EVERY, 5);
            if (iterate == 11) harness.set_int(CUDA_OPT_DIAGONAL_EVERY, 0);
        }
    }
    const Outcome outcome = harness.outcome();
    check_promises<TestType>(problem, outcome);
    CHECK(outcome.f < outcome.history[11].f);
    CHECK((asked_at == std::vector<int64_t>{0, 4, 5, 6}));
}

CONFIGURED_TEST_CASE("A diagonal that becomes invalid while it is kept ends the solve", "[diagonal]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const double bad : {0.0, -2.5, infinite, std::numeric_limits<double>::quiet_NaN()})
        for (const bool bounded : {false, true}) {
            INFO("the element is " << bad << (bounded ? ", bounds" : ""));
            Problem problem = extended_rosenbrock(5000);
            if (bounded) problem = in_box(problem, -1.5, 1.5);
            Harness<TestType> harness(problem, 5), spoilt(problem, 5);
            harness.with_diagonal(ones).set_int(CUDA_OPT_DIAGONAL_EVERY, 0);
            spoilt.with_diagonal([&](const Vector &x, const Vector &g, Vector &diagonal) {
                ones(x, g, diagonal);
                diagonal[4321] = bad;
            });
            while (harness.get_int(CUDA_OPT_ITERATIONS) < 3) REQUIRE(harness.step() > 0);
            while (spoilt.diagonals_asked_for() == 0) REQUIRE(spoilt.step() > 0);
            harness.share_diagonal(spoilt);
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.task == CUDA_OPT_BAD_DIAGONAL);
            CHECK(outcome.iterations == 3);
            CHECK(outcome.message.find("4321") != std::string::npos);
        }
}

CONFIGURED_TEST_CASE("A diagonal element that is not positive and finite ends the solve", "[diagonal]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const double bad : {0.0, -0.0, -2.5, -infinite, infinite, std::numeric_limits<double>::quiet_NaN()})
        for (const int64_t when : {0, 3}) {
            INFO("the element is " << bad << " at iterate " << when);
            const Problem problem = extended_rosenbrock(5000);
            Harness<TestType> harness(problem, 5);
            int64_t asked = 0;
            harness.with_diagonal([&](const Vector &x, const Vector &g, Vector &diagonal) {
                ones(x, g, diagonal);
                if (asked++ == when) diagonal[4321] = bad;
            });
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.task == CUDA_OPT_BAD_DIAGONAL);
            CHECK(outcome.task == -2);
            CHECK(outcome.iterations == when);
            CHECK(outcome.message.find("4321") != std::string::npos);
        }
}
