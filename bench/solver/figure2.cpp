// Extended Rosenbrock without bounds from its standard start to convergence with the default test, in double and single
// precision: the time on the host and on CUDA, and the speedup over sequential L-BFGS-B 3.0, where figure 2 of the 2013
// manual shows that over a sequential L-BFGS. If 3.0 ends at a limit, times are compared at equal numbers of
// iterations.
//
//     bench_figure2 [--sizes 5e5,1e6,...] [--m 7] [--host-up-to 1e7] [--lbfgsb-whole-up-to 5e6] [--csv FILE] [--svg
//     FILE]
#include <map>
#include <optional>

#include "bench/common/command_line.hpp"
#include "bench/common/log_log_plot.hpp"
#include "bench/common/machine.hpp"
#include "fortran_run.hpp"
#include "testfuncs/problem.hpp"

using namespace cudaopt::bench;

int main(int argc, char **argv) {
    RunOptions o;
    o.m = 7;
    Stop stop;
    stop.eps = 1e-5; // the library's default
    stop.max_iterations = 2000;
    std::vector<double> sizes = {5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7};
    double host_up_to = 1e15, lbfgsb_whole_up_to = 5e6;
    Stop lbfgsb_stop;
    constexpr int64_t lbfgsb_iterations = 10; // where 3.0 is not run to its end
    lbfgsb_stop.eps = stop.eps;
    CLI::App app("Extended Rosenbrock to convergence, host and CUDA, double and single precision");
    app.add_option("--sizes", sizes, "numbers of variables")->delimiter(',')->check(is_size);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_option("--threads", o.threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--host-up-to", host_up_to, "leave the host out above so many variables; 0: altogether")
        ->check(is_not_negative);
    app.add_option("--lbfgsb-whole-up-to", lbfgsb_whole_up_to, "run 3.0 to its end up to so many variables")
        ->check(is_not_negative);
    const Files files(app, true);
    return run_program(app, "bench_figure2", argc, argv, [&] {
        for (const int64_t n : whole(sizes)) cudaopt::testfuncs::make_problem(o.problem, n); // refuse early
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        const bool cuda = have_cuda();
        std::printf("Extended Rosenbrock to ||g|| < 1e-5 max(1, ||x||), no bounds, m = %d\n%s\n\n", o.m, where.c_str());
        std::printf("%10s %-6s %-5s %10s %11s %12s %12s %12s %9s %9s %12s  %s\n", "n", "real", "where", "iterations",
                    "evaluations", "seconds", "solver s", "evaluation s", "over host", "over 3.0", "f", "end");
        csv.write("n,precision,backend,m,iterations,evaluations,seconds,solver_seconds,evaluation_seconds,speed_up,"
                  "speed_up_over_lbfgsb,f,"
                  "end,machine\n");
        std::vector<Curve> curves;
        const auto curve = [&](const std::string &label) -> Curve & {
            for (Curve &c : curves)
                if (c.label == label) return c;
            curves.push_back({label, {}});
            return curves.back();
        };
        const auto write = [&](const char *real, const std::string &solver, const WholeRun &r, double over_host,
                               double over_lbfgsb) {
            const double evaluation = r.evaluation_seconds * static_cast<double>(r.evaluations);
            std::printf("%10lld %-6s %-5s %10lld %11lld %12.6f %12.6f %12.6f %s %s %12.4e  %s\n",
                        static_cast<long long>(r.n), real, solver.c_str(), static_cast<long long>(r.iterations),
                        static_cast<long long>(r.evaluations), r.seconds, r.solver_seconds, evaluation,
                        cell("%.2f", 9, over_host).c_str(), cell("%.2f", 9, over_lbfgsb).c_str(), r.f, r.end.c_str());
            std::fflush(stdout);
            csv.write(csv_row(r.n, std::string(real), solver == "3.0" ? "L-BFGS-B 3.0" : solver,
                              static_cast<int64_t>(o.m), r.iterations, r.evaluations, r.seconds, r.solver_seconds,
                              evaluation, over_host, over_lbfgsb, r.f, r.end, where));
        };
        const auto not_run = [](int64_t n, const char *real, const std::string &solver, const std::exception &error) {
            std::printf("%10lld %-6s %-5s not run: %s\n", static_cast<long long>(n), real, solver.c_str(),
                        error.what());
        };
        std::map<int64_t, double> lbfgsb_seconds; // of an iteration with its evaluations
        for (const bool single : {false, true})
            for (const int64_t n : whole(sizes)) {
                double host_seconds = absent;
                o.n = n;
                if (!single) {
                    RunOptions one_thread = o;
                    one_thread.threads = 1;
                    lbfgsb_stop.max_iterations =
                        static_cast<double>(n) <= lbfgsb_whole_up_to ? stop.max_iterations : lbfgsb_iterations;
                    try {
                        if (const std::optional<FortranRun> fortran = run_fortran(one_thread, lbfgsb_stop)) {
                            const WholeRun &r = fortran->whole;
                            lbfgsb_seconds[n] = r.seconds / static_cast<double>(r.iterations);
                            write("double", "3.0", r, absent, 1);
                        }
                    } catch (const std::exception &error) {
                        not_run(n, "double", "3.0", error);
                    }
                }
                for (const std::string backend : {"host", "cuda"}) {
                    if (backend == "host" ? static_cast<double>(n) > host_up_to : !cuda) continue;
                    o.n = n;
                    o.single = single;
                    o.backend = backend;
                    const char *const real = single ? "single" : "double";
                    WholeRun r;
                    try {
                        r = run_whole(o, stop);
                    } catch (const std::exception &error) { // most often a size that does not fit the memory
                        not_run(n, real, backend, error);
                        continue;
                    }
                    if (backend == "host") host_seconds = r.seconds;
                    const auto known = lbfgsb_seconds.find(n);
                    const double over_lbfgsb = known == lbfgsb_seconds.end()
                                                   ? absent
                                                   : known->second * static_cast<double>(r.iterations) / r.seconds;
                    write(real, backend, r, host_seconds / r.seconds, over_lbfgsb);
                    curve(std::string(backend == "cuda" ? "CUDA, " : "host, ") + real)
                        .points.emplace_back(static_cast<double>(r.n), r.seconds);
                }
            }
        std::printf(
            "\nseconds: wall time of the whole loop, with the allocation of the workspace at the first call. "
            "evaluation s: the time of\none evaluation, measured at the end, times their number. over host: of "
            "the seconds, over the host backend. over 3.0: of the\nseconds of an iteration with its evaluations, "
            "over L-BFGS-B 3.0 in double precision on one thread with the same test; above %.0e\nvariables it is "
            "ended after %lld iterations, of which the first few have less to do. The manual's figure 2, of a "
            "Tesla C1060 over a\nsequential L-BFGS on a Core i7: over 8 in double and 14 in single precision, "
            "5e5 to 5e7 variables.\n",
            lbfgsb_whole_up_to, static_cast<long long>(lbfgsb_iterations));
        if (!cuda) std::printf("CUDA backend: not run, there is none here.\n");
        picture.write(svg({"Extended Rosenbrock: seconds to convergence", "m = " + std::to_string(o.m) + "; " + where,
                           "variables", "seconds", curves}));
    });
}
