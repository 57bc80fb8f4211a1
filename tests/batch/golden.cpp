// The iterates of a problem in a batch are those of L-BFGS-B 3.0: f is compared after each, until rounding errors have
// grown. Problems that need more or fewer iterations, or that fail, precede and follow it in the batch.
#include <catch2/catch.hpp>

#include "../reference/comparison.hpp"
#include "run.hpp"

using namespace cudaopt_test;

namespace {

struct GoldenBatch {
    int m;
    double pgtol;
    std::vector<Problem> problems; // of the same n
};

std::vector<GoldenBatch> golden_batches() {
    return {
        {5, 1e-5, {chained_rosenbrock(60, 11), with_mixed_bounds(chained_rosenbrock(60, 2))}},
        {17, 1e-5, {chained_rosenbrock(60, 8)}},
        {3, 1e-4, {chained_rosenbrock(200, 1)}},
        {5, 1e-5, {with_mixed_bounds(chained_rosenbrock(200, 1)), chained_rosenbrock(200, 2)}},
        {5, 1e-8, {torsion(40, 40), in_box(extended_rosenbrock(1600), -1.5, 0.8)}},
        {17, 1e-8, {torsion(40, 40)}},
    };
}

// Problems of n variables with different numbers of iterations; one ends at its start and one is refused.
std::vector<Problem> crowd(int64_t n) {
    std::vector<Problem> others;
    for (uint64_t seed = 70; seed < 76; seed++) others.push_back(in_random_boxes(chained_rosenbrock(n, seed), seed));
    others[2].evaluate = [](const Vector &, Vector &g) { return g[0] = NAN; };
    others[4].lower[0] = others[4].upper[0] + 1;
    return others;
}

} // namespace

CONFIGURED_TEST_CASE("The iterates of a batch are those of L-BFGS-B 3.0", "[batch]", cudaopt_test::HostDouble,
                     cudaopt_test::CudaDouble) {
    if (skipped<TestType>()) return;
    int64_t crossings = 0;
    for (const GoldenBatch &golden : golden_batches()) {
        std::vector<Problem> all = crowd(golden.problems[0].size());
        const std::size_t first = all.size();
        all.insert(all.end(), golden.problems.begin(), golden.problems.end());
        const std::vector<Problem> behind = crowd(golden.problems[0].size());
        all.insert(all.end(), behind.begin(), behind.end());
        BatchRun<TestType> batch(all, golden.m);
        batch.set_int(CUDA_OPT_BATCH_PACKED, golden.m == 5).set_int(CUDA_OPT_MAX_ITERATIONS, 2000);
        batch.set_real(CUDA_OPT_FTOL, 1e-3).set_real(CUDA_OPT_GTOL, 0.9).set_real(CUDA_OPT_XTOL, 0.1);
        batch.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, golden.pgtol);
        batch.run();
        const auto outcomes = batch.outcomes();
        std::vector<int64_t> crossed(all.size());
        REQUIRE(cuda_opt_batch_get_int(batch.handle(), CUDA_OPT_CAUCHY_CROSSINGS, crossed.data()) == 0);
        for (std::size_t p = 0; p < golden.problems.size(); p++) {
            const Problem &problem = golden.problems[p];
            const BatchOutcome &ours = outcomes[first + p];
            INFO(problem.name << ", m = " << golden.m << ": " << ours.message);
            const ReferenceOutcome theirs = solve_reference(problem, golden.m, golden.pgtol);
            // A step cut to the box by rounding alone may take an evaluation more, at the same place.
            const std::size_t follow = std::min(theirs.history.size(), iterations_to_follow + 1);
            std::size_t more = 0;
            for (std::size_t k = 0; k < follow; k++) {
                INFO("iteration " << k);
                std::size_t at = static_cast<std::size_t>(theirs.history[k].evaluations - 1) + more;
                const auto is_there = [&](std::size_t one) {
                    return one < ours.values.size() &&
                           relative_difference(ours.values[one], theirs.history[k].f) <= 1e-9;
                };
                if (!is_there(at)) at++, more++;
                REQUIRE(is_there(at));
            }
            CHECK(more <= 1);
            CHECK(ours.code == 0);
            CHECK(relative_difference(ours.f, theirs.f) <= 1e-10);
            CHECK(active_set(problem, ours.x) == active_set(problem, theirs.x));
            crossings += crossed[first + p];
        }
    }
    CHECK(crossings > 0);
}
