// Elastic-plastic torsion with c = 5 in its own bounds, from 400 to 4,000,000 variables, by L-BFGS-B 3.0 on one thread,
// by the host backend and by the CUDA backend, each until the energy stops decreasing or a limit; 3.0 has its own:
//
//     bench_table4 [--sizes 400,1600,...] [--m 5] [--max-iterations 0] [--lbfgsb-iterations 50] [--seconds 0]
//                  [--csv FILE] [--svg FILE]
//
// Energies and times are compared at equal numbers of iterations, however long each run went on.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "bench/common/command_line.hpp"
#include "fortran_run.hpp"
#include "bench/common/log_log_plot.hpp"
#include "bench/common/machine.hpp"
#include "testfuncs/problem.hpp"

using namespace cudaopt::bench;

namespace {

struct Solver {
    std::string name, key;
    Curve curve = {name, {}};
};

double mean(const std::vector<double> &values) {
    return values.empty() ? absent
                          : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// A solver's energy and time inside it after so many iterations.
struct Moment {
    int64_t iterations = 0;
    double f = absent, seconds = absent;
};

// The last iteration that both runs have, on either side: a run of ours was marked where 3.0 ended.
struct Comparison {
    Moment theirs, ours;

    Comparison() = default;
    Comparison(const FortranRun &fortran, const WholeRun &run) {
        const int64_t last = std::min(fortran.whole.iterations, run.iterations);
        if (last == 0) return;
        const auto index = static_cast<std::size_t>(last) - 1;
        const bool marked = run.iterations > last;
        theirs = {last, fortran.f_at[index], fortran.seconds_at[index]};
        ours = {last, marked ? run.f_at_mark : run.f, marked ? run.solver_seconds_at_mark : run.solver_seconds};
    }
    double at() const { return ours.iterations > 0 ? static_cast<double>(ours.iterations) : absent; }
};

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.problem = "torsion";
    o.own_bounds = true;
    Stop stop, lbfgsb_stop;
    stop.factr = 1;
    lbfgsb_stop.max_iterations = 50;
    std::vector<double> sizes = {400,    1600,   3600,    6400,    10000,   40000,  160000,
                                 360000, 640000, 1000000, 1440000, 2250000, 4000000};
    std::vector<std::string> keys = {"lbfgsb", "host", "cuda"};
    CLI::App app("Torsion by L-BFGS-B 3.0, by the host and by the CUDA backend");
    app.add_option("--sizes", sizes, "numbers of variables")->delimiter(',')->check(is_size);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_option("--max-iterations", stop.max_iterations, "limit of iterations of both backends; 0: none")
        ->check(CLI::Range(0, 1000000000));
    app.add_option("--lbfgsb-iterations", lbfgsb_stop.max_iterations, "limit of iterations of 3.0; 0: none")
        ->check(CLI::Range(0, 1000000000));
    app.add_option("--seconds", stop.max_seconds, "limit of seconds of each run, its evaluations included; 0: none")
        ->check(is_not_negative);
    app.add_option("--factr", stop.factr, "the energy stands still: f_k - f_{k+1} <= factr * 2.2e-16 max(|f|, 1)")
        ->check(is_not_negative);
    app.add_option("--threads", o.threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--solvers", keys, "some of lbfgsb,host,cuda")
        ->delimiter(',')
        ->check(CLI::IsMember({"lbfgsb", "host", "cuda"}));
    const Files files(app);
    return run_program(app, "bench_table4", argc, argv, [&] {
        for (const int64_t n : whole(sizes)) cudaopt::testfuncs::make_problem(o.problem, n); // refuse early
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        std::array<Solver, 3> solvers{{{"L-BFGS-B 3.0", "lbfgsb"}, {"host backend", "host"}, {"CUDA backend", "cuda"}}};
        const auto asked_for = [&](const Solver &s) { return std::count(keys.begin(), keys.end(), s.key) > 0; };

        std::printf("Elastic-plastic torsion, c = 5, own bounds, m = %d, double precision\n%s\n\n", o.m, where.c_str());
        std::printf("%9s  %-13s %10s %11s %8s %10s %10s  %6s %8s %10s %20s  %s\n", "n", "solver", "iterations",
                    "evaluations", "mean t", "ms/iter", "ms/eval", "at", "speed-up", "difference", "final energy",
                    "end");
        csv.write("n,solver,m,iterations,evaluations,mean_t,ms_per_iteration,ms_per_evaluation,compared_at,speed_up,"
                  "f_minus_lbfgsb,f,end,machine\n");
        const bool cuda = have_cuda();
        for (const int64_t n : whole(sizes)) {
            o.n = n;
            std::optional<FortranRun> fortran;
            for (Solver &solver : solvers) {
                if (!asked_for(solver) || (solver.key == "cuda" && !cuda)) continue;
                WholeRun r;
                try {
                    if (solver.key == "lbfgsb") {
                        RunOptions one_thread = o;
                        one_thread.threads = 1;
                        lbfgsb_stop.factr = stop.factr;
                        lbfgsb_stop.max_seconds = stop.max_seconds;
                        fortran = run_fortran(one_thread, lbfgsb_stop);
                        if (!fortran) continue;
                        r = fortran->whole;
                    } else {
                        o.backend = solver.key;
                        r = run_whole(o, stop, fortran ? fortran->whole.iterations : 0);
                    }
                } catch (const std::exception &error) { // most often a size that does not fit the memory
                    std::printf("%9lld  %-13s not run: %s\n", static_cast<long long>(n), solver.name.c_str(),
                                error.what());
                    continue;
                }
                const Comparison c = fortran ? Comparison(*fortran, r) : Comparison();
                const double ms = r.milliseconds_per_iteration();
                const double speed_up = c.theirs.seconds / c.ours.seconds, difference = c.ours.f - c.theirs.f;
                std::printf(
                    "%9lld  %-13s %10lld %11lld %s %10.5f %10.5f  %s %s %s %20.15f  %s\n", static_cast<long long>(r.n),
                    solver.name.c_str(), static_cast<long long>(r.iterations), static_cast<long long>(r.evaluations),
                    cell("%.5f", 8, mean(r.t)).c_str(), ms, 1e3 * r.evaluation_seconds, cell("%.0f", 6, c.at()).c_str(),
                    cell("%.2f", 8, speed_up).c_str(), cell("%.2e", 10, difference).c_str(), r.f, r.end.c_str());
                std::fflush(stdout);
                csv.write(csv_row(r.n, solver.name, static_cast<int64_t>(o.m), r.iterations, r.evaluations, mean(r.t),
                                  ms, 1e3 * r.evaluation_seconds, c.at(), speed_up, difference, r.f, r.end, where));
                solver.curve.points.emplace_back(static_cast<double>(r.n), ms);
            }
        }
        const auto limit = [](int64_t iterations) {
            return iterations > 0 ? std::to_string(iterations) + " iterations" : std::string("none");
        };
        std::printf(
            "\nEach run ends when the energy stops decreasing (factr = %g, no other test; \"converged\"), when "
            "no step decreases it\n(\"line search\"), or at its limit (\"limit\"): of 3.0 %s, of the backends %s.",
            stop.factr, limit(lbfgsb_stop.max_iterations).c_str(), limit(stop.max_iterations).c_str());
        if (stop.max_seconds > 0) std::printf(" No run goes on for more than %g s (\"time\").", stop.max_seconds);
        std::printf("\nms/iter: all iterations of the run, inside the solver alone. ms/eval: one evaluation of energy "
                    "and gradient, on one thread\nbeside 3.0. mean t: of the generalized Cauchy points; 3.0 does not "
                    "tell it. at: the last iteration that this run and 3.0's\nboth have; speed-up, of the time inside "
                    "the solver up to there, and difference, of the energies there, are over 3.0.\n");
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
