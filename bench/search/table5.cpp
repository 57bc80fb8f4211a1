// Table 5 of the 2009 paper: the twelve functions in 30 variables, for the same time on the host and on the GPU. Prints
// the best value of ten seeds and the mean of their best values, and those of the paper.
//
//     bench_search_table5 [--seconds 1] [--seeds 10] [--ways all] [--side-by-side 1]
//                         [--host-side-by-side 0] [--csv FILE]
//
// There are four variants: the paper's rounds of 20 iterations from new random starts, in double and in single
// precision; one search without rounds; and one with a first step of a tenth of the range and new random points at the
// smallest step.
#include <algorithm>
#include <limits>
#include <optional>

#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/stream_clock.hpp"
#include "paper_2009.hpp"
#include "search_run.hpp"

using namespace cudaopt::bench;
using cudaopt::AtSmallestStep;
namespace functions = cudaopt::testfuncs::search;

namespace {

struct Way {
    std::string name, key;
    bool cuda;
    AtSmallestStep at_smallest;
    double first_step; // over the range
    int64_t round_iterations;
    bool single;
    int as_good = 0; // functions found as low as by the paper's GPU, in best and mean best
};

constexpr int n = 30;
constexpr int64_t paper_round = 20;

std::vector<Way> ways_on(bool cuda) {
    const std::string where = cuda ? "GPU" : "host";
    return {
        {where, "restart", cuda, AtSmallestStep::restart_step, 0.05, 0, false},
        {where + ", new points", "new-points", cuda, AtSmallestStep::new_point, 0.1, 0, false},
        {where + ", rounds", "rounds", cuda, AtSmallestStep::restart_step, 0.05, paper_round, false},
        {where + ", rounds, single", "rounds-single", cuda, AtSmallestStep::restart_step, 0.05, paper_round, true},
    };
}

struct Found {
    double best = absent, mean = absent;
    double spent = 0;                        // seconds of a search, which finishes its last round: the mean
    int64_t evaluations = 0, iterations = 0; // the mean
};

// side_by_side: so many searches at once, each by a thread of its own.
Found search(const functions::Function &f, cudaopt::SearchOptions options, const Way &way, int seeds,
             int side_by_side) {
    std::vector<SearchRun> runs(static_cast<std::size_t>(seeds));
    options.at_smallest = way.at_smallest;
    options.round_iterations = way.round_iterations;
    const Box box(f, n);
    options.steps.assign(static_cast<std::size_t>(n), way.first_step * (box.upper[0] - box.lower[0]));
    warm_up(f, n, way.cuda, way.single);
    std::string failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(side_by_side)
    for (int seed = 0; seed < seeds; seed++) {
        cudaopt::SearchOptions mine = options;
        mine.seed = static_cast<uint64_t>(seed);
        try {
            std::optional<StreamClock> own; // of which the stream is used, so that searches do not wait for each other
            if (way.cuda && side_by_side > 1) mine.stream = own.emplace().stream();
            runs[static_cast<std::size_t>(seed)] = run_search(f, n, way.cuda, mine, 1, way.single);
        } catch (const std::exception &error) {
#pragma omp critical
            failure = error.what();
        }
    }
    if (!failure.empty()) throw std::runtime_error(failure);
    Found found{std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
    for (const SearchRun &run : runs) {
        found.best = std::min(found.best, run.value);
        found.mean += run.value / seeds;
        found.spent += run.seconds / seeds;
        found.evaluations += run.evaluations / seeds;
        found.iterations += run.iterations / seeds;
    }
    return found;
}

} // namespace

int main(int argc, char **argv) {
    int seeds = 10, side_by_side = 1, host_side_by_side = 0;
    std::vector<std::string> keys = {"restart", "new-points", "rounds", "rounds-single"};
    bool with_host = true;
    cudaopt::SearchOptions options;
    options.max_seconds = 1;
    options.iterations = std::numeric_limits<int32_t>::max(); // the time is the limit
    CLI::App app("The best values of the twelve functions for the same time on the host and on the GPU");
    app.add_option("--seconds", options.max_seconds, "time of each search")->check(is_positive);
    app.add_option("--seeds", seeds, "seeds, from 0")->check(CLI::Range(1, 1000));
    app.add_option("--ways", keys, "some of restart,new-points,rounds,rounds-single")
        ->delimiter(',')
        ->check(CLI::IsMember({"restart", "new-points", "rounds", "rounds-single"}));
    app.add_option("--side-by-side", side_by_side, "so many seeds' searches share the GPU at a time")
        ->check(CLI::Range(1, 64));
    app.add_option(
           "--host-side-by-side", host_side_by_side,
           "so many seeds' searches at a time on the host, on one thread each; 0: one at a time, on all threads")
        ->check(CLI::Range(0, 64));
    app.add_flag("!--without-host", with_host, "the GPU alone, where there is one");
    const Files files(app);
    return run_program(app, "bench_search_table5", argc, argv, [&] {
        Output csv(files.csv);
        const std::string where = machine();
        const bool cuda = driver::cuda_is_here();
        std::vector<Way> ways;
        for (const bool on_cuda : {false, true})
            for (const Way &way : ways_on(on_cuda))
                if ((on_cuda ? cuda : with_host || !cuda) && std::count(keys.begin(), keys.end(), way.key))
                    ways.push_back(way);
        std::printf("Functions in n = %d variables, %lld walks, %g s a search, %d seeds", n,
                    static_cast<long long>(options.walks), options.max_seconds, seeds);
        if (cuda && side_by_side > 1) std::printf(", %d searches at a time on the GPU", side_by_side);
        std::printf("\n%s\n\n%-14s %-21s %13s %13s %11s %13s %8s | %11s %11s %s\n", where.c_str(), "function", "",
                    "best", "mean best", "iterations", "evaluations", "s spent", "paper: best", "mean best", "as low");
        csv.write(
            "function,where,n,walks,seconds,seeds,side_by_side,best,mean_best,iterations,evaluations,spent,paper_best,"
            "paper_mean_best,paper_spent,machine\n");
        std::string missed; // by all ways
        for (const PaperRow &paper : paper_functions) {
            const std::string name(paper.function);
            const functions::Function f = functions::function_by_name(name);
            bool by_any = false;
            for (Way &way : ways) {
                const int at_a_time = way.cuda ? side_by_side : std::max(1, host_side_by_side);
                options.threads = !way.cuda && host_side_by_side > 0 ? 1 : 0;
                const Found found = search(f, options, way, seeds, at_a_time);
                const PaperValues &values = way.cuda ? paper.gpu : paper.cpu;
                const bool as_good = as_low(found.best, paper.gpu.best) && as_low(found.mean, paper.gpu.mean_best);
                way.as_good += as_good;
                by_any = by_any || as_good;
                std::printf("%-14s %-21s %13.6e %13.6e %11lld %13.3e %8.3f | %11.3f %11.3f %s\n", name.c_str(),
                            way.name.c_str(), found.best, found.mean, static_cast<long long>(found.iterations),
                            static_cast<double>(found.evaluations), found.spent, paper.gpu.best, paper.gpu.mean_best,
                            as_good ? "yes" : "no");
                std::fflush(stdout);
                csv.write(csv_row(name, way.name, int64_t{n}, options.walks, options.max_seconds,
                                  static_cast<int64_t>(seeds), static_cast<int64_t>(at_a_time), found.best, found.mean,
                                  found.iterations, found.evaluations, found.spent, values.best, values.mean_best,
                                  1e-3 * (way.cuda ? paper.gpu_spent_ms : paper.cpu_spent_ms), where));
            }
            std::printf("%-14s %-21s %13s %13s %11s %13s %8.3f | %11.3f %11.3f\n", name.c_str(), "the paper's CPU", "",
                        "", "", "", 1e-3 * paper.cpu_spent_ms, paper.cpu.best, paper.cpu.mean_best);
            if (!by_any) missed += (missed.empty() ? "" : ", ") + name;
        }
        std::printf(
            "\nThe least value of each function is 0. Iterations, evaluations and the seconds spent are the mean of a "
            "search. The host uses %s.\nhost, GPU: with a first step of a twentieth of the range, which a walk takes "
            "again when its step has become the smallest.\nNew points: the first step is a tenth of the range, and "
            "such a "
            "walk starts again from a new random point. Rounds: the paper's way, all\nwalks start anew after every "
            "%lld "
            "iterations, with a first step of a twentieth; a round that has begun is finished. Single: "
            "precision.\npaper: "
            "what its GPU found in 10 s, in such rounds, as printed in its table 5 with three decimals, to which ours "
            "are "
            "compared (as low).\n",
            host_side_by_side > 0 ? "one thread for each search" : "all its threads",
            static_cast<long long>(paper_round));
        std::printf("\nAs low as the paper's GPU in best and mean best, of twelve functions:");
        for (const Way &way : ways) std::printf(" %s %d;", way.name.c_str(), way.as_good);
        std::printf(" by none of them: %s.\n", missed.empty() ? "no function" : missed.c_str());
        if (!cuda) std::printf("GPU: not run, there is none here.\n");
    });
}
