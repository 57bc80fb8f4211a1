// The counters of batches are compared with those of single handles. Both take the same decisions, but each has its
// own code for their order.
#include <catch2/catch.hpp>

#include "run.hpp"

using namespace cudaopt_test;

namespace {

constexpr int32_t counters[] = {CUDA_OPT_ITERATIONS,
                                CUDA_OPT_EVALUATIONS,
                                CUDA_OPT_LOWER_COUNT,
                                CUDA_OPT_UPPER_COUNT,
                                CUDA_OPT_SKIPPED_UPDATES,
                                CUDA_OPT_CAUCHY_SEGMENTS,
                                CUDA_OPT_LINE_SEARCH_INFO,
                                CUDA_OPT_REFRESHES,
                                CUDA_OPT_CUTS,
                                CUDA_OPT_CAUCHY_CROSSINGS,
                                CUDA_OPT_BREAKPOINTS_CROSSED,
                                CUDA_OPT_STOP_TEST,
                                CUDA_OPT_START_PROJECTED,
                                CUDA_OPT_SUBSPACE_TRUNCATIONS,
                                CUDA_OPT_CAUCHY_FREE_COUNT,
                                CUDA_OPT_CAUCHY_BREAKPOINTS,
                                CUDA_OPT_SUBSPACE_PROJECTED};

// w_i x_i + 1 / x_i, which is not finite where some x_i is not positive: the first searches have to be cut.
Problem barrier(int n) {
    const auto evaluate = [](const Vector &x, Vector &g) {
        double f = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            const double weight = 2 + static_cast<double>(i % 9);
            g[i] = weight - 1 / (x[i] * x[i]);
            f += x[i] > 0 ? weight * x[i] + 1 / x[i] : NAN;
        }
        return f;
    };
    return {"barrier", Vector(static_cast<std::size_t>(n), 9.0), evaluate};
}

// sum_i w_i (x_i^2 - 1)^2 / 4, from starts close to the maxima.
Problem wells(int n) {
    Problem problem{"wells", {}, [](const Vector &x, Vector &g) {
                        double f = 0;
                        for (std::size_t i = 0; i < x.size(); i++) {
                            const double weight = 1 + static_cast<double>(i % 5), height = x[i] * x[i] - 1;
                            g[i] = weight * height * x[i];
                            f += weight * height * height / 4;
                        }
                        return f;
                    }};
    for (int i = 0; i < n; i++) problem.start.push_back(0.01 * (1 + i % 3));
    return problem;
}

// sum_i c_i (x_i^2 / 2 + cos(2 x_i)) with c_i from 1 to 1e3, whose curvature along a step is often negative.
Problem waves(int n, int seed) {
    const auto c = [n](std::size_t i) { return std::pow(10, 3.0 * static_cast<double>(i) / n); };
    Problem problem{"waves", Vector(static_cast<std::size_t>(n)), [c](const Vector &x, Vector &g) {
                        double f = 0;
                        for (std::size_t i = 0; i < x.size(); i++) {
                            g[i] = c(i) * (x[i] - 2 * std::sin(2 * x[i]));
                            f += c(i) * (x[i] * x[i] / 2 + std::cos(2 * x[i]));
                        }
                        return f;
                    }};
    Uniform uniform(static_cast<uint64_t>(seed) + 77);
    for (double &x : problem.start) x = 20 * uniform() - 10;
    return problem;
}

// sum_i (x_i - 40)^2 / 80 + exp(-x_i), from 0. The curvature falls along the first steps, so that the second search has
// to extrapolate. Variable `bounded` has the upper bound `upper`, and the others have no bounds.
Problem flattening(std::size_t n, std::size_t bounded, double upper) {
    Problem problem{"flattening", Vector(n, 0.0),
                    [](const Vector &x, Vector &g) {
                        double f = 0;
                        for (std::size_t i = 0; i < x.size(); i++) {
                            const double away = x[i] - 40, decay = std::exp(-x[i]);
                            g[i] = away / 40 - decay;
                            f += away * away / 80 + decay;
                        }
                        return f;
                    },
                    Vector(n, -INFINITY), Vector(n, INFINITY)};
    problem.upper[bounded] = upper;
    return problem;
}

// The counters of the single handles, summed over all problems.
struct Rare {
    int64_t truncations = 0, refreshes = 0, skipped = 0, cuts = 0, parted = 0;
};

// The result of a solve: its return code, its counters, and x.
struct Result {
    std::vector<int64_t> numbers;
    Vector x;
    bool same_as(const Result &other) const {
        return numbers == other.numbers && std::equal(x.begin(), x.end(), other.x.begin(), [](double a, double b) {
                   return a == Approx(b).epsilon(1e-6).margin(1e-8);
               });
    }
};

template <class Use> Result solve_alone(const Problem &problem, int m, int64_t iterations, const Use &use, Rare &rare) {
    Harness<HostDouble> single(problem, m);
    use(single);
    const Outcome alone = single.set_int(CUDA_OPT_MAX_ITERATIONS, iterations).run();
    Result result{{alone.task}, alone.x};
    for (const int32_t key : counters) result.numbers.push_back(single.get_int(key));
    rare.truncations += single.get_int(CUDA_OPT_SUBSPACE_TRUNCATIONS);
    rare.refreshes += single.get_int(CUDA_OPT_REFRESHES);
    rare.skipped += single.get_int(CUDA_OPT_SKIPPED_UPDATES);
    rare.cuts += single.get_int(CUDA_OPT_CUTS);
    return result;
}

// Sums have another order in a batch than in a single handle, so that rounding errors may decide otherwise. parted
// counts the problems with different results, except those whose result also changes if start and box are moved by
// rounding errors.
template <class Use> Rare compare(const std::vector<Problem> &problems, int m, int64_t iterations, const Use &use) {
    BatchRun<HostDouble> batch(problems, m);
    use(batch);
    batch.set_int(CUDA_OPT_MAX_ITERATIONS, iterations).run();
    const auto outcomes = batch.outcomes();
    std::vector<std::vector<int64_t>> counted;
    for (const int32_t key : counters) counted.push_back(batch.handle().integers(key));
    Rare rare;
    for (std::size_t p = 0; p < problems.size(); p++) {
        Result in_batch{{outcomes[p].code}, outcomes[p].x};
        for (const std::vector<int64_t> &values : counted) in_batch.numbers.push_back(values[p]);
        const Result alone = solve_alone(problems[p], m, iterations, use, rare);
        if (in_batch.same_as(alone)) continue;
        bool certain = true;
        for (int moves = 1; moves <= 10 && certain; moves++) {
            Problem moved = problems[p];
            for (Vector *one : {&moved.start, &moved.lower, &moved.upper})
                for (double &x : *one) x *= 1 + moves * 1e-15;
            Rare ignored;
            certain = solve_alone(moved, m, iterations, use, ignored).same_as(alone);
        }
        rare.parted += certain;
    }
    INFO(rare.truncations << " truncations, " << rare.refreshes << " refreshes, " << rare.skipped
                          << " skipped updates, " << rare.cuts << " cuts");
    CHECK(rare.parted <= static_cast<int64_t>(problems.size() / 100));
    return rare;
}

// Chained Rosenbrock in narrow boxes, from a start far outside: projections spoil many of the directions.
std::vector<Problem> valleys(int n, int count) {
    std::vector<Problem> problems;
    for (int p = 0; p < count; p++) {
        Uniform uniform(static_cast<uint64_t>(p) + 1);
        Problem one = chained_rosenbrock(n, 1);
        one.start.assign(static_cast<std::size_t>(n), 3.0);
        for (int i = 0; i < n; i++) {
            one.lower[i] = uniform() < 0.5 ? -1 : 0.2;
            one.upper[i] = one.lower[i] + 2 * uniform();
        }
        problems.push_back(one);
    }
    return problems;
}

} // namespace

TEST_CASE("Truncations and crossings in a batch are counted as by single handles", "[batch]") {
    const int64_t metric = GENERATE(int64_t{CUDA_OPT_METRIC_ONE_NUMBER}, int64_t{CUDA_OPT_METRIC_LEARNED});
    INFO("metric " << metric);
    const Rare rare = compare(valleys(30, 200), 5, 20, [&](auto &run) { run.set_int(CUDA_OPT_METRIC, metric); });
    CHECK(rare.truncations > 0);
}

TEST_CASE("Cuts and skipped updates and refreshes in a batch are counted as by single handles", "[batch]") {
    CHECK(compare({barrier(7)}, 5, 12, [](auto &) {}).cuts > 0);
    Problem valley = without_bounds(chained_rosenbrock(20, 1));
    valley.start.assign(20, -1);
    const int64_t metric = GENERATE(int64_t{CUDA_OPT_METRIC_ONE_NUMBER}, int64_t{CUDA_OPT_METRIC_LEARNED});
    // With one evaluation in each search the steps end where the curvature along them is still negative.
    const Rare exhausted = compare({wells(20), in_box(wells(20), -0.5, 2)}, 5, 25, [&](auto &run) {
        run.set_int(CUDA_OPT_METRIC, metric).set_int(CUDA_OPT_MAXFEV, 1);
    });
    CHECK(exhausted.skipped > 0);
    // Here pairs are skipped while a learned diagonal is in use. The products are then computed twice at the same
    // point, and only the first of these sweeps may update the diagonal.
    std::vector<Problem> wavy;
    for (int p = 0; p < 200; p++) wavy.push_back(waves(10, p));
    const Rare later =
        compare(wavy, 5, 40, [&](auto &run) { run.set_int(CUDA_OPT_METRIC, metric).set_int(CUDA_OPT_MAXFEV, 1); });
    CHECK(later.skipped > 20);
    Problem ascent = valley; // the gradient has the wrong sign where f is low
    ascent.evaluate = [valley](const Vector &x, Vector &g) {
        const double f = valley.evaluate(x, g);
        for (double &component : g)
            if (f < 30) component = -component;
        return f;
    };
    CHECK(compare({ascent}, 5, 25, [](auto &) {}).refreshes > 0);
}

TEST_CASE("If a batch recomputes the products over the free variables it matches single handles", "[batch]") {
    // Two thirds of the variables have their minimum beyond the bound 1. A window crosses so many of them that their
    // products are not subtracted one by one.
    const std::size_t n = 1200;
    const Problem far{"far", Vector(n, 0.0),
                      [](const Vector &x, Vector &g) {
                          double f = 0;
                          for (std::size_t i = 0; i < x.size(); i++) {
                              const double curvature = 1 + static_cast<double>(i % 7) * 0.25,
                                           away = x[i] - (i % 3 == 0 ? 0.5 : 10 - static_cast<double>(i % 5));
                              g[i] = curvature * away;
                              f += curvature * away * away / 2;
                          }
                          return f;
                      },
                      Vector(n, -INFINITY), Vector(n, 1.0)};
    for (const int m : {3, 5, 12}) {
        INFO("m = " << m);
        compare({far}, m, 3, [](auto &) {});
        // The products have the weights of the diagonal, which differs between the variables.
        const auto diagonal = [](const Vector &x, const Vector &, Vector &h) {
            for (std::size_t i = 0; i < x.size(); i++) h[i] = 1 + static_cast<double>(i % 5);
        };
        compare({far}, m, 3, [&](auto &run) { run.with_diagonal(diagonal); });
    }
}

TEST_CASE("The bound of any variable limits the longest step of a problem in a batch", "[batch]") {
    for (const std::size_t n : {1, 3, 4})
        for (std::size_t bounded = 0; bounded < n; bounded++)
            for (const double upper : {5.0, 7.0, 9.0}) {
                INFO("variable " << bounded << " of " << n << " is at most " << upper);
                compare({flattening(n, bounded, upper)}, 5, 3, [](auto &run) { run.set_real(CUDA_OPT_GTOL, 0.1); });
            }
}
