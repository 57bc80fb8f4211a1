// The cost of an iteration whose Cauchy point lies beyond breakpoints, compared with one that crosses none: medians of
// the time inside the solver over the iterations of one solve with a full history, and the time of the first iteration.
//
// The iterations of both kinds lie in different phases of a solve. At the start of torsion most variables are active,
// tiles of zeros are left out, and no iteration crosses; later nearly every iteration does. A second solve therefore
// ends each Cauchy search at the first breakpoint (CUDA_OPT_APPROXIMATE_CAUCHY). Each crossing iteration is compared
// with those that cross none, in either solve, and have the nearest numbers of free variables.
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

struct TimedIteration {
    int64_t iteration, breakpoints, free;
    double seconds;
    bool crosses;
};

struct TimedSolve {
    std::vector<TimedIteration> iterations; // with a full history and one evaluation
    double first = 0;                       // seconds of the first iteration
};

TimedSolve time_solve(RunOptions o, bool approximate) {
    TimedSolve result;
    Reading before{};
    o.approximate_cauchy = approximate;
    o.on_iterate = [&](const Reading &now) {
        const double seconds = now.seconds - before.seconds;
        const bool one_evaluation = now.evaluations - before.evaluations == 1;
        if (now.iterations == 1) result.first = seconds;
        if (now.iterations > o.m + 2 && one_evaluation)
            result.iterations.push_back({now.iterations, now.breakpoints - before.breakpoints, now.free, seconds,
                                         now.crossings > before.crossings && !approximate});
        before = now;
    };
    try {
        run_solver(o);
    } catch (const std::runtime_error &) {
        if (result.first == 0) throw; // a solve that ends early has told its first iteration
    }
    return result;
}

// The median of the seconds of the iterations, sorted by their numbers of free variables, whose number is nearest.
double nearest_median(const std::vector<TimedIteration> &by_free, int64_t free) {
    constexpr std::size_t neighbours = 21;
    if (by_free.size() < neighbours) return 0;
    const auto after = std::lower_bound(by_free.begin(), by_free.end(), free,
                                        [](const TimedIteration &a, int64_t number) { return a.free < number; });
    const std::size_t place = static_cast<std::size_t>(after - by_free.begin());
    const std::size_t begin = std::min(place - std::min(place, neighbours / 2), by_free.size() - neighbours);
    std::vector<double> seconds;
    for (std::size_t k = begin; k < begin + neighbours; k++) seconds.push_back(by_free[k].seconds);
    return median(seconds);
}

// The median, over the crossing iterations, of the time over that of iterations with as many free variables.
double ratio_at_equal_free(const std::vector<TimedIteration> &crossing, std::vector<TimedIteration> straight) {
    std::sort(straight.begin(), straight.end(),
              [](const TimedIteration &a, const TimedIteration &b) { return a.free < b.free; });
    std::vector<double> ratios;
    for (const TimedIteration &one : crossing)
        if (const double of_others = nearest_median(straight, one.free); of_others > 0)
            ratios.push_back(one.seconds / of_others);
    return median(ratios);
}

std::vector<double> seconds_of(const std::vector<TimedIteration> &iterations) {
    std::vector<double> seconds;
    for (const TimedIteration &one : iterations) seconds.push_back(one.seconds);
    return seconds;
}

void write_csv(const std::string &name, const TimedSolve &exact, const TimedSolve &approximate) {
    FILE *to = std::fopen(name.c_str(), "w");
    if (!to) throw std::runtime_error("cannot write " + name);
    std::fputs("search,iteration,crosses,breakpoints,free,microseconds\n", to);
    for (const TimedSolve *solve : {&exact, &approximate})
        for (const TimedIteration &one : solve->iterations)
            std::fprintf(to, "%s,%lld,%d,%lld,%lld,%.2f\n", solve == &exact ? "exact" : "approximate",
                         static_cast<long long>(one.iteration), one.crosses, static_cast<long long>(one.breakpoints),
                         static_cast<long long>(one.free), 1e6 * one.seconds);
    std::fclose(to);
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.iterations = 200;
    std::string csv;
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
    app.add_option("--csv", csv, "file for the time of each iteration");
    return run_program(app, "bench_crossings", argc, argv, [&] {
        const TimedSolve exact = time_solve(o, false), approximate = time_solve(o, true);
        std::vector<TimedIteration> crossing, straight;
        std::vector<double> rows;
        for (const TimedIteration &one : exact.iterations) {
            (one.crosses ? crossing : straight).push_back(one);
            if (one.crosses) rows.push_back(static_cast<double>(one.breakpoints));
        }
        std::printf(
            "%s, n = %lld, m = %d: %zu iterations cross a median of %.0f breakpoints (at most %.0f), %zu cross none\n",
            o.problem.c_str(), static_cast<long long>(o.n), o.m, crossing.size(), median(rows),
            rows.empty() ? 0.0 : *std::max_element(rows.begin(), rows.end()), straight.size());
        const double crossing_ms = 1e3 * median(seconds_of(crossing)), straight_ms = 1e3 * median(seconds_of(straight));
        std::vector<TimedIteration> others = straight;
        others.insert(others.end(), approximate.iterations.begin(), approximate.iterations.end());
        std::printf("  median ms: crossing %.4f, not crossing %.4f, ratio %.3f, %.3f at equal numbers of free "
                    "variables; first iteration %.4f\n",
                    crossing_ms, straight_ms, straight.empty() ? 0.0 : crossing_ms / straight_ms,
                    ratio_at_equal_free(crossing, others), 1e3 * exact.first);
        if (!csv.empty()) write_csv(csv, exact, approximate);
    });
}
