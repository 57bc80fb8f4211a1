// Batches with the caller's or a learned diagonal as initial Hessian are compared with single handles.
#include <catch2/catch.hpp>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

// sum_i c_i (x_i - t_i)^2 / 2 + (x_i - t_i)^4 / 4 + sum_i (x_{i+1} - x_i)^2 / 2 with curvatures c_i from 1 to 1e4, in
// boxes drawn at random; some variables are fixed, some have no bounds.
struct Scaled {
    Vector curvature, target;
    double operator()(const Vector &x, Vector &g) const {
        double f = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            const double d = x[i] - target[i];
            f += curvature[i] * d * d / 2 + d * d * d * d / 4;
            g[i] = curvature[i] * d + d * d * d;
        }
        for (std::size_t i = 0; i + 1 < x.size(); i++) {
            const double e = x[i + 1] - x[i];
            f += e * e / 2;
            g[i] -= e;
            g[i + 1] += e;
        }
        return f;
    }
};

Problem scaled_problem(int n, int boxes, uint64_t seed) {
    Uniform uniform(seed);
    Scaled f{Vector(n), Vector(n)};
    Vector start(n), lower(n, -INFINITY), upper(n, INFINITY);
    for (int i = 0; i < n; i++) {
        f.curvature[i] = std::pow(10, 4.0 * i / std::max(1, n - 1));
        f.target[i] = 2 * uniform() - 1;
        start[i] = 4 * uniform() - 2;
        const double low = 2 * uniform() - 1.5, up = low + 1.5 * uniform(), kind = uniform();
        if (boxes == 0 || kind < 0.2) continue;
        if (kind < 0.8) lower[i] = low;
        if (kind > 0.4) upper[i] = kind > 0.95 ? low : up;
    }
    return {"scaled", start, f, lower, upper};
}

// 1 / second derivatives, for the tests' problems; it changes from iterate to iterate.
void inverse_curvature(const Vector &x, const Vector &, Vector &diagonal) {
    const auto n = static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); i++)
        diagonal[i] = 1 / (std::pow(10, 4 * static_cast<double>(i) / std::max(1.0, n - 1)) + 2 + 3 * x[i] * x[i]);
}

// The settings of the initial Hessian, which are the same for a batch and for a single handle.
struct Metric {
    const char *name;
    int64_t metric, every;
};
constexpr Metric metrics[] = {{"the caller's, at each iterate", CUDA_OPT_METRIC_DIAGONAL, 1},
                              {"the caller's, which holds for three", CUDA_OPT_METRIC_DIAGONAL, 3},
                              {"the caller's, once", CUDA_OPT_METRIC_DIAGONAL, 0},
                              {"learned", CUDA_OPT_METRIC_LEARNED, 1}};

template <class Run> void use(Run &run, const Metric &metric) {
    if (metric.metric == CUDA_OPT_METRIC_DIAGONAL) run.with_diagonal(inverse_curvature);
    run.set_int(CUDA_OPT_METRIC, metric.metric).set_int(CUDA_OPT_DIAGONAL_EVERY, metric.every);
}

template <class Run> Run &to_the_end(Run &run) {
    run.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-7);
    return run;
}

} // namespace

// Sums have another order than in single handles, so that later iterates may differ.
CONFIGURED_TEST_CASE("With a diagonal initial Hessian the iterates of a batch are those of single handles", "[batch]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const int n = GENERATE(1, 2, 5, 20, 41), m = n == 5 ? 3 : n == 20 ? 12 : 5;
    const Metric metric = metrics[GENERATE(0, 1, 2, 3)];
    std::vector<Problem> problems;
    for (int p = 0; p < 60; p++) problems.push_back(scaled_problem(n, p % 3, 100 * static_cast<uint64_t>(n) + p));
    INFO("n = " << n << ", m = " << m << ", " << metric.name);
    for (const int64_t iterations : {15, 3000}) {
        BatchRun<TestType> batch(problems, m), plain(problems, m);
        use(to_the_end(batch), metric);
        batch.set_int(CUDA_OPT_MAX_ITERATIONS, iterations).run();
        to_the_end(plain).run();
        CHECK(batch.outside == 0);
        const auto outcomes = batch.outcomes(), others = plain.outcomes();
        int parted = 0, not_at_the_end = 0;
        double evaluations = 0, evaluations_plain = 0;
        for (std::size_t p = 0; p < problems.size(); p++) {
            Harness<HostDouble> single(problems[p], m);
            use(to_the_end(single), metric);
            const Outcome alone = single.set_int(CUDA_OPT_MAX_ITERATIONS, iterations).run();
            double apart = 0;
            for (int i = 0; i < n; i++) apart = std::max(apart, std::fabs(outcomes[p].x[i] - alone.x[i]));
            if (iterations == 15) {
                parted += !(outcomes[p].evaluations == alone.evaluations && apart <= 1e-7);
            } else {
                INFO("problem " << p << ": " << outcomes[p].message);
                CHECK(outcomes[p].f == Approx(alone.f).epsilon(1e-10).margin(1e-12));
                CHECK(apart <= 1e-6);
                not_at_the_end += (outcomes[p].code != 0) + (alone.task != 0);
            }
            evaluations += static_cast<double>(outcomes[p].evaluations);
            evaluations_plain += static_cast<double>(others[p].evaluations);
        }
        CHECK(parted <= 2);
        CHECK(not_at_the_end == 0);
        if (iterations > 15 && n >= 5) CHECK(evaluations < 0.9 * evaluations_plain);
    }
}

CONFIGURED_TEST_CASE("A batch fits curves in natural units by few evaluations", "[batch]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const int m : {3, 5, 10, 20}) {
        BatchRun<TestType> batch(dose_responses(), m);
        batch.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_real(CUDA_OPT_FACTR, 1e7).run();
        for (const auto &outcome : batch.outcomes()) {
            INFO("m = " << m << ": f = " << outcome.f << ", " << outcome.evaluations << ", " << outcome.message);
            CHECK(outcome.code == CUDA_OPT_CONVERGED);
            CHECK(outcome.f < 1.01 * dose_response_minimum);
            CHECK(outcome.evaluations < 500);
        }
    }
}

CONFIGURED_TEST_CASE("With a diagonal initial Hessian results depend only on the problem itself", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    constexpr int n = 9, count = 30;
    const Metric metric = metrics[GENERATE(0, 1, 2, 3)];
    INFO(metric.name);
    std::vector<Problem> problems;
    for (int p = 0; p < count; p++) problems.push_back(scaled_problem(n, p % 3, 7000 + static_cast<uint64_t>(p)));
    const auto run = [&](const std::vector<Problem> &some, int64_t packed, int64_t threads) {
        BatchRun<TestType> batch(some, 5);
        use(batch, metric);
        batch.set_int(CUDA_OPT_BATCH_PACKED, packed).set_int(CUDA_OPT_THREADS, threads);
        batch.set_real(CUDA_OPT_EPS, 1e-4).set_int(CUDA_OPT_MAX_ITERATIONS, 60).run();
        return batch.outcomes();
    };
    const auto apart = run(problems, 0, 1), packed = run(problems, 1, 3);
    for (int p = 0; p < count; p++) {
        INFO("problem " << p << ": " << apart[p].message);
        CHECK(apart[p].same_bits(packed[p]));
        CHECK(apart[p].same_bits(run({problems[p]}, p % 2, 1)[0]));
    }
}

CONFIGURED_TEST_CASE("A diagonal that is not positive and finite ends its problem alone", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    const double bad = GENERATE(0.0, -1.0, double(NAN), double(INFINITY));
    std::vector<Problem> problems(5, scaled_problem(6, 0, 5));
    constexpr double mark = 1.75; // tells the diagonal's function which problem it is
    problems[2].start[0] = mark;
    BatchRun<TestType> batch(problems, 5);
    batch.with_diagonal([=](const Vector &x, const Vector &g, Vector &diagonal) {
        inverse_curvature(x, g, diagonal);
        if (x[0] == mark) diagonal[4] = bad;
    });
    batch.set_real(CUDA_OPT_EPS, 1e-3).run();
    const auto outcomes = batch.outcomes();
    for (std::size_t p = 0; p < problems.size(); p++) {
        INFO(p << ": " << outcomes[p].message);
        CHECK(outcomes[p].code == (p == 2 ? CUDA_OPT_BAD_DIAGONAL : 0));
    }
    CHECK_THAT(outcomes[2].message,
               Catch::Contains("the diagonal's element at index 4 (counted from 0) is not positive and finite"));
    CHECK(outcomes[2].x[0] == mark);
}

CONFIGURED_TEST_CASE("One diagonal for all problems gives the same bits as equal diagonals of each", "[batch]",
                     BATCH_CONFIGURATIONS) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    constexpr int n = 8, count = 12;
    std::vector<Problem> problems;
    for (int p = 0; p < count; p++) problems.push_back(scaled_problem(n, p % 3, 300 + static_cast<uint64_t>(p)));
    const auto constant = [](const Vector &x, const Vector &g, Vector &diagonal) {
        inverse_curvature(Vector(x.size(), 0.5), g, diagonal);
    };
    BatchRun<TestType> each(problems, 4), all(problems, 4);
    each.with_diagonal(constant);
    Vector values(n);
    constant(Vector(n), {}, values);
    cudaopt::Array<Real> row(all.handle(), n);
    const std::vector<Real> rounded(values.begin(), values.end());
    row.write(0, rounded.data(), n);
    all.handle().set_diagonal(row.data());
    all.set_int(CUDA_OPT_DIAGCO, 1).set_int(CUDA_OPT_BATCH_PACKED, 1);
    each.set_real(CUDA_OPT_EPS, 1e-3).run();
    all.set_real(CUDA_OPT_EPS, 1e-3).run();
    const auto one = each.outcomes(), other = all.outcomes();
    for (int p = 0; p < count; p++) CHECK(one[p].same_bits(other[p]));
}

TEST_CASE("The initial Hessian can be changed after a reset and any evaluation limit is obeyed", "[batch]") {
    const std::vector<Problem> problems{scaled_problem(7, 0, 1), scaled_problem(7, 1, 2)};
    BatchRun<HostDouble> batch(problems, 5);
    batch.set_real(CUDA_OPT_EPS, 1e-6);
    batch.run();
    const auto plain = batch.outcomes();
    const int64_t bytes = batch.get_int(CUDA_OPT_WORKSPACE_BYTES);
    batch.handle().reset();
    batch.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).run();
    const auto learned = batch.outcomes();
    CHECK(batch.get_int(CUDA_OPT_WORKSPACE_BYTES) > bytes);
    CHECK_FALSE(learned[0].same_bits(plain[0]));
    batch.handle().reset();
    batch.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_ONE_NUMBER).run();
    CHECK(batch.outcomes()[0].same_bits(plain[0]));
    CHECK(batch.outcomes()[1].same_bits(plain[1]));

    for (int calls = 1; calls < 12; calls++) { // the last of them end by themselves
        batch.handle().reset();
        batch.with_diagonal(inverse_curvature).set_int(CUDA_OPT_MAX_EVALUATIONS, calls);
        batch.run();
        for (const BatchOutcome &one : batch.outcomes()) {
            INFO(calls << " evaluations: " << one.message);
            CHECK((one.code == CUDA_OPT_EVALUATION_LIMIT || one.code == 0));
            CHECK(one.f <= one.values[0]);
            CHECK(std::find(one.values.begin(), one.values.end(), one.f) != one.values.end());
        }
    }
}
