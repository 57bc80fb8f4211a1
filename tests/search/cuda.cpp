// Each walk on CUDA is bitwise identical to that on the host: the objectives use only +, -, *, /, and neither compiler
// contracts to fma.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"
#include "on_cuda.hpp"

using namespace search_test;
using namespace cudaopt_test;
using cudaopt::AtSmallestStep;

namespace {

// Walks in several blocks, the last one not full, with each option.
std::vector<Problem> problems(int n) {
    std::vector<Problem> all;
    for (const AtSmallestStep rule : {AtSmallestStep::restart_step, AtSmallestStep::stop, AtSmallestStep::new_point}) {
        Problem p = problem_of(n, 333, 60);
        p.options.at_smallest = rule;
        p.options.halvings = 4;
        p.options.history = true;
        all.push_back(p);
        p.options.round_iterations = 13;
        if (rule != AtSmallestStep::stop) all.push_back(p);
    }
    return all;
}

template <class Objective, int N, class Real = double> void check_same_walks(int n) {
    for (const Problem &p : problems(n)) {
        INFO(n << " variables, rule " << static_cast<int>(p.options.at_smallest));
        cudaopt::HostSearch<Objective, N, Real> host(Objective(), p.lower, p.upper, p.options);
        host.run();
        const Outcome wanted = outcome_of(host, p.options.walks);
        Vector history;
        const Outcome found = cuda_search<Objective, N, Real>(p, in_one_piece, &history);
        CHECK(found == wanted);
        CHECK(history == host.history());
        Problem by_lanes = p;
        for (const int lanes : {1, 32}) {
            by_lanes.options.lanes = lanes;
            CHECK(cuda_search<Objective, N, Real>(by_lanes, 23) == wanted);
        }
    }
}

} // namespace

TEST_CASE("The walks of a search have the same bits on CUDA as on the host", "[search]") {
    if (skipped<CudaDouble>()) return;
    check_same_walks<Bowl, 0>(7);
    check_same_walks<BowlBySums, 0>(7);
    check_same_walks<BowlBySums, 20>(20);
    check_same_walks<Rosenbrock, 0>(7);
    check_same_walks<Rosenbrock, 20>(20);
    check_same_walks<RosenbrockByTerms, 0>(7);
    check_same_walks<RosenbrockByTerms, 20>(20);
    check_same_walks<TerracesBySums, 0>(5);
    check_same_walks<StairsByTerms, 0>(5);
    check_same_walks<Holes, 0>(4);
    check_same_walks<HolesBySums, 0>(4);
}

TEST_CASE("In single precision the walks have the same bits on CUDA as on the host", "[search]") {
    if (skipped<CudaDouble>()) return;
    check_same_walks<Terraces, 0, float>(7);
    check_same_walks<TerracesBySums, 0, float>(5);
    check_same_walks<TerracesBySums, 20, float>(20);
    check_same_walks<StairsByTerms, 0, float>(5);
}

TEST_CASE("A repeated search with many walks has the same bits on CUDA", "[search]") {
    if (skipped<CudaDouble>()) return;
    Problem p = problem_of(5, 1000, 30);
    p.options.seed = uint64_t{1} << 63 | 5;
    const Outcome first = cuda_search<Rosenbrock, 0>(p);
    CHECK(cuda_search<Rosenbrock, 0>(p) == first);
    p.options.walks = 400; // a walk does not depend on how many there are
    const Outcome fewer = cuda_search<Rosenbrock, 0>(p);
    CHECK(std::equal(fewer.f.begin(), fewer.f.end(), first.f.begin()));
}

TEST_CASE("On CUDA the best value of a function that is NaN everywhere is infinite", "[search]") {
    if (skipped<CudaDouble>()) return;
    const Outcome o = cuda_search<Nowhere, 0>(problem_of(3, 70, 5));
    CHECK(o.best == std::numeric_limits<double>::infinity());
    CHECK(o.evaluations == 70 * 31);
}
