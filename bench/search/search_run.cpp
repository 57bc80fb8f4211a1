#include "search_run.hpp"

#include <cmath>
#include <stdexcept>

#include "bench/common/stopwatch.hpp"
#include "paper_2009.hpp"
#include "bench/common/stream_clock.hpp"

namespace cudaopt::bench {

Box::Box(const testfuncs::search::Function &function, int n) {
    const testfuncs::search::Facts facts = testfuncs::search::facts_of(function);
    const bool ackley = facts.name == "ackley";
    lower.assign(static_cast<std::size_t>(n), ackley ? -paper_ackley : facts.lower);
    upper.assign(static_cast<std::size_t>(n), ackley ? paper_ackley : facts.upper);
}

std::unique_ptr<PatternSearch> ready_search(const testfuncs::search::Function &function, int n, bool cuda,
                                            const SearchOptions &options, bool single) {
    const Box box(function, n);
    auto search = driver::make_search(function, cuda, box.lower, box.upper, options, single);
    if (search->code() != 0) throw std::runtime_error(search->message());
    return search;
}

SearchRun run_search(const testfuncs::search::Function &function, int n, bool cuda, const SearchOptions &options,
                     int repetitions, bool single) {
    SearchRun run;
    std::vector<double> seconds;
    for (int k = 0; k < repetitions; k++) {
        const auto search = ready_search(function, n, cuda, options, single);
        const Stopwatch watch;
        search->run();
        const SearchSummary found = search->summary();
        if (std::isfinite(found.value)) search->walk_point(found.walk);
        seconds.push_back(watch.seconds());
        if (search->code() != 0) throw std::runtime_error(search->message());
        run = {found.value, found.evaluations, search->iterations(), 0};
    }
    run.seconds = median(seconds);
    return run;
}

SearchRun mean_of_seeds(const testfuncs::search::Function &function, int n, bool cuda, SearchOptions options, int seeds,
                        bool single) {
    SearchRun mean;
    for (int seed = 0; seed < seeds; seed++) {
        options.seed = static_cast<uint64_t>(seed);
        const SearchRun run = run_search(function, n, cuda, options, 1, single);
        mean.value += run.value / seeds;
        mean.seconds += run.seconds / seeds;
        mean.evaluations = run.evaluations; // of each seed as many: there is no other limit than the iterations
        mean.iterations = run.iterations;
    }
    return mean;
}

void warm_up(const testfuncs::search::Function &function, int n, bool cuda, bool single) {
    SearchOptions options;
    options.walks = options.iterations = 1;
    run_search(function, n, cuda, options, 1, single);
}

} // namespace cudaopt::bench
