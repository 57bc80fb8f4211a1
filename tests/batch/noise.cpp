// Batches of functions with errors that are larger than rounding errors. On CUDA the device decides with the noise
// level, so that its decisions are compared with those of the host.
#include <catch2/catch.hpp>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

constexpr double level = 1e-3; // of the noise in f, as a bound on its absolute value

// The chained Rosenbrock function, whose minimum is 0.
double rosenbrock(const Vector &x, Vector &g) {
    std::fill(g.begin(), g.end(), 0.0);
    double f = 0;
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        f += 100 * a * a + b * b;
        g[i] -= 400 * a * x[i] + 2 * b;
        g[i + 1] += 200 * a;
    }
    return f;
}

// The noise depends on x and the seed alone, like that of a solver with a tolerance. The order in which problems are
// evaluated then does not matter. Each component of g has noise of a hundredth of the level.
Problem noisy_problem(int n, bool bounded, uint64_t seed) {
    const auto evaluate = [seed](const Vector &x, Vector &g) {
        uint64_t hash = seed;
        for (const double component : x) {
            uint64_t bits;
            std::memcpy(&bits, &component, sizeof bits);
            hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
        Uniform uniform(hash);
        const double f = rosenbrock(x, g);
        for (double &component : g) component += 1e-2 * level * (2 * uniform() - 1);
        return f + level * (2 * uniform() - 1);
    };
    Problem problem{"noisy Rosenbrock", Vector(static_cast<std::size_t>(n), -1.0), evaluate};
    // The box contains the minimum, and its upper bounds are active on the way.
    if (bounded) problem.lower = Vector(problem.start.size(), -1.5), problem.upper = Vector(problem.start.size(), 1.25);
    return problem;
}

std::vector<Problem> noisy_problems(int count, bool bounded) {
    std::vector<Problem> problems;
    for (int k = 0; k < count; k++) problems.push_back(noisy_problem(10, bounded, 100 + static_cast<uint64_t>(k)));
    return problems;
}

template <class Configuration> BatchRun<Configuration> &set(BatchRun<Configuration> &run, int64_t hessian) {
    run.set_int(CUDA_OPT_INITIAL_HESSIAN, hessian).set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_FACTR, 0);
    return run.set_real(CUDA_OPT_PGTOL, 1e-9).set_real(CUDA_OPT_NOISE_ABS, level);
}

double gap(const Vector &x) {
    Vector g(x.size());
    return rosenbrock(x, g);
}

} // namespace

CONFIGURED_TEST_CASE("With a noise level the problems of a batch converge although f has noise", "[batch][noise]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const int64_t hessian = GENERATE(as<int64_t>{}, CUDA_OPT_INITIAL_HESSIAN_SCALAR, CUDA_OPT_INITIAL_HESSIAN_LEARNED);
    const bool bounded = GENERATE(false, true);
    const int count = GENERATE(7, 300);
    INFO("initial Hessian " << hessian << ", bounded: " << bounded << ", " << count << " problems");
    BatchRun<TestType> run(noisy_problems(count, bounded));
    set(run, hessian).run();
    CHECK(run.outside == 0);
    const std::vector<int64_t> tests = run.handle().integers(CUDA_OPT_STOP_TEST);
    const std::vector<BatchOutcome> outcomes = run.outcomes();
    double sum_of_logarithms = 0;
    for (std::size_t p = 0; p < outcomes.size(); p++) {
        INFO("problem " << p << ": " << outcomes[p].message);
        CHECK(outcomes[p].code == CUDA_OPT_CONVERGED);
        CHECK(tests[p] == CUDA_OPT_NOISE);
        CHECK(gap(outcomes[p].x) < level);
        // x, f and g are from the same evaluation.
        CHECK(std::count(outcomes[p].values.begin(), outcomes[p].values.end(), outcomes[p].f) >= 1);
        sum_of_logarithms += std::log(gap(outcomes[p].x));
    }
    CHECK(sum_of_logarithms / count < std::log(level / 100));

    // Without the level the geometric mean of the gaps is at least ten times as large.
    BatchRun<TestType> without(noisy_problems(count, bounded));
    set(without, hessian).set_real(CUDA_OPT_NOISE_ABS, 0).run();
    double sum_without = 0;
    for (const BatchOutcome &outcome : without.outcomes()) sum_without += std::log(gap(outcome.x));
    CHECK((sum_without - sum_of_logarithms) / count > std::log(10));
}

CONFIGURED_TEST_CASE("With a noise level a batch has the same bits on CUDA as on the host", "[batch][noise]",
                     CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Host = std::conditional_t<sizeof(typename TestType::Real) == 8, HostDouble, HostFloat>;
    const bool bounded = GENERATE(false, true);
    const int count = GENERATE(7, 5001); // by one warp and by one thread per problem
    const int m = GENERATE(5, 10);
    BatchRun<TestType> run(noisy_problems(count, bounded), m);
    BatchRun<Host> host(noisy_problems(count, bounded), m);
    set(run, CUDA_OPT_INITIAL_HESSIAN_SCALAR).run();
    set(host, CUDA_OPT_INITIAL_HESSIAN_SCALAR).run();
    const std::vector<BatchOutcome> found = run.outcomes(), wanted = host.outcomes();
    for (std::size_t p = 0; p < wanted.size(); p++) {
        INFO("problem " << p);
        CHECK(found[p].same_bits(wanted[p]));
    }
}
