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
    constexpr int64_t n = 11;
    std::vector<Problem> problems;
    for (int64_t own = 2; own <= n; own++) problems.push_back(lengthened(chained_rosenbrock(own, 40 + own), n));
    BatchRun<TestType> batch(problems);
    batch.set_real(CUDA_OPT_EPS, wide ? 1e-5 : 1e-3);
    batch.run();
    const auto outcomes = batch.outcomes();
    for (std::size_t p = 0; p < problems.size(); p++) {
        const int64_t own = static_cast<int64_t>(p) + 2;
        INFO(own << " of " << n << " variables: " << outcomes[p].message);
        BatchRun<TestType> alone({chained_rosenbrock(own, 40 + own)});
        alone.set_real(CUDA_OPT_EPS, wide ? 1e-5 : 1e-3);
        alone.run();
        const BatchOutcome shorter = alone.outcomes()[0];
        CHECK(outcomes[p].code == shorter.code);
        CHECK(outcomes[p].values == shorter.values); // f at each evaluation, to the bit
        for (int64_t i = 0; i < n; i++) {
            const double x = outcomes[p].x[static_cast<std::size_t>(i)];
            CHECK(x == (i < own ? shorter.x[static_cast<std::size_t>(i)] : 0.75));
        }
    }
}
