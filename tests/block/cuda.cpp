// One thread of one thread block runs whole solves, with the host's bits.
#include <algorithm>
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"
#include "one_block.hpp"
#include "rare.hpp"
#include "standard.hpp"

using namespace block_test;

namespace {

struct Pair {
    Prepared here, there;
};

void check_all(std::vector<Pair> &pairs) {
    std::vector<OnDevice> solves;
    for (Pair &pair : pairs) solves.push_back({&pair.there.job, &pair.there.block});
    run_on_device(solves);
    for (auto &[here, there] : pairs) {
        INFO(here.name);
        here.run();
        const cudaopt::Results &a = here.state().results, &b = there.state().results;
        CHECK(there.job.task == here.job.task);
        CHECK(there.job.iterates == here.job.iterates);
        CHECK(b.iterations == a.iterations);
        CHECK(b.evaluations == a.evaluations);
        CHECK(memcmp(&b, &a, sizeof a) == 0); // all of its numbers have 8 bytes
        const cudaopt::Event &event = here.state().event, &theirs = there.state().event;
        CHECK(theirs.kind == event.kind);
        CHECK(std::equal(std::begin(event.integers), std::end(event.integers), theirs.integers));
        CHECK(same_bits(std::vector<double>(std::begin(theirs.numbers), std::end(theirs.numbers)),
                        std::vector<double>(std::begin(event.numbers), std::end(event.numbers))));
        CHECK(same_bits({there.f()}, {here.f()}));
        CHECK(same_bits(there.x(), here.x()));
        CHECK(same_bits(there.g(), here.g()));
        CHECK(same_bits(there.trail(), here.trail()));
    }
}

void add(std::vector<Pair> &pairs, const Prepared &solve) { pairs.push_back({solve, solve}); }

} // namespace

TEST_CASE("One thread block runs the host's solves", "[block]") {
    if (cudaopt_test::skipped<cudaopt_test::CudaDouble>()) return;
    std::vector<Pair> pairs;
    for (const Standard &one : standard_problems())
        for (const int m : {1, 5, 8}) add(pairs, prepare_standard(one, m));
    check_all(pairs);
    for (Pair &pair : pairs) CHECK(pair.there.job.task == CUDA_OPT_CONVERGED);
}

TEST_CASE("One thread block runs the host's rare turns", "[block]") {
    if (cudaopt_test::skipped<cudaopt_test::CudaDouble>()) return;
    std::vector<Pair> pairs;
    for (const Rare &one : rare_solves()) add(pairs, prepare_rare(one));
    check_all(pairs);
}
