// A search has the same bits in each run and with any number of threads. It can be stopped and read at any time, ends
// at each of its limits, and ranks its walks.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"
#include "naive.hpp"
#include "objectives.hpp"

namespace search_order {

using namespace search_test;
using namespace cudaopt_test;
using cudaopt::AtSmallestStep;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double bowl(const Vector &x) { return Bowl()(x, static_cast<int>(x.size())); }

Problem restless() {
    Problem p = problem_of(4, 60, 40);
    p.options.at_smallest = AtSmallestStep::new_point;
    p.options.halvings = 3;
    return p;
}

} // namespace

TEST_CASE("A search has the same bits with any number of threads", "[search]") {
    Problem p = problem_of(4, 3000, 20);
    p.options.history = true;
    std::vector<Outcome> outcomes;
    std::vector<Vector> histories;
    for (const int threads : {1, 2, 7}) {
        p.options.threads = threads;
        cudaopt::HostSearch<RosenbrockByTerms> search(RosenbrockByTerms(), p.lower, p.upper, p.options);
        search.run();
        outcomes.push_back(outcome_of(search, p.options.walks));
        histories.push_back(search.history());
        outcomes.push_back(batch_search(p, bowl, CUDA_OPT_BACKEND_HOST));
    }
    for (std::size_t i = 2; i < outcomes.size(); i++) CHECK(outcomes[i] == outcomes[i - 2]);
    CHECK(histories[1] == histories[0]);
    CHECK(histories[2] == histories[0]);
}

TEST_CASE("A different seed gives different walks", "[search]") {
    Problem p = restless();
    const Outcome first = host_search<Bowl>(p);
    p.options.seed++;
    CHECK(!(host_search<Bowl>(p) == first));
}

CONFIGURED_TEST_CASE("After a reset a search has the same bits", "[search]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    BatchSearch search(restless(), TestType::backend);
    search.run(bowl);
    const Outcome first = search.outcome();
    search.reset();
    CHECK(search.get_int(CUDA_OPT_EVALUATIONS) == 0);
    CHECK(search.get_int(CUDA_OPT_BEST_WALK) == -1);
    for (int call = 0; call < 17; call++) search.step(bowl);
    search.reset(); // in the middle
    search.run(bowl);
    CHECK(search.outcome() == first);
}

TEST_CASE("A search that is advanced in several calls has the same result as in one call", "[search]") {
    for (const AtSmallestStep rule : {AtSmallestStep::restart_step, AtSmallestStep::stop, AtSmallestStep::new_point}) {
        Problem p = restless();
        p.options.at_smallest = rule;
        cudaopt::HostSearch<RosenbrockByTerms> pieces(RosenbrockByTerms(), p.lower, p.upper, p.options);
        for (const int k : {0, 1, 5, 0, 20, 14}) REQUIRE(pieces.advance(k) == 0);
        CHECK(outcome_of(pieces, p.options.walks) == host_search<RosenbrockByTerms>(p));
    }
}

// At any time the best value of a walk is the least of the values that the caller has supplied for it.
CONFIGURED_TEST_CASE("The state can be read after every batch", "[search]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const AtSmallestStep rule : {AtSmallestStep::restart_step, AtSmallestStep::stop, AtSmallestStep::new_point}) {
        Problem p = restless();
        p.options.walks = 12;
        p.options.iterations = 12;
        p.options.at_smallest = rule;
        BatchSearch search(p, TestType::backend);
        double least = infinite;
        const Function watched = [&](const Vector &x) {
            least = std::min(least, bowl(x));
            return bowl(x);
        };
        double before = infinite;
        while (search.step(watched) == CUDA_OPT_EVALUATE_BATCH) {
            if (search.get_int(CUDA_OPT_EVALUATIONS) > 0) {
                const Outcome now = search.outcome();
                REQUIRE(now.best == before); // the values of this batch have not been given yet
                for (std::size_t w = 0; w < now.f.size(); w++) REQUIRE(now.f[w] == bowl(now.x[w]));
                REQUIRE(now.best == *std::min_element(now.f.begin(), now.f.end()));
            }
            before = least;
        }
    }
}

TEST_CASE("A stop request ends a search and its results so far can be read", "[search]") {
    BatchSearch search(restless(), CUDA_OPT_BACKEND_HOST);
    for (int call = 0; call < 30; call++) REQUIRE(search.step(bowl) == CUDA_OPT_EVALUATE_BATCH);
    search.request_stop();
    CHECK(search.step(bowl) == CUDA_OPT_STOPPED);
    CHECK(search.get_int(CUDA_OPT_BATCH) == 0);
    CHECK(search.get_int(CUDA_OPT_EVALUATIONS) == search.evaluated);
    const Outcome o = search.outcome();
    CHECK(o.best == bowl(o.x[static_cast<std::size_t>(o.best_walk)]));
    CHECK(search.step(bowl) == CUDA_OPT_MISUSE); // until cuda_opt_reset
}

TEST_CASE("Each limit and the target end a search by batches", "[search]") {
    {
        BatchSearch search(restless(), CUDA_OPT_BACKEND_HOST);
        CHECK(search.run(bowl) == CUDA_OPT_ITERATION_LIMIT);
        CHECK(search.get_int(CUDA_OPT_ITERATIONS) == 40);
    }
    {
        BatchSearch search(restless(), CUDA_OPT_BACKEND_HOST);
        search.set_int(CUDA_OPT_MAX_EVALUATIONS, 1000);
        CHECK(search.run(bowl) == CUDA_OPT_EVALUATION_LIMIT);
        CHECK(search.get_int(CUDA_OPT_EVALUATIONS) == 60 + 7 * 120);
    }
    {
        BatchSearch search(restless(), CUDA_OPT_BACKEND_HOST);
        search.set_int(CUDA_OPT_MAX_EVALUATIONS, 59);
        CHECK(search.run(bowl) == CUDA_OPT_EVALUATION_LIMIT);
        CHECK(search.get_int(CUDA_OPT_EVALUATIONS) == 0);
        CHECK(std::string(search.message()) ==
              "the first batch of 60 points would exceed the limit of 59 evaluations: there is no value");
    }
    {
        BatchSearch search(restless(), CUDA_OPT_BACKEND_HOST);
        search.set_int(CUDA_OPT_MAX_ITERATIONS, 0).set_real(CUDA_OPT_MAX_SECONDS, 0.05);
        CHECK(search.run(bowl) == CUDA_OPT_TIME_LIMIT);
    }
    {
        BatchSearch search(restless(), CUDA_OPT_BACKEND_HOST);
        search.set_real(CUDA_OPT_F_TARGET, 1);
        CHECK(search.run(bowl) == CUDA_OPT_CONVERGED);
        CHECK(search.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_F_TARGET);
        CHECK(search.get_real(CUDA_OPT_F) <= 1);
        CHECK(search.get_int(CUDA_OPT_ITERATIONS) < 40);
    }
}

TEST_CASE("Each limit ends a search by a functor", "[search]") {
    Problem p = restless();
    cudaopt::HostSearch<Bowl> whole(Bowl(), p.lower, p.upper, p.options);
    CHECK(whole.run() == CUDA_OPT_ITERATION_LIMIT);
    CHECK(whole.iterations() == 40);
    p.options.at_smallest = AtSmallestStep::stop;
    p.options.iterations = 100000;
    cudaopt::HostSearch<Bowl> ends(Bowl(), p.lower, p.upper, p.options);
    CHECK(ends.run() == CUDA_OPT_CONVERGED);
    p.options.at_smallest = AtSmallestStep::restart_step;
    p.options.iterations = int64_t{1} << 50;
    p.options.max_seconds = 0.05;
    cudaopt::HostSearch<Bowl> timed(Bowl(), p.lower, p.upper, p.options);
    CHECK(timed.run() == CUDA_OPT_TIME_LIMIT);
    CHECK(timed.iterations() > 0);
}

TEST_CASE("Walks are ranked by their best values and ties by their numbers", "[search]") {
    Problem p = restless();
    p.options.iterations = 8;
    cudaopt::HostSearch<Terraces> search(Terraces(), p.lower, p.upper, p.options); // with equal values
    search.run();
    const Outcome o = outcome_of(search, p.options.walks);
    const std::vector<int64_t> order = search.best_walks(p.options.walks);
    REQUIRE(order.size() == 60);
    CHECK(order[0] == o.best_walk);
    int ties = 0;
    for (std::size_t i = 1; i < order.size(); i++) {
        const double a = o.f[static_cast<std::size_t>(order[i - 1])], b = o.f[static_cast<std::size_t>(order[i])];
        CHECK((a < b || (a == b && order[i - 1] < order[i])));
        ties += a == b;
    }
    CHECK(ties > 0);
    CHECK(search.best_walks(3) == std::vector<int64_t>(order.begin(), order.begin() + 3));

    BatchSearch batches(p, CUDA_OPT_BACKEND_HOST);
    batches.run([](const Vector &x) { return Terraces()(x, 4); });
    for (std::size_t rank = 0; rank < order.size(); rank++) {
        int64_t walk = -1;
        REQUIRE(cuda_opt_search_ranked(batches, static_cast<int64_t>(rank), &walk) == 0);
        CHECK(walk == order[rank]);
    }
}

} // namespace search_order
