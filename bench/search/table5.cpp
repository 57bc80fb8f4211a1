// Table 5 of the 2009 paper: the twelve functions in 30 variables, for the same time on the host and on the GPU: the
// best value of ten seeds and the mean of their best values.
//
//     bench_search_table5 [--seconds 1] [--seeds 10] [--walks 15360] [--n 30] [--csv FILE] [--svg FILE]
//
// On the GPU twice: with the paper's steps, and with a first step of a tenth of the range and new random points.
#include <algorithm>
#include <limits>
#include <numeric>

#include "bench/common/command_line.hpp"
#include "bench/common/dot_plot.hpp"
#include "bench/common/machine.hpp"
#include "paper_2009.hpp"
#include "search_run.hpp"

using namespace cudaopt::bench;
using cudaopt::AtSmallestStep;
namespace functions = cudaopt::testfuncs::search;

namespace {

struct Way {
    std::string name;
    bool cuda;
    AtSmallestStep at_smallest;
    double first_step; // over the range
};

struct Found {
    double best = absent, mean = absent;
    int64_t evaluations = 0, iterations = 0; // the mean
};

Found search(const functions::Function &f, int n, cudaopt::SearchOptions options, const Way &way, int seeds) {
    std::vector<double> values;
    Found found;
    options.at_smallest = way.at_smallest;
    const Box box(f, n);
    options.steps.assign(n, way.first_step * (box.upper[0] - box.lower[0]));
    warm_up(f, n, way.cuda);
    for (int seed = 0; seed < seeds; seed++) {
        options.seed = static_cast<uint64_t>(seed);
        const SearchRun run = run_search(f, n, way.cuda, options);
        values.push_back(run.value);
        found.evaluations += run.evaluations / seeds;
        found.iterations += run.iterations / seeds;
    }
    found.best = *std::min_element(values.begin(), values.end());
    found.mean = std::accumulate(values.begin(), values.end(), 0.0) / seeds;
    return found;
}

} // namespace

int main(int argc, char **argv) {
    int n = 30, seeds = 10;
    cudaopt::SearchOptions options;
    options.max_seconds = 1;
    options.iterations = std::numeric_limits<int32_t>::max(); // the time is the limit
    CLI::App app("The best values of the twelve functions for the same time on the host and on the GPU");
    app.add_option("--seconds", options.max_seconds, "time of each search")->check(is_positive);
    app.add_option("--seeds", seeds, "seeds, from 0")->check(CLI::Range(1, 1000));
    app.add_option("--walks", options.walks, "walks")->check(is_positive);
    app.add_option("--n", n, "variables")->check(CLI::Range(1, 1000000));
    const Files files(app);
    return run_program(app, "bench_search_table5", argc, argv, [&] {
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        std::vector<Way> ways = {{"host", false, AtSmallestStep::restart_step, 0.05}};
        if (driver::cuda_is_here()) {
            ways.push_back({"GPU", true, AtSmallestStep::restart_step, 0.05});
            ways.push_back({"GPU, new points", true, AtSmallestStep::new_point, 0.1});
        }
        std::printf("Twelve functions, n = %d, %lld walks, %g s a search, %d seeds\n%s\n\n", n,
                    static_cast<long long>(options.walks), options.max_seconds, seeds, where.c_str());
        std::printf("%-14s %-16s %13s %13s %11s %13s %11s %11s\n", "function", "", "best", "mean best", "iterations",
                    "evaluations", "paper: best", "mean best");
        csv.write("function,where,n,walks,seconds,seeds,best,mean_best,iterations,evaluations,machine\n");
        DotPlot plot{"Mean best value of " + std::to_string(seeds) + " searches", where, "f", {}, {}};
        for (const Way &way : ways) plot.series.push_back({way.name, {}});
        for (const functions::Function &f : functions::all_functions()) {
            const std::string name = functions::facts_of(f).name;
            plot.rows.push_back(name);
            for (std::size_t k = 0; k < ways.size(); k++) {
                const Found found = search(f, n, options, ways[k], seeds);
                std::printf("%-14s %-16s %13.6e %13.6e %11lld %13.3e", name.c_str(), ways[k].name.c_str(), found.best,
                            found.mean, static_cast<long long>(found.iterations),
                            static_cast<double>(found.evaluations));
                if (const PaperValues *paper = n == 30 ? paper_values(name, ways[k].cuda) : nullptr)
                    std::printf(" %11.3f %11.3f", paper->best, paper->mean_best);
                std::printf("\n");
                std::fflush(stdout);
                csv.write(csv_row(name, ways[k].name, static_cast<int64_t>(n), options.walks, options.max_seconds,
                                  static_cast<int64_t>(seeds), found.best, found.mean, found.iterations,
                                  found.evaluations, where));
                plot.series[k].values.push_back(found.mean);
            }
        }
        std::printf(
            "\nThe least value of each function is 0. Iterations and evaluations are the mean of a search. The "
            "host uses all its threads.\nhost, GPU: the paper's way, with a first step of a twentieth of the "
            "range, which a walk takes again when its step has become\nthe smallest. New points: the first step "
            "is a tenth of the range, and such a walk starts again from a new random point.\nThe paper's figures are "
            "of 10 s a search, in rounds of 20 iterations from new random starts: its CPU's beside the host, its "
            "GPU's beside the GPU.\n");
        if (ways.size() == 1) std::printf("GPU: not run, there is none here.\n");
        picture.write(svg(plot));
    });
}
