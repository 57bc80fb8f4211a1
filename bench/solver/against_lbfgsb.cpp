// Compares L-BFGS-B 3.0 (the Fortran code, one thread) with this library on the same problem with the same bounds, in
// one run: milliseconds per iteration inside each solver, after the history is full, and their ratio.
//
//     bench_against_lbfgsb --n 1000000 --m 5 --problem torsion --threads 1,2 [--cuda]
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/common/command_line.hpp"
#include "fortran_run.hpp"
#include "solver_run.hpp"

using namespace cudaopt;

namespace {

// Seconds an iteration inside setulb, from iteration m + 2 on.
double fortran_seconds(const bench::RunOptions &o) {
    bench::Stop stop;
    stop.max_iterations = o.m + 2 + o.iterations;
    const auto run = bench::run_fortran(o, stop);
    const std::size_t full = static_cast<std::size_t>(o.m) + 2;
    if (!run || run->seconds_at.size() <= full) throw std::runtime_error("L-BFGS-B ended before its memory was full");
    return (run->seconds_at.back() - run->seconds_at[full - 1]) / static_cast<double>(run->seconds_at.size() - full);
}

} // namespace

int main(int argc, char **argv) {
    bench::RunOptions o;
    o.problem = "torsion";
    o.own_bounds = true;
    std::vector<int> threads = {1, 2};
    bool cuda = false, header = false;
    CLI::App app("This library against L-BFGS-B 3.0, time per iteration inside the solver");
    app.add_option("--n", o.n, "variables")->check(CLI::Range(1, 100000000));
    app.add_option("--m", o.m, "correction pairs")->check(bench::is_positive);
    app.add_option("--problem", o.problem, "test problem, with its own bounds");
    app.add_option("--iterations", o.iterations, "iterations to count")->check(bench::is_positive);
    app.add_option("--threads", threads, "host threads to try, 0: all")->delimiter(',');
    app.add_flag("--cuda", cuda, "the CUDA backend as well");
    app.add_flag("--header", header, "print the table's head first");
    return bench::run_program(app, "bench_against_lbfgsb", argc, argv, [&] {
        if (header) std::printf("%-14s %10s %3s %-22s %12s %10s\n", "problem", "n", "m", "solver", "ms/iter", "of 3.0");
        const double yardstick = fortran_seconds(o);
        const auto line = [&](const std::string &solver, double seconds) {
            std::printf("%-14s %10lld %3d %-22s %12.4f %10.4f\n", o.problem.c_str(), static_cast<long long>(o.n), o.m,
                        solver.c_str(), 1e3 * seconds, seconds / yardstick);
        };
        line("L-BFGS-B 3.0, 1 thread", yardstick);
        o.backend = "host";
        for (const int count : threads) {
            o.threads = count;
            const bench::RunResult r = bench::run_solver(o);
            line("host, " + std::to_string(count) + " threads", r.seconds / r.iterations);
        }
        if (cuda) {
            o.backend = "cuda";
            const bench::RunResult r = bench::run_solver(o);
            line("cuda", r.seconds / r.iterations);
        }
    });
}
