// Every walk is bitwise identical to that of figure 1 of Zhu and Curry (2009), by functor and by batches, on host and
// CUDA.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "../support/configurations.hpp"
#include "naive.hpp"
#include "objectives.hpp"

using namespace search_test;
using namespace cudaopt_test;
using cudaopt::AtSmallestStep;

namespace {

template <class Objective> Function function_of(int n) {
    return [n](const Vector &x) { return Objective()(x, n); };
}

// The options, one after another.
std::vector<Problem> problems() {
    std::vector<Problem> all;
    for (const AtSmallestStep rule : {AtSmallestStep::restart_step, AtSmallestStep::stop, AtSmallestStep::new_point}) {
        Problem p = problem_of(5, 37, 60);
        p.options.at_smallest = rule;
        p.options.halvings = 4;
        all.push_back(p);
    }
    for (const int64_t round : {1, 7, 60, 61}) // one of a single iteration; 60: the search ends with its only round
        for (const AtSmallestStep rule : {AtSmallestStep::restart_step, AtSmallestStep::new_point}) {
            Problem p = problem_of(5, 37, 60);
            p.options.at_smallest = rule;
            p.options.halvings = 4;
            p.options.round_iterations = round;
            all.push_back(p);
        }
    all.push_back(problem_of(1, 3, 20));
    all.push_back(problem_of(20, 10, 20));
    Problem steps = problem_of(4, 11, 30);
    steps.options.steps = {0.1, 1, 3, 100};
    all.push_back(steps);
    Problem fixed = problem_of(3, 5, 30);
    fixed.lower[1] = fixed.upper[1] = 0.25;
    all.push_back(fixed);
    return all;
}

template <class Configuration, class Objective> void check_batches() {
    if (skipped<Configuration>()) return;
    for (const Problem &p : problems()) {
        INFO(p.n() << " variables, rule " << static_cast<int>(p.options.at_smallest));
        const Function f = function_of<Objective>(p.n());
        CHECK(batch_search(p, f, Configuration::backend) == naive_search(p, f));
    }
}

// In one of its evaluations the time runs out, however fast the machine is.
struct LateRosenbrock : Rosenbrock {
    int64_t *evaluations, late;
    double seconds;
    template <class Point> double operator()(const Point &x, int n) const {
        if (++*evaluations == late) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        return Rosenbrock::operator()(x, n);
    }
};

} // namespace

TEMPLATE_TEST_CASE("A search by a functor takes the walks of the published algorithm", "[search]", Bowl, Rosenbrock,
                   Terraces, Stairs, Holes) {
    for (const Problem &p : problems()) {
        INFO(p.n() << " variables, rule " << static_cast<int>(p.options.at_smallest));
        CHECK(host_search<TestType>(p) == naive_search(p, function_of<TestType>(p.n())));
    }
}

// The sums have no rounding errors, so that no move can differ.
TEMPLATE_TEST_CASE("Partial evaluations of exact sums lead to the walks of the published algorithm", "[search]",
                   TerracesBySums, StairsByTerms, HolesBySums, HolesByTerms) {
    for (const Problem &p : problems()) {
        INFO(p.n() << " variables, rule " << static_cast<int>(p.options.at_smallest));
        CHECK(host_search<TestType>(p) == naive_search(p, function_of<TestType>(p.n())));
    }
}

TEMPLATE_TEST_CASE("With partial evaluations the returned values are those of full evaluations", "[search]", BowlBySums,
                   RosenbrockByTerms) {
    for (const Problem &p : problems()) {
        const Outcome o = host_search<TestType>(p);
        for (std::size_t w = 0; w < o.f.size(); w++) CHECK(o.f[w] == TestType()(o.x[w], p.n()));
    }
}

// Terraces and stairs have values that single precision holds exactly, so that the moves are those of double precision
// with each coordinate rounded.
TEMPLATE_TEST_CASE("In single precision a search takes the walks of the algorithm with rounded coordinates", "[search]",
                   Terraces, Stairs, Holes, TerracesBySums, StairsByTerms) {
    for (Problem p : problems()) {
        INFO(p.n() << " variables, rule " << static_cast<int>(p.options.at_smallest));
        p.single = true;
        CHECK(host_search<TestType, 0, float>(p) == naive_search(p, function_of<TestType>(p.n())));
        if (p.n() == 20) CHECK(host_search<TestType, 20, float>(p) == host_search<TestType, 0, float>(p));
    }
}

TEST_CASE("A search with n as a compile-time constant has the same bits", "[search]") {
    const Problem p = problem_of(20, 33, 40);
    CHECK(host_search<Rosenbrock, 20>(p) == host_search<Rosenbrock>(p));
    CHECK(host_search<RosenbrockByTerms, 20>(p) == host_search<RosenbrockByTerms>(p));
    CHECK(host_search<BowlBySums, 20>(p) == host_search<BowlBySums>(p));
}

TEST_CASE("A search by batches takes the walks of the published algorithm on the host", "[search]") {
    check_batches<HostDouble, Rosenbrock>();
    check_batches<HostDouble, Terraces>();
    check_batches<HostDouble, Holes>();
}

TEST_CASE("A search by batches takes the walks of the published algorithm on CUDA", "[search]") {
    check_batches<CudaDouble, Rosenbrock>();
    check_batches<CudaDouble, Holes>();
}

TEST_CASE("A batch contains two points per active walk and none of a walk that has ended", "[search]") {
    Problem p = problem_of(3, 50, 1000);
    p.options.at_smallest = AtSmallestStep::stop;
    p.options.halvings = 5;
    BatchSearch search(p, CUDA_OPT_BACKEND_HOST);
    const Function f = function_of<Bowl>(3);
    int64_t before = 50, shrunk = 0;
    while (search.step(f) == CUDA_OPT_EVALUATE_BATCH) {
        const int64_t active = search.get_int(CUDA_OPT_ACTIVE_WALKS);
        const bool starts = search.get_int(CUDA_OPT_EVALUATIONS) == 0;
        REQUIRE(search.get_int(CUDA_OPT_BATCH) == (starts ? 50 : 2 * active));
        REQUIRE(active <= before);
        shrunk += active < before;
        before = active;
    }
    CHECK(shrunk > 1);
    CHECK(search.get_int(CUDA_OPT_ACTIVE_WALKS) == 0);
    CHECK(search.get_int(CUDA_OPT_BATCH) == 0);
    CHECK(search.get_int(CUDA_OPT_EVALUATIONS) == search.evaluated);
}

TEST_CASE("A round begins at random points with all walks and the first step size", "[search]") {
    Problem p = problem_of(3, 50, 25);
    p.options.round_iterations = 10;
    BatchSearch search(p, CUDA_OPT_BACKEND_HOST);
    const Function f = function_of<Bowl>(3);
    std::vector<int64_t> begun;
    int task;
    do {
        task = search.step(f);
        if (search.get_int(CUDA_OPT_BATCH) == 50) begun.push_back(search.get_int(CUDA_OPT_ITERATIONS));
        else if (task > 0) REQUIRE(search.get_int(CUDA_OPT_BATCH) == 100);
    } while (task == CUDA_OPT_EVALUATE_BATCH);
    CHECK(begun == std::vector<int64_t>{0, 10, 20});
    CHECK(task == CUDA_OPT_ITERATION_LIMIT);
    CHECK(search.get_int(CUDA_OPT_EVALUATIONS) == 50 * (3 + 25 * 2 * 3));
}

TEST_CASE("If the time limit is reached within a round the round is finished", "[search]") {
    for (const int64_t before : {0, 3}) { // iterations taken already
        Problem p = problem_of(4, 20, 1000000000);
        p.options.round_iterations = 7;
        p.options.max_seconds = 1e-9;
        cudaopt::HostSearch<Rosenbrock> search(Rosenbrock(), p.lower, p.upper, p.options);
        REQUIRE(search.advance(before) == 0);
        CHECK(search.run() == CUDA_OPT_TIME_LIMIT);
        CHECK(search.iterations() == 7);
        p.options.iterations = 7;
        CHECK(outcome_of(search, 20) == naive_search(p, function_of<Rosenbrock>(4)));
    }
    // Of each of 20 walks: the start, and in each of 7 iterations a point on either side along 4 coordinates.
    constexpr int64_t evaluations_of_round = 20 * (1 + 7 * 2 * 4);
    int64_t evaluations = 0;
    Problem p = problem_of(4, 20, 1000000000);
    p.options.round_iterations = 7;
    p.options.max_seconds = 0.05;
    p.options.threads = 1;
    const LateRosenbrock late{{}, &evaluations, 5 * evaluations_of_round / 2, p.options.max_seconds};
    cudaopt::HostSearch<LateRosenbrock> search(late, p.lower, p.upper, p.options);
    CHECK(search.run() == CUDA_OPT_TIME_LIMIT);
    CHECK(search.iterations() % 7 == 0);
    CHECK(evaluations == search.iterations() / 7 * evaluations_of_round);
}

TEST_CASE("The history has the best values of searches with fewer iterations", "[search]") {
    for (const AtSmallestStep rule : {AtSmallestStep::restart_step, AtSmallestStep::stop, AtSmallestStep::new_point}) {
        Problem p = problem_of(4, 20, 40);
        p.options.at_smallest = rule;
        p.options.round_iterations = rule == AtSmallestStep::restart_step ? 6 : 0;
        p.options.halvings = 3;
        p.options.history = true;
        cudaopt::HostSearch<Rosenbrock> search(Rosenbrock(), p.lower, p.upper, p.options);
        search.run();
        const Vector history = search.history();
        REQUIRE(history.size() == static_cast<std::size_t>(search.iterations()) + 1);
        for (const int64_t k : {0, 1, 2, 7, 40}) {
            p.options.iterations = k;
            CHECK(history[static_cast<std::size_t>(k)] == naive_search(p, function_of<Rosenbrock>(4)).best);
        }
    }
}
