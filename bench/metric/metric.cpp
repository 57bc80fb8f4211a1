// Measures what a learned diagonal saves: evaluations to ||P g||_inf <= 1e-6 on the problems of problem_set.hpp, by
// this library with and without it, by L-BFGS-B 3.0, and by the solvers whose rows tools/compare_tao has written.
//
//     bench_metric [--m 10,5] [--peers FILE] [--csv FILE]
//     bench_metric --noise 1e-3,1e-6 [--m 10] [--seeds 5]
#include <algorithm>
#include <map>

#include "bench/common/command_line.hpp"
#include "bench/solver/small_runs.hpp"
#include "cuda_opt.h"
#include "noise.hpp"
#include "peers.hpp"
#include "problem_set.hpp"

using namespace cudaopt;
using namespace cudaopt::bench;

namespace {

constexpr double much_worse = 1.5;
constexpr int many_evaluations = 100, starts_moved = 21;

struct Ends {                           // of each problem
    std::vector<double> evaluations, f; // absent where it is not solved; of peers, f is not known
    std::vector<double> seconds;        // of the whole solve; of peers, not known
};
using Solvers = std::map<std::string, Ends>; // by name
using Chosen = std::function<bool(std::size_t problem)>;

const std::string learned = "learned", plain = "plain", moved = "plain, moved", version_3 = "L-BFGS-B 3.0",
                  learned_by_defaults = "learned, default tests", plain_by_defaults = "plain, default tests";

struct Solver {
    std::string name;
    std::function<SmallRun(const SmallProblem &problem, int m)> run;
};

// By so many times 1e-9 of itself: what comes of that is what rounding errors alone may do.
SmallProblem with_start_moved(SmallProblem problem, int times) {
    for (std::size_t i = 0; i < problem.start.size(); i++)
        problem.start[i] *= 1 + 1e-9 * times * std::sin(7.0 * static_cast<double>(i) + 1);
    return problem;
}

const std::vector<Solver> ours = {
    {learned,
     [](const SmallProblem &problem, int m) { return run_ours(problem, m, CUDA_OPT_INITIAL_HESSIAN_LEARNED); }},
    {plain, [](const SmallProblem &problem, int m) { return run_ours(problem, m, CUDA_OPT_INITIAL_HESSIAN_SCALAR); }},
    {moved, [](const SmallProblem &problem,
               int m) { return run_ours(with_start_moved(problem, 1), m, CUDA_OPT_INITIAL_HESSIAN_SCALAR); }},
    {version_3, [](const SmallProblem &problem, int m) { return run_lbfgsb(problem, m); }},
};

// How the solves with the default stopping tests end; not compared with those to ||P g||_inf <= 1e-6.
const std::vector<Solver> by_defaults = {
    {learned_by_defaults,
     [](const SmallProblem &problem, int m) { return run_by_defaults(problem, m, CUDA_OPT_INITIAL_HESSIAN_LEARNED); }},
    {plain_by_defaults,
     [](const SmallProblem &problem, int m) { return run_by_defaults(problem, m, CUDA_OPT_INITIAL_HESSIAN_SCALAR); }},
};

struct Comparison {
    int both = 0, worse = 0, better = 0, lost = 0, won = 0;
    double logs = 0;
    double factor() const { return both > 0 ? std::exp(logs / both) : absent; }
};

Comparison compare(const Ends &one, const Ends &other, const Chosen &chosen) {
    Comparison result;
    for (std::size_t k = 0; k < one.evaluations.size(); k++) {
        if (!chosen(k)) continue;
        const double a = one.evaluations[k], b = other.evaluations[k];
        result.lost += std::isnan(a) && !std::isnan(b);
        result.won += !std::isnan(a) && std::isnan(b);
        if (std::isnan(a) || std::isnan(b)) continue;
        const double factor = a / b;
        result.both++;
        result.logs += std::log(factor);
        result.worse += factor > much_worse;
        result.better += factor < 1 / much_worse;
    }
    return result;
}

// Two ends at one minimum, as far as f tells.
bool same_end(double f, double other) {
    return std::fabs(f - other) <= 1e-5 + 1e-3 * std::fmax(std::fabs(f), std::fabs(other));
}

int solved(const Ends &ends) {
    int count = 0;
    for (const double number : ends.evaluations) count += !std::isnan(number);
    return count;
}

void show(const std::string &name, const Comparison &c) {
    std::printf("  %-26s %6d %8.3f %8d %5.1f%% %8d %6d %5d\n", name.c_str(), c.both, c.factor(), c.worse,
                100.0 * c.worse / std::max(c.both, 1), c.better, c.lost, c.won);
}

void heading(const std::string &words) {
    std::printf("\n  %-26s %6s %8s %8s %6s %8s %6s %5s\n", words.c_str(), "both", "factor", "worse", "", "better",
                "lost", "won");
}

void show_groups(const Solvers &solvers) {
    const auto &problems = metric_problems();
    const Ends &one = solvers.at(learned), &other = solvers.at(plain);
    heading(learned + " / " + plain + ", on");
    show("all problems", compare(one, other, [](std::size_t) { return true; }));
    show("those to develop on", compare(one, other, [&](std::size_t k) { return !kept_aside(problems[k].name); }));
    show("those kept aside", compare(one, other, [&](std::size_t k) { return kept_aside(problems[k].name); }));
    show("those with bounds", compare(one, other, [&](std::size_t k) { return problems[k].bounded(); }));
    show("n > 100", compare(one, other, [&](std::size_t k) { return problems[k].n() > 100; }));
    show("100 evaluations or more",
         compare(one, other, [&](std::size_t k) { return other.evaluations[k] >= many_evaluations; }));
    show("where both end at the same f",
         compare(one, other, [&](std::size_t k) { return same_end(one.f[k], other.f[k]); }));
    for (const char *group : {"More-Garbow-Hillstrom", "NIST", "other small ones", "larger", "MINPACK-2"})
        show(group, compare(one, other, [&](std::size_t k) { return group_of(problems[k]) == group; }));
}

// Evaluations, of so many starts moved; absent where most of them are not solved.
double median(const Solver &solver, const SmallProblem &problem, int m) {
    std::vector<double> numbers;
    for (int k = 0; k < starts_moved; k++) {
        const SmallRun run = solver.run(with_start_moved(problem, k), m);
        numbers.push_back(run.solved() ? static_cast<double>(run.evaluations) : INFINITY);
    }
    std::nth_element(numbers.begin(), numbers.begin() + starts_moved / 2, numbers.end());
    const double middle = numbers[starts_moved / 2];
    return std::isfinite(middle) ? middle : absent;
}

void show_losers(const Solvers &solvers, int m) {
    const auto &problems = metric_problems();
    const Ends &one = solvers.at(learned), &other = solvers.at(plain);
    std::printf("\n  worse than %s by %g x, or not solved: evaluations, their medians over %d starts, f at the end\n",
                plain.c_str(), much_worse, starts_moved);
    std::printf("  %-40s %14s %14s %26s\n", "", "learned  plain", "learned  plain", "learned         plain");
    for (std::size_t k = 0; k < problems.size(); k++) {
        const double a = one.evaluations[k], b = other.evaluations[k];
        if (std::isnan(b) || a <= much_worse * b) continue;
        std::printf("  %-30s n = %4d  %s %s  %s %s  %s %s%s\n", problems[k].name.c_str(), problems[k].n(),
                    cell("%.0f", 7, a).c_str(), cell("%.0f", 6, b).c_str(),
                    cell("%.0f", 7, median(ours[0], problems[k], m)).c_str(),
                    cell("%.0f", 6, median(ours[1], problems[k], m)).c_str(), cell("%.5e", 12, one.f[k]).c_str(),
                    cell("%.5e", 12, other.f[k]).c_str(), kept_aside(problems[k].name) ? "  kept aside" : "");
    }
}

void summarise(const Solvers &solvers, int m) {
    std::printf("\nm = %d, %zu problems\n", m, metric_problems().size());
    std::printf("\n  %-26s %6s", "", "solved");
    for (const std::string &reference : {learned, plain}) std::printf("  %8s / this (both)", reference.c_str());
    std::printf("\n");
    const Chosen all = [](std::size_t) { return true; };
    for (const auto &[name, ends] : solvers) {
        std::printf("  %-26s %6d", name.c_str(), solved(ends));
        for (const std::string &reference : {learned, plain}) {
            const Comparison c = compare(solvers.at(reference), ends, all);
            std::printf("  %15.3f (%3d)", c.factor(), c.both);
        }
        std::printf("\n");
    }
    heading("what rounding errors do");
    show(moved + " / " + plain, compare(solvers.at(moved), solvers.at(plain), all));
    show_groups(solvers);
    show_losers(solvers, m);
}

Ends run_all(const Solver &solver, int m, int seconds, Output &rows,
             std::map<std::string, int> *terminations = nullptr) {
    Ends result;
    for (const SmallProblem &problem : metric_problems()) {
        const SmallRun run = run_apart([&] { return solver.run(problem, m); }, seconds);
        rows.write(csv_row(problem.name, int64_t{problem.n()}, int64_t{problem.bounded()}, int64_t{m}, solver.name,
                           run.evaluations, run.f, run.pg, run.end, int64_t{run.solved()}, run.termination,
                           run.seconds));
        result.evaluations.push_back(run.solved() ? static_cast<double>(run.evaluations) : absent);
        result.f.push_back(run.f);
        result.seconds.push_back(run.seconds);
        if (terminations) {
            (*terminations)[run.termination]++;
            (*terminations)["evaluations"] += static_cast<int>(run.evaluations);
        }
    }
    return result;
}

// The time of all problems that every m solves, by m, if each evaluation takes so many microseconds more.
void show_times(const std::map<int, Ends> &ends_of) {
    std::printf("\n  seconds, %s, with f that costs more: %10s %10s %10s %10s\n", learned.c_str(), "0", "1 us", "10 us",
                "100 us");
    for (const auto &[m, ends] : ends_of) {
        double seconds = 0, evaluations = 0;
        for (std::size_t k = 0; k < ends.seconds.size(); k++) {
            if (std::any_of(ends_of.begin(), ends_of.end(),
                            [&](const auto &one) { return std::isnan(one.second.evaluations[k]); }))
                continue;
            seconds += ends.seconds[k];
            evaluations += ends.evaluations[k];
        }
        std::printf("  m = %-2d, %8.0f evaluations           ", m, evaluations);
        for (const double more : {0.0, 1e-6, 1e-5, 1e-4}) std::printf(" %10.4f", seconds + more * evaluations);
        std::printf("\n");
    }
}

void show_terminations(int m, int seconds, Output &rows) {
    const char *const kinds[] = {"true", "rounding level", "false", "not converged", "evaluations"};
    std::printf("\n  terminations by the default tests (see bench/solver/small_runs.hpp)\n  %-26s", "");
    for (const char *kind : kinds) std::printf("%16s", kind);
    std::printf("\n");
    for (const Solver &solver : by_defaults) {
        std::map<std::string, int> terminations;
        run_all(solver, m, seconds, rows, &terminations);
        std::printf("  %-26s", solver.name.c_str());
        for (const char *kind : kinds) std::printf("%16d", terminations[kind]);
        std::printf("\n");
    }
}

} // namespace

int main(int argc, char **argv) {
    std::vector<int> memories = {10, 5};
    std::string peers;
    int seconds = 120, seeds = 5;
    std::vector<double> noise;
    bool sources = false;
    CLI::App app("The learned metric, and what else there is, on problems solved to ||P g||_inf <= 1e-6");
    app.add_option("--m", memories, "correction pairs, or 0 for the default")->delimiter(',');
    app.add_option("--peers", peers, "rows of tools/compare_tao, in a file");
    app.add_option("--seconds", seconds, "most of them for one solve")->check(is_positive);
    app.add_option("--noise", noise, "solve the problems with noise of these relative sizes only")->delimiter(',');
    app.add_option("--seeds", seeds, "solves of each problem with noise")->check(is_positive);
    app.add_flag("--sources", sources, "show the problems with their sources, and solve nothing");
    const Files files(app);
    return run_program(app, "bench_metric", argc, argv, [&] {
        if (sources) {
            for (const SmallProblem &problem : metric_problems())
                std::printf("%s, n = %d: %s\n", problem.name.c_str(), problem.n(), problem.source.c_str());
            return;
        }
        if (!noise.empty()) {
            for (const int m : memories) show_noise(noise, m, seeds);
            return;
        }
        Output rows(files.csv);
        std::printf("Evaluations of f and g to ||P g||_inf <= 1e-6, at most %lld\n",
                    static_cast<long long>(small_evaluations));
        const std::vector<PeerRow> known = peers.empty() ? std::vector<PeerRow>{} : read_peers(peers);
        rows.write("problem,n,bounded,m,solver,evaluations,f,pg,end,solved,termination,seconds\n");
        std::map<int, Ends> learned_by_m;
        for (const int m : memories) {
            Solvers solvers;
            for (const Solver &solver : ours) solvers[solver.name] = run_all(solver, m, seconds, rows);
            for (const PeerRow &row : known) {
                if (row.m != m) continue;
                auto &evaluations = solvers[row.solver].evaluations;
                evaluations.resize(metric_problems().size(), absent);
                for (std::size_t k = 0; k < evaluations.size(); k++)
                    if (metric_problems()[k].name == row.problem && row.solved) evaluations[k] = row.evaluations;
            }
            summarise(solvers, m);
            learned_by_m[m] = solvers[learned];
            show_terminations(m, seconds, rows);
        }
        show_times(learned_by_m);
        std::printf(
            "\nfactor: geometric mean over the problems that both solve. worse, better: by %g x and more. lost, won: "
            "solved by the\nother alone, by the one alone. moved: the start, by 1e-9 of itself.\n",
            much_worse);
    });
}
