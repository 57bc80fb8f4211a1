// Ten thousand random problems with bounds have the minima of single handles and satisfy the first-order conditions.
#include <catch2/catch.hpp>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

// sum c_i (x_i - t_i)^2 / 2 + q_i (x_i - t_i)^4 / 4 + (x_{i+1} - x_i)^2 / 2, c_i from 1 to 5: strictly convex, so that
// there is one minimiser. The box is drawn, too; some variables are fixed, some have no bounds.
Problem random_problem(int n, uint64_t seed) {
    Uniform uniform(seed);
    Vector c(n), q(n), t(n), start(n), lower(n), upper(n);
    for (int i = 0; i < n; i++) {
        c[i] = 1 + 4 * uniform();
        q[i] = uniform();
        t[i] = 2 * uniform() - 1;
        start[i] = 4 * uniform() - 2;
        lower[i] = 2 * uniform() - 1.5;
        upper[i] = lower[i] + 1.5 * uniform();
        const double kind = uniform();
        if (kind < 0.1) upper[i] = lower[i];
        else if (kind < 0.3) lower[i] = -INFINITY;
        else if (kind < 0.5) upper[i] = INFINITY;
    }
    const auto evaluate = [=](const Vector &x, Vector &g) {
        double f = 0;
        for (int i = 0; i < n; i++) {
            const double d = x[i] - t[i];
            f += c[i] * d * d / 2 + q[i] * d * d * d * d / 4;
            g[i] = c[i] * d + q[i] * d * d * d;
        }
        for (int i = 0; i + 1 < n; i++) {
            const double e = x[i + 1] - x[i];
            f += e * e / 2;
            g[i] -= e;
            g[i + 1] += e;
        }
        return f;
    };
    return {"random", start, evaluate, lower, upper};
}

double projected_gradient_norm(const Problem &problem, const Vector &x) {
    Vector g(x.size());
    problem.evaluate(x, g);
    double norm = 0;
    for (std::size_t i = 0; i < x.size(); i++)
        norm = std::max(norm, std::fabs(x[i] - std::clamp(x[i] - g[i], problem.lower[i], problem.upper[i])));
    return norm;
}

} // namespace

CONFIGURED_TEST_CASE("Ten thousand random problems with bounds have the minimisers of single handles", "[batch]",
                     cudaopt_test::HostDouble, cudaopt_test::CudaDouble) {
    if (skipped<TestType>()) return;
    const int n = GENERATE(1, 2, 3, 4, 7, 20, 50, 100);
    const int count = 1250, m = n == 7 ? 20 : n == 4 ? 1 : 5;
    std::vector<Problem> problems;
    for (int p = 0; p < count; p++) problems.push_back(random_problem(n, 1000 * static_cast<uint64_t>(n) + p));
    BatchRun<TestType> batch(problems, m);
    stop_by_eps(batch);
    batch.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-9);
    batch.run();
    INFO("n = " << n << ": " << cuda_opt_message(batch.handle()));
    CHECK(batch.outside == 0);
    const auto outcomes = batch.outcomes();

    cudaopt::Minimiser<double> single(n, m, CUDA_OPT_BACKEND_HOST);
    stop_by_eps(single);
    single.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-9).set_int(CUDA_OPT_THREADS, 1);
    int differ = 0, uncertain = 0, wrong_f = 0, failed = 0, failed_alone = 0;
    for (int p = 0; p < count; p++) {
        const Problem &problem = problems[p];
        Vector x = problem.start, g(x.size());
        double f = 0;
        single.reset();
        single.set_bounds(problem.lower.data(), problem.upper.data());
        int left = 0;
        while ((left = single.solve(x.data(), &f, g.data())) > 0) f = problem.evaluate(x, g);
        failed_alone += left != 0;
        const BatchOutcome &one = outcomes[p];
        wrong_f += !(std::fabs(one.f - f) <= 1e-10 * std::max(1.0, std::fabs(f)));
        failed += one.code != 0; // f can be at its rounding level before ||P g|| is so small
        if (one.code != 0 || left != 0) continue;
        // The norm is rebuilt with sums of other rounding: a little above the test's own.
        uncertain += !(projected_gradient_norm(problem, one.x) <= 1.01e-9);
        for (int i = 0; i < n; i++) differ += !(std::fabs(one.x[i] - x[i]) <= 2.1e-9 * std::sqrt(n));
    }
    CHECK(failed <= failed_alone + 3);
    CHECK(uncertain == 0);
    CHECK(wrong_f == 0);
    CHECK(differ == 0);
}

CONFIGURED_TEST_CASE("A batch reaches the minima of single handles for the standard test problems", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    std::vector<Problem> problems{extended_rosenbrock(60),
                                  extended_wood(60),
                                  without_bounds(chained_rosenbrock(60, 3)),
                                  with_mixed_bounds(chained_rosenbrock(60, 4)),
                                  in_box(extended_rosenbrock(60), -1.5, 0.8),
                                  quadratic_with_known_active_set(60).problem,
                                  quadratic_with_many_breakpoints(60).problem};
    for (Problem &one : problems) // a batch has one n
        one.start.resize(60);
    BatchRun<TestType> batch(problems);
    batch.set_real(CUDA_OPT_EPS, wide ? 1e-8 : 1e-4);
    batch.run();
    const auto outcomes = batch.outcomes();
    CHECK(batch.outside == 0);
    for (std::size_t p = 0; p < problems.size(); p++) {
        INFO(problems[p].name << ": " << outcomes[p].message);
        if (wide) CHECK(outcomes[p].code == 0);
        Vector g(60);
        const double f = problems[p].evaluate(outcomes[p].x, g);
        CHECK(outcomes[p].f == f);
        Harness<TestType> single(problems[p], 5);
        single.set_real(CUDA_OPT_EPS, wide ? 1e-8 : 1e-4);
        const Outcome alone = single.run();
        CHECK(outcomes[p].f == Approx(alone.f).epsilon(wide ? 1e-8 : 1e-3).margin(wide ? 1e-10 : 1e-4));
    }
    const KnownQuadratic known = quadratic_with_known_active_set(60);
    for (std::size_t i = 0; i < 60; i++)
        CHECK(outcomes[5].x[i] == Approx(known.minimiser[i]).epsilon(0).margin(wide ? 1e-7 : 1e-2));
}

CONFIGURED_TEST_CASE("A batch converges from starts at or very close to 0", "[batch]", BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    const auto evaluate = [](const Vector &x, Vector &g) {
        double f = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            f += (x[i] - 1) * (x[i] - 1);
            g[i] = 2 * (x[i] - 1);
        }
        return f;
    };
    std::vector<Problem> problems;
    for (const double start : wide ? std::vector<double>{0, 4.9e-324, 1e-308, 1e-160, 1e-100, 1e-30, 1e-12}
                                   : std::vector<double>{0, 1.5e-45, 1e-40, 1e-30, 1e-20, 1e-12}) {
        const Problem one{"next to 0", Vector(3, start), evaluate};
        problems.push_back(one);
        problems.push_back(in_box(one, -INFINITY, 3));
    }
    BatchRun<TestType> batch(problems);
    batch.run();
    const auto outcomes = batch.outcomes();
    for (std::size_t p = 0; p < problems.size(); p++) {
        INFO("from " << problems[p].start[0] << ": " << outcomes[p].message);
        CHECK(outcomes[p].code == 0);
        for (const double x : outcomes[p].x) CHECK(x == Approx(1).epsilon(wide ? 1e-5 : 1e-3));
    }
}

// Single precision cannot represent the classical first step of 1e-9 here.
CONFIGURED_TEST_CASE("A batch converges if variables are of order 1e9", "[batch]", BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    constexpr double far = 1e9;
    const Problem bowl{"far from 0", Vector(3, far / 2), [](const Vector &x, Vector &g) {
                           double f = 0;
                           for (std::size_t i = 0; i < x.size(); i++) {
                               const double off = x[i] / far - 1;
                               f += off * off;
                               g[i] = 2 * off / far;
                           }
                           return f;
                       }};
    BatchRun<TestType> batch({in_box(bowl, -INFINITY, 3 * far), bowl});
    batch.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-14);
    batch.run();
    for (const BatchOutcome &outcome : batch.outcomes()) {
        INFO(outcome.message);
        CHECK(outcome.code == 0);
        for (const double x : outcome.x) CHECK(x / far == Approx(1).epsilon(1e-5));
    }
}
