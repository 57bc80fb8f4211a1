// L-BFGS-B 3.0 (the Fortran code, one thread) and this library on the same problem with the same bounds, in one run:
// milliseconds per iteration inside each solver, after the memory is full, and their ratio.
//
//     bench_against_lbfgsb --n 1000000 --m 5 --problem torsion --threads 1,2 [--cuda]
#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "solver_run.hpp"
#include "testfuncs/problem.hpp"

using namespace cudaopt;
using Clock = std::chrono::steady_clock;

extern "C" void setulb_(const int *n, const int *m, double *x, const double *l, const double *u, const int *nbd,
                        double *f, double *g, const double *factr, const double *pgtol, double *wa, int *iwa,
                        char *task, const int *iprint, char *csave, int *lsave, int *isave, double *dsave,
                        std::size_t task_length, std::size_t csave_length);

namespace {

// Seconds an iteration inside setulb, from iteration m + 2 on.
double fortran_seconds(const bench::RunOptions &o) {
    const auto problem = testfuncs::make_problem(o.problem, o.n);
    const int n = static_cast<int>(problem->n()), m = o.m, silent = -1;
    const std::size_t size = static_cast<std::size_t>(n), pairs = static_cast<std::size_t>(m);
    std::vector<double> x(size), g(size), l(size), u(size);
    std::vector<double> wa(2 * pairs * size + 5 * size + 11 * pairs * pairs + 8 * pairs);
    std::vector<int> nbd(size), iwa(3 * size);
    problem->start(0, n, x.data());
    problem->lower(0, n, l.data());
    problem->upper(0, n, u.data());
    for (std::size_t i = 0; i < size; i++) {
        const bool has_l = std::isfinite(l[i]), has_u = std::isfinite(u[i]);
        nbd[i] = has_l ? (has_u ? 2 : 1) : has_u ? 3 : 0;
    }
    double f = 0, dsave[29] = {};
    const double off = 0;
    char task[60], csave[60];
    int lsave[4] = {}, isave[44] = {};
    std::memset(task, ' ', sizeof task);
    std::memset(csave, ' ', sizeof csave);
    std::memcpy(task, "START", 5);
    double seconds = 0, counted = 0;
    int iterations = 0;
    for (;;) {
        const auto begin = Clock::now();
        setulb_(&n, &m, x.data(), l.data(), u.data(), nbd.data(), &f, g.data(), &off, &off, wa.data(), iwa.data(), task,
                &silent, csave, lsave, isave, dsave, sizeof task, sizeof csave);
        const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
        if (iterations >= m + 2) seconds += spent;
        if (std::memcmp(task, "FG", 2) == 0) {
            problem->evaluate(x.data(), &f, g.data(), testfuncs::Place{});
        } else if (std::memcmp(task, "NEW_X", 5) == 0) {
            if (++iterations > m + 2) counted++;
            if (counted >= o.iterations) break;
        } else {
            break;
        }
    }
    if (counted == 0) throw std::runtime_error("L-BFGS-B ended before its memory was full");
    return seconds / counted;
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
    app.add_option("--m", o.m, "correction pairs")->check(CLI::PositiveNumber);
    app.add_option("--problem", o.problem, "test problem, with its own bounds");
    app.add_option("--iterations", o.iterations, "iterations to count")->check(CLI::PositiveNumber);
    app.add_option("--threads", threads, "host threads to try, 0: all")->delimiter(',');
    app.add_flag("--cuda", cuda, "the CUDA backend as well");
    app.add_flag("--header", header, "print the table's head first");
    CLI11_PARSE(app, argc, argv);
    try {
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
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench_against_lbfgsb: %s\n", error.what());
        return 1;
    }
}
