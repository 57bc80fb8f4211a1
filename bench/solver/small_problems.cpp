// Solves the small problems of tests/problems by this library with and without its rules beyond L-BFGS-B 3.0, and by
// L-BFGS-B 3.0, and prints one row per problem and a summary.
//
//     bench_small_problems --m 10,5 --csv small-problems.csv
#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "bench/common/command_line.hpp"
#include "cuda_opt.h"
#include "small_runs.hpp"

using namespace cudaopt;

namespace {

struct Solver {
    std::string name;
    bench::SmallRun (*run)(const bench::SmallProblem &problem, int m);
};

const std::vector<Solver> solvers = {
    {"ours", [](const bench::SmallProblem &problem, int m) { return bench::run_ours(problem, m); }},
    {"ours-plain",
     [](const bench::SmallProblem &problem, int m) {
         return bench::run_ours(problem, m, {{CUDA_OPT_ROBUST, 0}});
     }},
    {"lbfgsb-3.0", [](const bench::SmallProblem &problem, int m) { return bench::run_lbfgsb(problem, m); }},
};

using Runs = std::map<std::string, std::vector<bench::SmallRun>>; // by solver, in the problems' order

// The factor of evaluations, geometrically, over the problems that both solve.
void compare(const Runs &runs, const std::string &one, const std::string &other) {
    double logs = 0;
    int both = 0;
    for (std::size_t k = 0; k < runs.at(one).size(); k++) {
        const bench::SmallRun &a = runs.at(one)[k], &b = runs.at(other)[k];
        if (!a.solved() || !b.solved()) continue;
        logs += std::log(static_cast<double>(a.evaluations) / static_cast<double>(b.evaluations));
        both++;
    }
    std::printf("  evaluations of %s / %s: %.4f on the %d that both solve\n", one.c_str(), other.c_str(),
                both > 0 ? std::exp(logs / both) : NAN, both);
}

void summarise(const Runs &runs, int m) {
    std::printf("m = %d, %zu problems\n", m, runs.begin()->second.size());
    for (const auto &[solver, results] : runs) {
        int solved = 0;
        for (const bench::SmallRun &run : results) solved += run.solved();
        std::printf("  %s solves %d\n", solver.c_str(), solved);
    }
    for (auto one = runs.begin(); one != runs.end(); one++)
        for (auto other = std::next(one); other != runs.end(); other++) compare(runs, one->first, other->first);
}

} // namespace

int main(int argc, char **argv) {
    std::vector<int> memories = {10};
    std::vector<std::string> chosen, names;
    std::string csv;
    int seconds = 20;
    bool verbose = false;
    CLI::App app("Small problems, solved to ||Pg||_inf <= 1e-6 within 10000 evaluations");
    app.add_option("--m", memories, "correction pairs")->delimiter(',')->check(bench::is_positive);
    app.add_option("--solvers", chosen, "ours, ours-plain, lbfgsb-3.0; all of them")->delimiter(',');
    app.add_option("--problems", names, "their names; all of them")->delimiter(',');
    app.add_option("--seconds", seconds, "most of them for one solve")->check(bench::is_positive);
    app.add_option("--csv", csv, "a file for the rows");
    app.add_flag("--verbose", verbose, "the rows on the screen as well");
    return bench::run_program(app, "bench_small_problems", argc, argv, [&] {
        bench::Output rows(csv);
        const auto show = [&](const std::string &row) {
            rows.write(row);
            if (verbose) std::printf("%s", row.c_str());
        };
        std::vector<const bench::SmallProblem *> problems;
        for (const std::string &name : names) problems.push_back(&cudaopt_problems::problem_named(name));
        if (names.empty())
            for (const bench::SmallProblem &problem : cudaopt_problems::all_problems()) problems.push_back(&problem);
        show("problem,n,bounded,m,solver,evaluations,f,pg,end,solved\n");
        for (const int m : memories) {
            Runs runs;
            for (const Solver &solver : solvers) {
                if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), solver.name) == chosen.end()) continue;
                for (const bench::SmallProblem *problem : problems) {
                    const bench::SmallRun run = bench::run_apart([&] { return solver.run(*problem, m); }, seconds);
                    show(bench::csv_row(problem->name, int64_t{problem->n()}, int64_t{problem->bounded()}, int64_t{m},
                                        solver.name, run.evaluations, run.f, run.pg, run.end, int64_t{run.solved()}));
                    runs[solver.name].push_back(run);
                }
            }
            if (!runs.empty()) summarise(runs, m);
        }
    });
}
