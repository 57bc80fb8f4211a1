// Elastic-plastic torsion with c = 5 in its own bounds, from 400 to 4,000,000 variables, by L-BFGS-B 3.0 on one thread,
// by the host backend and by the CUDA backend, each until the energy stops decreasing or a limit of iterations:
//
//     bench_table4 [--sizes 400,1600,...] [--m 5] [--max-iterations 300] [--csv FILE] [--svg FILE]
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "command_line.hpp"
#include "fortran_run.hpp"
#include "log_log_plot.hpp"
#include "machine.hpp"
#include "testfuncs/problem.hpp"

using namespace cudaopt::bench;

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

struct Solver {
    std::string name, key;
    Curve curve = {name, {}};
};

double mean(const std::vector<double> &values) {
    return values.empty() ? absent
                          : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.problem = "torsion";
    o.own_bounds = true;
    Stop stop;
    stop.factr = 1;
    stop.max_iterations = 300;
    std::vector<double> sizes = {400,    1600,   3600,    6400,    10000,   40000,  160000,
                                 360000, 640000, 1000000, 1440000, 2250000, 4000000};
    std::vector<std::string> keys = {"lbfgsb", "host", "cuda"};
    std::string csv_path, svg_path;
    CLI::App app("Torsion by L-BFGS-B 3.0, by the host and by the CUDA backend");
    app.add_option("--sizes", sizes, "numbers of variables")->delimiter(',')->check(is_size);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_option("--max-iterations", stop.max_iterations, "the limit of iterations")
        ->check(CLI::Range(1, 1000000000));
    app.add_option("--factr", stop.factr, "the energy stands still: f_k - f_{k+1} <= factr * 2.2e-16 max(|f|, 1)")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--threads", o.threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--solvers", keys, "some of lbfgsb,host,cuda")
        ->delimiter(',')
        ->check(CLI::IsMember({"lbfgsb", "host", "cuda"}));
    app.add_option("--csv", csv_path, "file for the table as comma separated values");
    app.add_option("--svg", svg_path, "file for the picture");
    return run_program(app, "bench_table4", argc, argv, [&] {
        for (const std::int64_t n : whole(sizes)) cudaopt::testfuncs::make_problem(o.problem, n); // refuse early
        Output csv(csv_path), picture(svg_path);
        const std::string where = machine();
        std::array<Solver, 3> solvers{{{"L-BFGS-B 3.0", "lbfgsb"}, {"host backend", "host"}, {"CUDA backend", "cuda"}}};
        const auto asked_for = [&](const Solver &s) { return std::count(keys.begin(), keys.end(), s.key) > 0; };

        std::printf("Elastic-plastic torsion, c = 5, own bounds, m = %d, double precision\n%s\n\n", o.m, where.c_str());
        std::printf("%9s  %-13s %10s %11s %10s %11s %11s %9s %19s %11s  %s\n", "n", "solver", "iterations",
                    "evaluations", "mean t", "ms/iter", "ms/eval", "speed-up", "final energy", "difference", "end");
        csv.write("n,solver,m,iterations,evaluations,mean_t,ms_per_iteration,ms_per_evaluation,speed_up,f,"
                  "f_minus_lbfgsb,end,machine\n");
        const bool cuda = have_cuda();
        for (const std::int64_t n : whole(sizes)) {
            o.n = n;
            double yardstick = absent, yardstick_f = absent;
            for (Solver &solver : solvers) {
                if (!asked_for(solver) || (solver.key == "cuda" && !cuda)) continue;
                WholeRun r;
                try {
                    if (solver.key == "lbfgsb") {
                        RunOptions one_thread = o;
                        one_thread.threads = 1;
                        const auto run = run_fortran(one_thread, stop);
                        if (!run) continue;
                        r = run->whole;
                        yardstick = r.milliseconds_per_iteration();
                        yardstick_f = r.f;
                    } else {
                        o.backend = solver.key;
                        r = run_whole(o, stop);
                    }
                } catch (const std::exception &error) { // most often a size that does not fit the memory
                    std::printf("%9lld  %-13s not run: %s\n", static_cast<long long>(n), solver.name.c_str(),
                                error.what());
                    continue;
                }
                const double ms = r.milliseconds_per_iteration(), speed_up = yardstick / ms;
                std::printf("%9lld  %-13s %10lld %11lld %s %11.5f %11.5f %s %19.15f %s  %s\n",
                            static_cast<long long>(r.n), solver.name.c_str(), static_cast<long long>(r.iterations),
                            static_cast<long long>(r.evaluations), cell("%.5f", 10, mean(r.t)).c_str(), ms,
                            1e3 * r.evaluation_seconds, cell("%.2f", 9, speed_up).c_str(), r.f,
                            cell("%.2e", 11, r.f - yardstick_f).c_str(), r.end.c_str());
                std::fflush(stdout);
                csv.write(csv_row(r.n, solver.name, static_cast<std::int64_t>(o.m), r.iterations, r.evaluations,
                                  mean(r.t), ms, 1e3 * r.evaluation_seconds, speed_up, r.f, r.f - yardstick_f, r.end,
                                  where));
                solver.curve.points.emplace_back(static_cast<double>(r.n), ms);
            }
        }
        std::printf("\nEach run ends when the energy stops decreasing (factr = %g, no other test; \"converged\"), when "
                    "no step decreases it\n(\"line search\"), or after %lld iterations (\"limit\"). ms/iter: all "
                    "iterations, inside the solver alone. ms/eval: one\nevaluation of energy and gradient, on one "
                    "thread beside L-BFGS-B 3.0. mean t: of the generalized Cauchy points; 3.0\ndoes not tell it. "
                    "speed-up: per iteration, over 3.0. difference: of the final energy to 3.0's.\n",
                    stop.factr, static_cast<long long>(stop.max_iterations));
        LogLogPlot plot{"Torsion: milliseconds per iteration inside the solver",
                        "m = " + std::to_string(o.m) + "; " + where,
                        "variables",
                        "milliseconds per iteration",
                        {}};
        for (const Solver &solver : solvers) {
            if (!solver.curve.points.empty()) plot.curves.push_back(solver.curve);
            else if (asked_for(solver)) std::printf("%s: not run.\n", solver.name.c_str());
        }
        picture.write(svg(plot));
    });
}
