// The result of a problem depends only on the problem: not on the other problems, their number, the threads, or the
// position at which it is evaluated.
#include <catch2/catch.hpp>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

constexpr int n = 6;

Problem with(Problem problem, const char *name, Function evaluate) {
    problem.name = name;
    problem.evaluate = std::move(evaluate);
    return problem;
}

std::vector<Problem> healthy() {
    std::vector<Problem> problems;
    for (uint64_t seed = 0; seed < 8; seed++) problems.push_back(chained_rosenbrock(n, seed));
    for (uint64_t seed = 0; seed < 8; seed++) problems.push_back(in_random_boxes(extended_rosenbrock(n), seed));
    problems.push_back(without_bounds(chained_rosenbrock(n, 9)));
    problems.push_back(quadratic_with_known_active_set(n).problem);
    return problems;
}

// A problem that fails, and the return codes that it may have.
struct Sick {
    Problem problem;
    std::vector<int64_t> codes;
};

std::vector<Sick> sick() {
    const Problem base = without_bounds(extended_rosenbrock(n));
    Problem crossed = base, nan_bound = base, nan_start = base, wall = base;
    crossed.lower = Vector(n, 1), crossed.upper = Vector(n, 2);
    crossed.upper[3] = 0;
    nan_bound.lower = Vector(n, -5), nan_bound.upper = Vector(n, 5);
    nan_bound.lower[2] = NAN;
    nan_start.start[4] = NAN;
    return {
        {crossed, {CUDA_OPT_IMPROPER_INPUT}},
        {nan_bound, {CUDA_OPT_IMPROPER_INPUT}},
        {nan_start, {CUDA_OPT_IMPROPER_INPUT}},
        {with(base, "NaN everywhere", [](const Vector &, Vector &g) { return g[0] = NAN; }), {CUDA_OPT_NOT_FINITE}},
        {with(base, "NaN but at the start",
              [start = base.start](const Vector &x, Vector &g) {
                  g.assign(g.size(), 1);
                  return x == start ? 1.0 : NAN;
              }),
         {CUDA_OPT_NOT_FINITE, CUDA_OPT_LINE_SEARCH_FAILED}},
        {with(base, "not bounded below",
              [](const Vector &x, Vector &g) {
                  double f = 0;
                  for (std::size_t i = 0; i < x.size(); i++) f -= x[i], g[i] = -1;
                  return f;
              }),
         // In single precision x may leave the range of numbers first.
         {CUDA_OPT_UNBOUNDED, CUDA_OPT_LINE_SEARCH_FAILED}},
        {with(base, "stuck: g is not the gradient",
              [](const Vector &x, Vector &g) {
                  double f = 0;
                  for (std::size_t i = 0; i < x.size(); i++) f += x[i] * x[i], g[i] = -2 * x[i];
                  return f;
              }),
         {CUDA_OPT_LINE_SEARCH_FAILED}},
    };
}

// What either precision can reach.
template <class Configuration> constexpr double eps = sizeof(typename Configuration::Real) == 8 ? 1e-5 : 1e-3;

template <class Configuration> BatchOutcome alone(const Problem &problem, int m = 5) {
    BatchRun<Configuration> one({problem}, m);
    one.set_int(CUDA_OPT_MAX_ITERATIONS, 300).set_real(CUDA_OPT_EPS, eps<Configuration>);
    one.run();
    return one.outcomes()[0];
}

} // namespace

CONFIGURED_TEST_CASE("Problems that fail do not change the others and a batch of one gives the same bits", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    std::vector<Problem> mixed;
    std::vector<std::vector<int64_t>> codes;
    const auto good = healthy();
    const auto bad = sick();
    for (std::size_t k = 0; k < good.size(); k++) {
        mixed.push_back(good[k]);
        codes.push_back({});
        mixed.push_back(bad[k % bad.size()].problem);
        codes.push_back(bad[k % bad.size()].codes);
    }
    const bool packed = GENERATE(false, true);
    const int threads = GENERATE(1, 2, 5);
    INFO("packed: " << packed << ", threads: " << threads);
    BatchRun<TestType> batch(mixed);
    batch.set_int(CUDA_OPT_MAX_ITERATIONS, 300).set_int(CUDA_OPT_THREADS, threads);
    batch.set_int(CUDA_OPT_BATCH_PACKED, packed).set_real(CUDA_OPT_EPS, eps<TestType>);
    const int task = batch.run();
    CHECK(task == CUDA_OPT_IMPROPER_INPUT); // of the first that has not converged
    const auto outcomes = batch.outcomes();
    for (std::size_t p = 0; p < mixed.size(); p++) {
        INFO(mixed[p].name << ": " << outcomes[p].message);
        if (codes[p].empty()) {
            CHECK(outcomes[p].code == 0);
            CHECK(outcomes[p].same_bits(alone<TestType>(mixed[p])));
        } else {
            CHECK(std::count(codes[p].begin(), codes[p].end(), outcomes[p].code) == 1);
            if (outcomes[p].code == CUDA_OPT_IMPROPER_INPUT) {
                CHECK(outcomes[p].evaluations == 0);
                for (int i = 0; i < n; i++) // nothing was changed
                    if (mixed[p].start[i] == mixed[p].start[i])
                        CHECK(outcomes[p].x[i] == static_cast<typename TestType::Real>(mixed[p].start[i]));
            }
        }
    }
}

CONFIGURED_TEST_CASE("A second solve of a batch handle after a reset has the same bits as the first", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const bool packed = GENERATE(false, true);
    BatchRun<TestType> batch(healthy());
    batch.set_int(CUDA_OPT_BATCH_PACKED, packed);
    batch.run();
    const auto first = batch.outcomes();
    CHECK(batch.call() == CUDA_OPT_MISUSE); // it has ended
    REQUIRE(cuda_opt_reset(batch.handle()) == 0);
    batch.run();
    const auto second = batch.outcomes();
    for (std::size_t p = 0; p < first.size(); p++) CHECK(first[p].same_bits(second[p]));
}

// On CUDA both batches use the same kernels with different amounts of shared memory.
CONFIGURED_TEST_CASE("Alternating calls of two batches of different sizes do not change their results", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    BatchRun<TestType> large({in_box(extended_rosenbrock(40), -1.5, 0.8)}, 8), small({extended_rosenbrock(2)}, 1);
    large.start(), small.start();
    for (int task_large = 1, task_small = 1; task_large > 0 || task_small > 0;) {
        if (task_large > 0 && (task_large = large.call()) > 0) large.evaluate();
        if (task_small > 0 && (task_small = small.call()) > 0) small.evaluate();
    }
    for (BatchRun<TestType> *batch : {&large, &small}) {
        const BatchOutcome together = batch->outcomes()[0];
        batch->handle().reset();
        batch->run();
        CHECK(batch->outcomes()[0].same_bits(together));
    }
}

CONFIGURED_TEST_CASE("If a limit or a stop ends a batch each problem returns the lowest f evaluated", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const auto problems = healthy();
    const bool packed = GENERATE(false, true);
    const std::string how = GENERATE("iterations", "evaluations", "stop", "stop at once");
    INFO(how << ", packed: " << packed);
    BatchRun<TestType> batch(problems);
    batch.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_BATCH_PACKED, packed);
    if (how == "iterations") batch.set_int(CUDA_OPT_MAX_ITERATIONS, 4);
    if (how == "evaluations") batch.set_int(CUDA_OPT_MAX_EVALUATIONS, 3);
    batch.start();
    int64_t round = 0;
    int task = 0;
    while ((task = batch.call()) > 0) {
        batch.evaluate();
        if (how.rfind("stop", 0) == 0 && round++ == (how == "stop" ? 6 : 0))
            REQUIRE(cuda_opt_request_stop(batch.handle()) == 0);
    }
    const int code = how == "iterations"    ? CUDA_OPT_ITERATION_LIMIT
                     : how == "evaluations" ? CUDA_OPT_EVALUATION_LIMIT
                                            : CUDA_OPT_STOPPED;
    const auto outcomes = batch.outcomes();
    int ended_so = 0;
    for (std::size_t p = 0; p < problems.size(); p++) {
        const BatchOutcome &one = outcomes[p];
        ended_so += one.code == code;
        INFO(problems[p].name << ": " << one.message);
        const std::vector<double> &values = batch.values(p);
        CHECK(one.f == *std::min_element(values.begin(), values.end()));
        Vector g(n);
        CHECK(problems[p].evaluate(one.x, g) == one.f);
        for (int i = 0; i < n; i++) CHECK(one.g[i] == static_cast<typename TestType::Real>(g[i]));
    }
    CHECK(ended_so > 0);
    CHECK(task < 0);
}

// A GPU solves this many problems with one thread each, and a few with one warp each.
CONFIGURED_TEST_CASE("Each of very many problems has the same bits as when it is solved alone", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const int64_t count = TestType::backend == CUDA_OPT_BACKEND_CUDA ? 20011 : 211;
    const int m = GENERATE(5, 10);
    const bool packed = GENERATE(false, true);
    INFO("m = " << m << ", packed: " << packed);
    std::vector<Problem> kinds = healthy();
    for (const Sick &one : sick()) kinds.push_back(one.problem);
    std::vector<BatchOutcome> wanted;
    for (const Problem &kind : kinds) wanted.push_back(alone<TestType>(kind, m));
    std::vector<Problem> problems;
    for (int64_t p = 0; p < count; p++) problems.push_back(kinds[static_cast<std::size_t>(p) % kinds.size()]);
    BatchRun<TestType> batch(std::move(problems), m);
    batch.set_int(CUDA_OPT_MAX_ITERATIONS, 300).set_int(CUDA_OPT_BATCH_PACKED, packed);
    batch.set_real(CUDA_OPT_EPS, eps<TestType>);
    batch.run();
    const auto outcomes = batch.outcomes();
    int64_t different = 0;
    for (std::size_t p = 0; p < outcomes.size(); p++) {
        const BatchOutcome &one = outcomes[p], &as_alone = wanted[p % kinds.size()];
        const bool evaluated = as_alone.evaluations > 0; // else f and g are whatever they were
        different += evaluated ? !one.same_bits(as_alone) : one.code != as_alone.code || one.evaluations > 0;
    }
    CHECK(different == 0);
}

CONFIGURED_TEST_CASE("A stop requested before the first call ends a batch without an evaluation", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    BatchRun<TestType> batch(healthy());
    batch.start();
    REQUIRE(cuda_opt_request_stop(batch.handle()) == 0);
    CHECK(batch.call() == CUDA_OPT_STOPPED);
    for (const BatchOutcome &one : batch.outcomes()) CHECK((one.code == CUDA_OPT_STOPPED && one.evaluations == 0));
}
