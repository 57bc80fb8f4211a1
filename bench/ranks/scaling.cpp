// Weak and strong scaling over the GPUs of one process:
//
//     bench_ranks --ranks 2 --nx 10000 --ny 20000 [--problem rosenbrock] [--exchange nccl] [--iterations 50] [--log]
//                 [--history-bits 16] [--alone] [--f-of-segments] [--general] [--hash] [--repeat 20] [--parts]
//
// Either torsion with its bounds, where each rank has whole rows of the grid and the rows before and after them are
// copied between GPUs, or Rosenbrock, which needs no copies. With --f-of-segments, and parts that begin and end at
// segments, x is bitwise equal for any number of ranks, which --hash shows. With up to 16,384 variables per rank, f and
// g are one kernel, which writes its outermost rows to the neighbours' GPUs; --general disables that. The reported time
// is that of an iteration after the fifth, including evaluation and exchange; --parts divides it.
#include "bench/common/command_line.hpp"
#include "rank_run.hpp"

using namespace cudaopt::bench;

int main(int argc, char **argv) {
    RankRunOptions o;
    std::string exchange = "host";
    bool header = false;
    CLI::App app("Time of an iteration on several GPUs");
    app.add_option("--ranks", o.ranks, "threads, each with a GPU; they take turns where GPUs are fewer")
        ->check(is_positive);
    app.add_option("--problem", o.problem, "which")->check(CLI::IsMember({"torsion", "rosenbrock"}));
    app.add_option("--nx", o.nx, "points of a row")->check(is_positive);
    app.add_option("--ny", o.ny, "rows of all ranks together")->check(is_positive);
    app.add_option("--m", o.m, "correction pairs")->check(is_positive);
    app.add_option("--history-bits", o.history_bits, "of an element of S and Y")->check(CLI::IsMember({64, 32, 16}));
    app.add_option("--iterations", o.iterations, "iterations")->check(is_positive);
    app.add_option("--exchange", exchange, "how packets are gathered")->check(CLI::IsMember({"host", "nccl"}));
    app.add_flag("--log", o.log, "print rank 0's log");
    app.add_flag("--alone", o.alone, "of one rank, tell its handle nothing of ranks");
    app.add_flag("--f-of-segments", o.f_of_segments, "sum f by segments, where these are a rank's rows");
    app.add_flag("--general", o.general, "evaluate few variables as if they were many");
    app.add_flag("--late", o.late, "of few variables: evaluate when the solver's kernel has ended");
    app.add_flag("--timed", o.timed, "have the solver time its calls");
    app.add_option("--repeat", o.repeat, "solves, of which the median and the least count")->check(is_positive);
    app.add_flag("--hash", o.hash, "of x at the end");
    app.add_flag("--parts", o.parts, "print where the time of an evaluation goes");
    app.add_flag("--header", header, "print the table's head first");
    return run_program(app, "bench_ranks", argc, argv, [&] {
        o.nccl = exchange == "nccl";
        const RankRunResult r = run_ranks(o);
        if (header)
            std::printf("%-10s %12s %3s %4s %5s %4s %-8s %6s %6s %7s %9s %10s %10s %10s %22s %12s %13s %16s\n",
                        "problem", "n", "m", "bits", "ranks", "GPUs", "exchange", "iter", "evals", "gathers", "bytes",
                        "ms/iter", "least", "9 of 10", "f", "||Pg||", "bytes a GPU", "hash of x");
        std::printf("%-10s %12lld %3d %4d %5d %4d %-8s %6lld %6lld %7lld %9lld %10.5f %10.5f %10.5f %22.15e %12.5e "
                    "%13lld %016llx\n",
                    o.problem.c_str(), static_cast<long long>(r.n), o.m, o.history_bits, o.ranks, r.devices,
                    o.alone ? "alone" : exchange.c_str(), static_cast<long long>(r.iterations),
                    static_cast<long long>(r.evaluations), static_cast<long long>(r.exchanges),
                    static_cast<long long>(r.bytes), 1e3 * r.seconds, 1e3 * r.least_seconds, 1e3 * r.ninth_seconds, r.f,
                    r.pg_norm2, static_cast<long long>(r.workspace), static_cast<unsigned long long>(r.hash));
        constexpr const char *names[parts_of_evaluation] = {"evaluation", "numbers", "exchange", "decision"};
        for (std::size_t rank = 0; rank < r.parts.size(); rank++) {
            std::printf("rank %zu, us (1, 5, 9 of 10):", rank);
            for (int k = 0; k < parts_of_evaluation; k++) {
                const Spread &of = r.parts[rank][k];
                std::printf("  %s %.2f %.2f %.2f", names[k], 1e6 * of.tenth, 1e6 * of.median, 1e6 * of.ninth);
            }
            std::printf("\n");
        }
    });
}
