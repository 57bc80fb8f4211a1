// Time to a solution against the number of correction pairs, for each history precision (CUDA_OPT_HISTORY_BITS): fewer
// bits can pay for more pairs.
//
//     bench_memory_time [--problems torsion,combustion] [--n 1e6] [--m 3,5,...] [--bits 64,32,16] [--pgtol 1e-7]
//                       [--repeat 3] [--csv FILE] [--svg FILE]
#include <iterator>

#include "bench/common/colours.hpp"
#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "drivers/svg_plot.hpp"
#include "testfuncs/problem.hpp"
#include "whole_run.hpp"

using namespace cudaopt::bench;

int main(int argc, char **argv) {
    RunOptions o;
    o.own_bounds = true;
    Stop stop;
    stop.pgtol = 1e-7;
    std::vector<std::string> problems = {"torsion", "combustion"};
    std::vector<int> pairs = {3, 5, 8, 10, 15, 20, 30, 40}, widths = {64, 32, 16};
    double n = 1e6;
    int repeat = 3;
    CLI::App app("Time to a solution against the number of pairs, by the bits of the memory");
    app.add_option("--problems", problems, "test problems")->delimiter(',');
    app.add_option("--n", n, "variables, rounded to the grids")->check(is_size);
    app.add_option("--m", pairs, "numbers of correction pairs, ascending")->delimiter(',')->check(CLI::Range(1, 1000));
    app.add_option("--bits", widths, "of the memory's columns")->delimiter(',')->check(CLI::IsMember({64, 32, 16}));
    app.add_option("--pgtol", stop.pgtol, "largest component of the projected gradient at the end")->check(is_positive);
    app.add_option("--repeat", repeat, "solves, of which the fastest counts")->check(CLI::Range(1, 1000));
    app.add_option("--max-seconds", stop.max_seconds, "of a solve; 0: no limit")->check(is_not_negative);
    app.add_option("--threads", o.threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--product-bits", o.product_bits, "precision of the inner products")->check(CLI::IsMember({32, 64}));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    const Files files(app);
    return run_program(app, "bench_memory_time", argc, argv, [&] {
        o.n = static_cast<int64_t>(n);
        for (const std::string &name : problems) cudaopt::testfuncs::make_problem(name, o.n); // refuse early
        const bool cuda = o.backend != "host" && have_cuda();
        if (o.backend == "cuda" && !cuda) throw std::runtime_error("there is no CUDA backend or no device here");
        o.backend = cuda ? "cuda" : "host";
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine(), on = cuda ? "CUDA" : "host";
        std::printf("Time to ||Pg||_inf <= %g, own bounds, double precision, %s backend\n%s\n\n", stop.pgtol,
                    on.c_str(), where.c_str());
        std::printf("%-18s %10s %3s %4s %10s %11s %12s %12s %12s %22s  %s\n", "problem", "n", "m", "bits", "iterations",
                    "evaluations", "seconds", "solver s", "evaluation s", "energy", "end");
        csv.write("problem,n,m,bits,backend,iterations,evaluations,seconds,solver_seconds,evaluation_seconds,f,end,"
                  "machine\n");
        std::vector<driver::Plot> plots;
        for (const std::string &problem : problems) {
            o.problem = problem;
            driver::Plot plot{"Seconds to a solution: " + problem, "", "correction pairs", {}};
            for (std::size_t k = 0; k < widths.size(); k++) {
                o.history_bits = widths[k];
                driver::Series series{std::to_string(widths[k]) + " bits", colours[k % std::size(colours)], {}};
                for (const int m : pairs) {
                    o.m = m;
                    WholeRun r = run_whole(o, stop);
                    for (int more = 1; more < repeat; more++) {
                        const WholeRun again = run_whole(o, stop);
                        if (again.seconds < r.seconds) r = again;
                    }
                    const double evaluation = r.evaluation_seconds * static_cast<double>(r.evaluations);
                    std::printf("%-18s %10lld %3d %4d %10lld %11lld %12.6f %12.6f %12.6f %22.15e  %s\n",
                                problem.c_str(), static_cast<long long>(r.n), m, widths[k],
                                static_cast<long long>(r.iterations), static_cast<long long>(r.evaluations), r.seconds,
                                r.solver_seconds, evaluation, r.f, r.end.c_str());
                    std::fflush(stdout);
                    csv.write(csv_row(problem, r.n, static_cast<int64_t>(m), static_cast<int64_t>(widths[k]), on,
                                      r.iterations, r.evaluations, r.seconds, r.solver_seconds, evaluation, r.f, r.end,
                                      where));
                    series.x.push_back(m);
                    series.y.push_back(r.end == "converged" ? r.seconds : absent);
                    plot.subtitle = "n = " + driver::with_separators(r.n) + ", " + on + "; " + where;
                }
                plot.series.push_back(series);
            }
            plots.push_back(plot);
        }
        std::printf(
            "\nseconds: wall time of the whole loop, with the allocation of the workspace at the first call; of "
            "%d solves the fastest.\nevaluation s: the time of one evaluation, measured at the end, times their "
            "number.\n",
            repeat);
        picture.write(driver::svg(plots));
    });
}
