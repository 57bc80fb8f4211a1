// Measures the benefit of polishing: pattern search alone, L-BFGS-B alone from random starts, and a pattern search
// followed by L-BFGS-B from its best walks, each with the same number of evaluations; mean of ten seeds.
//
//     bench_search_polish [--evaluations 5e5] [--seeds 10] [--walks 400] [--n 30] [--share 0.9]
//                         [--first-step 0.05,0.1] [--functions rastrigin,griewank,ackley] [--csv FILE]
//                         [--svg FILE]
//
// An evaluation of f with its gradient counts as 2 evaluations of f, for an analytic gradient, and in a second table as
// 1 + n, for differences.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/common/command_line.hpp"
#include "bench/common/dot_plot.hpp"
#include "bench/common/machine.hpp"
#include "drivers/polish.hpp"
#include "search_run.hpp"

using namespace cudaopt::bench;
namespace functions = cudaopt::testfuncs::search;

namespace {

struct Budget {
    int64_t evaluations;
    int with_gradient; // what an evaluation of f with its gradient costs
};

// The iterations that so many evaluations allow.
cudaopt::SearchOptions with_budget(cudaopt::SearchOptions options, int n, double evaluations) {
    const double each = evaluations / static_cast<double>(options.walks) - 1; // a start is one
    options.iterations = std::max<int64_t>(0, static_cast<int64_t>(each / (2 * n)));
    return options;
}

// From start after start, until the evaluations are spent; start(k) is empty where there are no more.
template <class Start>
double polish_all(const functions::Function &f, const Box &box, Budget left, double best, const Start &start) {
    for (int64_t k = 0; left.evaluations >= left.with_gradient; k++) {
        const std::vector<double> x = start(k);
        if (x.empty()) break;
        const driver::Polished p = driver::polish(f, x, box.lower, box.upper, left.evaluations / left.with_gradient);
        left.evaluations -= p.evaluations * left.with_gradient;
        best = std::min(best, p.f);
    }
    return best;
}

double search_alone(const functions::Function &f, int n, const cudaopt::SearchOptions &options, double evaluations) {
    return run_search(f, n, false, with_budget(options, n, evaluations)).value;
}

double polish_alone(const functions::Function &f, int n, uint64_t seed, Budget budget) {
    const Box box(f, n);
    return polish_all(f, box, budget, INFINITY, [&](int64_t k) {
        std::vector<double> x(n); // the start of walk k of a search with this seed
        for (int j = 0; j < n; j++)
            x[j] = box.lower[j] + (box.upper[j] - box.lower[j]) * cudaopt::pattern::uniform(seed, k, j);
        return x;
    });
}

double search_and_polish(const functions::Function &f, int n, const cudaopt::SearchOptions &options, double share,
                         Budget budget) {
    const auto search = ready_search(f, n, false, with_budget(options, n, share * budget.evaluations));
    search->run();
    const cudaopt::SearchSummary found = search->summary();
    const std::vector<int64_t> walks = search->best_walks(options.walks);
    budget.evaluations -= found.evaluations;
    return polish_all(f, Box(f, n), budget, found.value, [&](int64_t k) {
        return k < static_cast<int64_t>(walks.size()) ? search->walk_point(walks[k]) : std::vector<double>();
    });
}

std::string brief(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

double mean(const std::vector<double> &values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

int main(int argc, char **argv) {
    std::vector<std::string> names = {"rastrigin", "griewank", "ackley"};
    std::vector<double> first_steps = {0.05, 0.1};
    int n = 30, seeds = 10;
    double evaluations = 5e5, share = 0.9;
    cudaopt::SearchOptions options;
    options.walks = 400;
    options.at_smallest = cudaopt::AtSmallestStep::new_point; // so that a search alone makes use of all it may spend
    options.threads = 1;
    CLI::App app("Search, polish, and both, at equal numbers of evaluations");
    app.add_option("--evaluations", evaluations, "of each run")->check(is_size);
    app.add_option("--seeds", seeds, "seeds, from 0")->check(CLI::Range(1, 1000));
    app.add_option("--walks", options.walks, "walks of the searches")->check(is_positive);
    app.add_option("--n", n, "variables")->check(CLI::Range(1, 1000000));
    app.add_option("--share", share, "of the evaluations, the search's where both are used")->check(CLI::Range(0., 1.));
    app.add_option("--first-step", first_steps, "of the searches, over the range")
        ->delimiter(',')
        ->check(CLI::Range(1e-9, 1.));
    app.add_option("--functions", names, "the functions")->delimiter(',');
    const Files files(app);
    return run_program(app, "bench_search_polish", argc, argv, [&] {
        for (const std::string &name : names) functions::function_by_name(name); // refuse early
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        std::printf("Mean best value of %d seeds, n = %d, %g evaluations each, %lld walks\n%s\n\n", seeds, n,
                    evaluations, static_cast<long long>(options.walks), where.c_str());
        std::printf("%-10s %10s %14s %14s %14s %14s  %s\n", "function", "first step", "f and gradient", "search",
                    "polish", "both", "both is the lowest");
        csv.write("function,n,evaluations,cost_with_gradient,walks,first_step,share,seed,search,polish,both,machine\n");
        DotPlot plot{"Mean best value at equal numbers of evaluations",
                     where,
                     "f; rows: function, first step, what f with its gradient counts as",
                     {},
                     {{"search", {}}, {"polish", {}}, {"search and polish", {}}}};
        for (const std::string &name : names) {
            const functions::Function f = functions::function_by_name(name);
            const Box box(f, n);
            for (const int with_gradient : {2, 1 + n}) {
                const Budget budget{static_cast<int64_t>(evaluations), with_gradient};
                std::vector<double> polish(seeds);
#pragma omp parallel for schedule(dynamic)
                for (int seed = 0; seed < seeds; seed++)
                    polish[seed] = polish_alone(f, n, static_cast<uint64_t>(seed), budget);
                for (const double first_step : first_steps) {
                    std::vector<double> search(seeds), both(seeds);
#pragma omp parallel for schedule(dynamic)
                    for (int seed = 0; seed < seeds; seed++) {
                        cudaopt::SearchOptions mine = options;
                        mine.seed = static_cast<uint64_t>(seed);
                        mine.steps.assign(n, first_step * (box.upper[0] - box.lower[0]));
                        search[seed] = search_alone(f, n, mine, evaluations);
                        both[seed] = search_and_polish(f, n, mine, share, budget);
                    }
                    const double a = mean(search), b = mean(polish), c = mean(both);
                    int lowest = 0;
                    for (int seed = 0; seed < seeds; seed++) {
                        lowest += both[seed] < std::min(search[seed], polish[seed]);
                        csv.write(csv_row(name, static_cast<int64_t>(n), budget.evaluations,
                                          static_cast<int64_t>(with_gradient), options.walks, first_step, share,
                                          static_cast<int64_t>(seed), search[seed], polish[seed], both[seed], where));
                    }
                    const bool rounding = std::max(c, std::min(a, b)) < 1e-15;
                    std::printf("%-10s %10g %14d %14.6e %14.6e %14.6e  %s, for %d of %d seeds\n", name.c_str(),
                                first_step, with_gradient, a, b, c,
                                rounding             ? "equal"
                                : c < std::min(a, b) ? "yes"
                                                     : "no",
                                lowest, seeds);
                    std::fflush(stdout);
                    plot.rows.push_back(name + ", " + brief(first_step) + ", " + std::to_string(with_gradient));
                    plot.series[0].values.push_back(a);
                    plot.series[1].values.push_back(b);
                    plot.series[2].values.push_back(c);
                }
            }
        }
        std::printf(
            "\nfirst step: of a search, over the range. f and gradient: what an evaluation of both counts as. "
            "search: all evaluations are a\nsearch's; a walk whose step has become the smallest starts anew. "
            "polish: L-BFGS-B from one random point after the other. both:\n%g %% of the evaluations are a "
            "search's, then L-BFGS-B goes on from its best walks, until the evaluations are spent or the\nwalks "
            "are. equal: the lowest two are below 1e-15, where rounding decides.\n",
            100 * share);
        picture.write(svg(plot));
    });
}
