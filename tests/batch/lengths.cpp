// Chained Rosenbrock problems of each size in boxes, and problems that are extended with fixed variables.
#include <catch2/catch.hpp>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

double projected_gradient_norm(const Problem &problem, const Vector &x, const Vector &g) {
    double norm = 0;
    for (std::size_t i = 0; i < x.size(); i++)
        norm = std::max(norm, std::fabs(x[i] - std::clamp(x[i] - g[i], problem.lower[i], problem.upper[i])));
    return norm;
}

// The problem's first variables, with others behind them that are fixed and that f does not know.
Problem lengthened(const Problem &problem, int64_t n) {
    Problem longer = problem;
    for (Vector *one : {&longer.start, &longer.lower, &longer.upper}) one->resize(static_cast<std::size_t>(n), 0.75);
    longer.evaluate = [problem](const Vector &x, Vector &g) {
        const Vector own(x.begin(), x.begin() + problem.size());
        Vector own_g(own.size());
        const double f = problem.evaluate(own, own_g);
        g.assign(g.size(), 3.5); // whatever it is, the variables are fixed
        std::copy(own_g.begin(), own_g.end(), g.begin());
        return f;
    };
    return longer;
}

} // namespace

CONFIGURED_TEST_CASE("Ten thousand problems of 2 to 100 variables satisfy the first-order conditions", "[batch]",
                     cudaopt_test::HostDouble, cudaopt_test::CudaDouble) {
    if (skipped<TestType>()) return;
    int64_t count = 0, outside = 0, not_converged = 0, uncertain = 0, wrong = 0;
    for (int n = 2; n <= 100; n++) {
        std::vector<Problem> problems;
        for (uint64_t p = 0; p < 102; p++) {
            const uint64_t seed = 1000 * static_cast<uint64_t>(n) + p;
            const Problem base = chained_rosenbrock(n, seed); // in a box of its own
            problems.push_back(p % 2 == 0 ? in_random_boxes(base, seed) : base);
        }
        BatchRun<TestType> batch(problems);
        batch.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-6).set_int(CUDA_OPT_BATCH_PACKED, n % 2);
        batch.run();
        outside += batch.outside;
        const auto outcomes = batch.outcomes();
        for (std::size_t p = 0; p < problems.size(); p++) {
            const BatchOutcome &one = outcomes[p];
            Vector g(one.x.size());
            wrong += problems[p].evaluate(one.x, g) != one.f || g != one.g;
            not_converged += one.code != 0;
            uncertain += one.code == 0 && !(projected_gradient_norm(problems[p], one.x, g) <= 1e-6);
            count++;
        }
    }
    CHECK(count == 10098);
    CHECK(outside == 0);
    CHECK(wrong == 0);
    CHECK(not_converged == 0);
    CHECK(uncertain == 0);
}

CONFIGURED_TEST_CASE("Additional fixed variables do not change the iterates of a problem", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    const double rounding = wide ? 1e-15 : 1e-7;
    constexpr int64_t n = 11;
    const auto run = [&](const std::vector<Problem> &problems) {
        BatchRun<TestType> batch(problems);
        // The fixed variables contribute to ||x||, but not to the projected gradient.
        batch.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, wide ? 1e-5 : 1e-3);
        batch.run();
        return batch.outcomes();
    };
    std::vector<Problem> problems;
    for (int64_t own = 2; own <= n; own++) problems.push_back(lengthened(chained_rosenbrock(own, 40 + own), n));
    const auto outcomes = run(problems);
    std::size_t compared = 0;
    for (std::size_t p = 0; p < problems.size(); p++) {
        const BatchOutcome &one = outcomes[p];
        const int64_t own = static_cast<int64_t>(p) + 2;
        INFO(own << " of " << n << " variables: " << one.message);
        Problem problem = chained_rosenbrock(own, 40 + own);
        const BatchOutcome shorter = run({problem})[0];
        for (double &x : problem.start) x *= 1 + rounding;
        const BatchOutcome moved = run({problem})[0];
        CHECK(one.code == shorter.code);
        // If all variables are free, the step is computed by another formula, with other rounding errors. f is compared
        // at each evaluation until a start that is moved by rounding errors has changed it.
        const auto apart = [&](const BatchOutcome &other, std::size_t k) {
            return std::fabs(other.values[k] - shorter.values[k]) / shorter.values[0];
        };
        const std::size_t evaluations = std::min({one.values.size(), shorter.values.size(), moved.values.size()});
        std::size_t k = 0;
        for (; k < evaluations && apart(moved, k) <= 1e2 * rounding; k++) CHECK(apart(one, k) <= 1e4 * rounding);
        compared += k;
        for (int64_t i = own; i < n; i++) CHECK(one.x[static_cast<std::size_t>(i)] == 0.75);
    }
    CHECK(compared >= 50);
}
