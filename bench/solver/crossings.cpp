// The cost of an iteration whose Cauchy point lies beyond breakpoints, compared with one that crosses none: medians of
// the time inside the solver over the iterations of one solve with a full history, and the time of the first iteration.
//
//     bench_crossings --n 1000000 --m 5 --problem torsion --own-bounds
//     bench_crossings --n 1000000 --m 5 --problem rosenbrock --lower -1.5 --upper 0.8
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "bench/common/command_line.hpp"
#include "solver_run.hpp"

using namespace cudaopt::bench;

namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.iterations = 200;
    CLI::App app("Iterations that cross breakpoints against those that do not");
    app.add_option("--n", o.n, "variables")->check(is_positive);
    app.add_option("--m", o.m, "correction pairs")->check(is_positive);
    app.add_option("--problem", o.problem, "test problem");
    app.add_option("--iterations", o.iterations, "iterations at most")->check(is_positive);
    app.add_option("--threads", o.threads, "host threads; 0: all");
    app.add_option("--lower", o.lower, "lower bound of every variable");
    app.add_option("--upper", o.upper, "upper bound of every variable");
    app.add_flag("--own-bounds", o.own_bounds, "the problem's own bounds");
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    return run_program(app, "bench_crossings", argc, argv, [&] {
        std::vector<double> crossing, straight, rows;
        double first = 0;
        Reading before{};
        o.on_iterate = [&](const Reading &now) {
            const double seconds = now.seconds - before.seconds;
            const bool one_evaluation = now.evaluations - before.evaluations == 1;
            if (now.iterations == 1) first = seconds;
            if (now.iterations > o.m + 2 && one_evaluation) {
                const bool crossed = now.crossings > before.crossings;
                (crossed ? crossing : straight).push_back(seconds);
                if (crossed) rows.push_back(static_cast<double>(now.breakpoints - before.breakpoints));
            }
            before = now;
        };
        try {
            run_solver(o);
        } catch (const std::runtime_error &) {
            if (first == 0) throw; // a solve that ends early has told its first iteration
        }
        std::printf(
            "%s, n = %lld, m = %d: %zu iterations cross a median of %.0f breakpoints (at most %.0f), %zu cross none\n",
            o.problem.c_str(), static_cast<long long>(o.n), o.m, crossing.size(), median(rows),
            rows.empty() ? 0.0 : *std::max_element(rows.begin(), rows.end()), straight.size());
        std::printf("  median ms: crossing %.4f, not crossing %.4f, ratio %.3f; first iteration %.4f\n",
                    1e3 * median(crossing), 1e3 * median(straight),
                    straight.empty() ? 0.0 : median(crossing) / median(straight), 1e3 * first);
    });
}
