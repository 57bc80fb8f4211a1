// Compares the time of an iteration inside the solver with the bytes that it has to transfer and the machine's copy
// rate, measured in the same run:
//
//     bench_iteration --n 4000000 --m 5 --problem rosenbrock --lower -3 --upper 3 [--uniform] [--single]
//                     [--backend cuda] [--wall] [--rates]
//
// Counted bytes of an iteration with a full history whose first step is accepted, in n-vectors: sweep 1 reads x, g (l,
// u) and 2m columns; sweep 2 reads the same and writes d, g_base, x_base, x and y: 4m + 13 with bounds, 4m + 9 without,
// or with uniform bounds (--uniform). Each further evaluation of a line search costs another sweep 1 and a step
// (x_base, d (l, u), x). If the columns have fewer bits than x, sweep 1 reads g_base instead of y_new. Sweep 2 does the
// same on the host, whereas on CUDA sweep 1 has written y_new.
//
// Columns of --rates, which show how far an iteration is from the time that its bytes take:
//
//     copy     GB/s of a copy of at least 2^30 bytes, read and written, by the same threads or on the same device
//     read     GB/s of a vector that is only read and has as many bytes as all vectors of the solve, so that it fits in
//              the same caches
//     floor    ms that the 4m + 13 vectors (4m + 9 without arrays of bounds) of an iteration with one evaluation take
//     at
//              the rate of `read`
//     x read   the time of an iteration divided by `floor`
//
// Columns of --wall, in ms per iteration by the host's clock, from separate solves with CUDA_OPT_TIMED = 0:
//
//     wall     the loop with its evaluations, between two moments at which the device is idle
//     eval     the same number of evaluations without the solver, one after the other
//     solver   wall minus eval: the time that the solver adds, including gaps between kernels of solver and evaluation.
//     On
//              CUDA the launch of an evaluation is in neither if kernels take longer than launches. Only in the loop
//              does an evaluation find data in the cache that sweep 2 has left there.
//     waited   wall minus the same number of evaluations with a synchronisation after each. These include a launch and
//     a
//              copy to the host that the loop hides, so this is a lower limit.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "bench/common/command_line.hpp"
#include "bench/common/memory_rate.hpp"
#include "solver_run.hpp"

using namespace cudaopt::bench;

int main(int argc, char **argv) {
    RunOptions o;
    bool header = false, wall = false, rates = false;
    int repeat = 1;
    CLI::App app("Time of a solver iteration against the bytes it has to move");
    app.add_option("--n", o.n, "variables")->check(is_positive);
    app.add_option("--m", o.m, "correction pairs")->check(is_positive);
    app.add_option("--problem", o.problem, "test problem");
    app.add_option("--iterations", o.iterations, "iterations to count")->check(is_positive);
    app.add_option("--repeat", repeat, "solves, of which the fastest counts")->check(is_positive);
    app.add_option("--metric", o.metric, "0: one number, 1: a constant diagonal, 2: learned")->check(CLI::Range(0, 2));
    app.add_option("--diagonal-every", o.diagonal_every, "iterations that a constant diagonal is kept for; 0: all")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--threads", o.threads, "host threads; 0: all");
    app.add_option("--lower", o.lower, "lower bound of every variable");
    app.add_option("--upper", o.upper, "upper bound of every variable");
    CLI::Option *const own = app.add_flag("--own-bounds", o.own_bounds, "the problem's own bounds");
    app.add_flag("--uniform", o.uniform, "the bounds as numbers, not in arrays")->excludes(own);
    app.add_option("--product-bits", o.product_bits, "precision of the inner products")->check(CLI::IsMember({32, 64}));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    app.add_flag("--single", o.single, "single precision");
    app.add_option("--history-bits", o.history_bits, "of the memory's columns; 0: those of x")
        ->check(CLI::IsMember({0, 16, 32, 64}));
    app.add_flag("--wall", wall,
                 "without events: wall time of the loop; of its evaluations alone, one behind the other; their\n"
                 "difference; and the difference to evaluations each waited for, which is too little");
    app.add_flag("--rates", rates, "the rates of copying and reading, and the time of the bytes at the latter");
    app.add_flag("--header", header, "print the table's head first");
    return run_program(app, "bench_iteration", argc, argv, [&] {
        RunResult r = run_solver(o);
        for (int more = 1; more < repeat; more++) r.seconds = std::min(r.seconds, run_solver(o).seconds);
        RunResult least; // of --wall
        o.timed = false;
        for (int k = 0; wall && k < repeat; k++) {
            const RunResult one = run_solver(o);
            if (k == 0) least = one;
            least.wall = std::min(least.wall, one.wall);
            least.evaluation_wall = std::min(least.evaluation_wall, one.evaluation_wall);
            least.waited_evaluation_wall = std::min(least.waited_evaluation_wall, one.waited_evaluation_wall);
        }
        const double size = r.bytes(), m = o.m, further = r.evaluations - r.iterations;
        const double copied = copy_rate(static_cast<int64_t>(std::max(size, 0x1p30)), r.cuda, o.threads);
        const bool arrays = r.bounded && !o.uniform;
        const double stored = static_cast<double>(r.n) * r.history_bytes; // bytes of a column
        const double panel = (arrays ? 4 : 2) * size + 2 * m * stored;
        const bool apart = stored < size, once = apart && r.cuda;
        const double with_g_base = panel + (apart ? size - stored : 0), sweep_1 = with_g_base + (once ? stored : 0),
                     sweep_2 = (once ? panel : with_g_base + stored) + 3 * size + stored;
        const double step = (arrays ? 4 : 2) * size + stored;
        const double counted = sweep_1 + sweep_2 + further / r.iterations * (sweep_1 + step);
        const double seconds = r.seconds / r.iterations, floor = (12 * size + (4 * m + 2) * stored) / copied;
        // All vectors of the solve: x and g, the bounds, x_base and 2 (m + 1) columns.
        const double vectors = (arrays ? 5 : 3) * size + (2 * m + 2) * stored;
        const double read = rates ? read_rate(static_cast<int64_t>(vectors), r.cuda, o.threads) : 0;
        const double read_floor = ((arrays ? 11 : 7) * size + (4 * m + 2) * stored) / read;
        if (header) {
            std::printf("%-14s %-5s %-6s %4s %-6s %10s %3s %5s %6s %6s %10s %8s %8s %8s %8s", "problem", "where",
                        "real", "bits", "bounds", "n", "m", "iter", "evals", "cross", "ms/iter", "GB/iter", "GB/s",
                        "of copy", "x floor");
            if (rates) std::printf(" %8s %8s %10s %8s", "copy", "read", "floor", "x read");
            if (wall) std::printf(" %10s %10s %10s %10s", "wall", "eval", "solver", "waited");
            std::printf("\n");
        }
        std::printf("%-14s %-5s %-6s %4.0f %-6s %10lld %3d %5.0f %6.0f %6.0f %10.5f %8.4f %8.1f %7.1f%% %8.3f",
                    o.problem.c_str(), r.cuda ? "cuda" : "host", o.single ? "single" : "double", 8 * r.history_bytes,
                    arrays      ? "yes"
                    : r.bounded ? "number"
                                : "no",
                    static_cast<long long>(r.n), o.m, r.iterations, r.evaluations, r.crossings, 1e3 * seconds,
                    1e-9 * counted, 1e-9 * counted / seconds, 100 * counted / seconds / copied, seconds / floor);
        if (rates)
            std::printf(" %8.1f %8.1f %10.5f %8.3f", 1e-9 * copied, 1e-9 * read, 1e3 * read_floor,
                        seconds / read_floor);
        const double ms = 1e3 / r.iterations; // an iteration
        if (wall)
            std::printf(" %10.5f %10.5f %10.5f %10.5f", ms * least.wall, ms * least.evaluation_wall,
                        ms * (least.wall - least.evaluation_wall), ms * (least.wall - least.waited_evaluation_wall));
        std::printf("\n");
    });
}
