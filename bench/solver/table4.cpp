// Elastic-plastic torsion with c = 5 and its own bounds, from 400 to 4,000,000 variables, by L-BFGS-B 3.0 on one
// thread, by the host backend and by the CUDA backend with the exact and with the approximate Cauchy point, each until
// the energy stops decreasing or a limit is reached (3.0 has its own). The figures of the 2014 paper's table 4 and
// figure 9 are quoted:
//
//     bench_table4 [--sizes 400,1600,...] [--m 5] [--lbfgsb-iterations 50] [--csv FILE] [--svg FILE]
//                  [--solvers lbfgsb,host,host-approximate,cuda,cuda-approximate]
//
// Energies and times are compared at equal numbers of iterations, even if one run has taken more.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "bench/common/command_line.hpp"
#include "fortran_run.hpp"
#include "bench/common/log_log_plot.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/paper_2014.hpp"
#include "bench/common/slope.hpp"
#include "testfuncs/problem.hpp"

using namespace cudaopt::bench;

namespace {

struct Solver {
    std::string name, key, backend; // no backend: 3.0
    bool approximate = false;
    Curve curve = {name, {}};
};

// The paper's figures of the run that is its like: of 3.0 on the CPU with the exact Cauchy point, on the GPU with the
// approximate one.
std::string paper_columns(const Solver &solver, int64_t n) {
    const paper_2014::Torsion *const p = paper_2014::torsion(n);
    char text[128];
    if (p && solver.key == "lbfgsb")
        std::snprintf(text, sizeof text, "  | %5d %5.2f %9.2f %8s %8.2f", p->cpu_iterations, p->t_star, p->cpu, "",
                      p->evaluation);
    else if (p && solver.key == "cuda-approximate")
        std::snprintf(text, sizeof text, "  | %5d %5.2f %9.2f %8.2f %8s %8.2f %10.2e", p->gpu_iterations, p->t_c,
                      p->gpu, p->gpu_io, "", p->speed_up, p->energy_difference);
    else return "  |";
    return text;
}

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
    stop.factr = lbfgsb_stop.factr = paper_2014::factr;
    o.time_copies = true;
    o.as_lbfgsb = true;
    lbfgsb_stop.max_iterations = 50;
    std::vector<double> sizes = {400,    1600,   3600,    6400,    10000,   40000,  160000,
                                 360000, 640000, 1000000, 1440000, 2250000, 4000000};
    std::vector<std::string> keys = {"lbfgsb", "host", "host-approximate", "cuda", "cuda-approximate"};
    CLI::App app("Torsion by L-BFGS-B 3.0, by the host and by the CUDA backend");
    app.add_option("--sizes", sizes, "numbers of variables")->delimiter(',')->check(is_size);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_option("--lbfgsb-iterations", lbfgsb_stop.max_iterations, "limit of iterations of 3.0; 0: none")
        ->check(CLI::Range(0, 1000000000));
    app.add_option("--threads", o.threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--solvers", keys, "some of lbfgsb,host,host-approximate,cuda,cuda-approximate")
        ->delimiter(',')
        ->check(CLI::IsMember({"lbfgsb", "host", "host-approximate", "cuda", "cuda-approximate"}));
    const Files files(app, true);
    return run_program(app, "bench_table4", argc, argv, [&] {
        for (const int64_t n : whole(sizes)) cudaopt::testfuncs::make_problem(o.problem, n); // refuse early
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        std::array<Solver, 5> solvers{{{"L-BFGS-B 3.0", "lbfgsb", ""},
                                       {"host, exact", "host", "host"},
                                       {"host, approximate", "host-approximate", "host", true},
                                       {"CUDA, exact", "cuda", "cuda"},
                                       {"CUDA, approximate", "cuda-approximate", "cuda", true}}};
        const auto asked_for = [&](const Solver &s) { return std::count(keys.begin(), keys.end(), s.key) > 0; };

        std::printf("Elastic-plastic torsion, c = 5, own bounds, m = %d, double precision\n%s\n\n", o.m, where.c_str());
        std::printf("%8s  %-17s %6s %6s %7s %9s %8s %8s %6s %8s %10s %19s  %-11s  | %5s %5s %9s %8s %8s %8s %10s\n",
                    "n", "solver", "iter", "eval", "mean t", "ms/iter", "ms I/O", "ms/eval", "at", "speed-up",
                    "difference", "final energy", "end", "paper", "t", "ms/iter", "ms I/O", "ms/eval", "speed-up",
                    "difference");
        csv.write(
            "n,solver,m,iterations,evaluations,mean_t,ms_per_iteration,ms_io,ms_per_evaluation,compared_at,speed_up,"
            "f_minus_lbfgsb,f,end,machine\n");
        const bool cuda = have_cuda();
        for (const int64_t n : whole(sizes)) {
            o.n = n;
            std::optional<FortranRun> fortran;
            for (Solver &solver : solvers) {
                if (!asked_for(solver) || (solver.backend == "cuda" && !cuda)) continue;
                WholeRun r;
                try {
                    if (solver.key == "lbfgsb") {
                        RunOptions one_thread = o;
                        one_thread.threads = 1;
                        fortran = run_fortran(one_thread, lbfgsb_stop);
                        if (!fortran) continue;
                        r = fortran->whole;
                    } else {
                        o.backend = solver.backend;
                        o.approximate_cauchy = solver.approximate;
                        r = run_whole(o, stop, fortran ? fortran->whole.iterations : 0);
                    }
                } catch (const std::exception &error) { // most often a size that does not fit the memory
                    std::printf("%8lld  %-17s not run: %s\n", static_cast<long long>(n), solver.name.c_str(),
                                error.what());
                    continue;
                }
                const Comparison c = fortran ? Comparison(*fortran, r) : Comparison();
                const double ms = r.milliseconds_per_iteration();
                const double speed_up = c.theirs.seconds / c.ours.seconds, difference = c.ours.f - c.theirs.f;
                std::printf("%8lld  %-17s %6lld %6lld %s %9.4f %s %8.4f %s %s %s %19.15f  %-11s%s\n",
                            static_cast<long long>(r.n), solver.name.c_str(), static_cast<long long>(r.iterations),
                            static_cast<long long>(r.evaluations), cell("%.4f", 7, mean(r.t)).c_str(), ms,
                            cell("%.4f", 8, 1e3 * r.copy_seconds).c_str(), 1e3 * r.evaluation_seconds,
                            cell("%.0f", 6, c.at()).c_str(), cell("%.2f", 8, speed_up).c_str(),
                            cell("%.2e", 10, difference).c_str(), r.f, r.end.c_str(),
                            paper_columns(solver, r.n).c_str());
                std::fflush(stdout);
                csv.write(csv_row(r.n, solver.name, static_cast<int64_t>(o.m), r.iterations, r.evaluations, mean(r.t),
                                  ms, 1e3 * r.copy_seconds, 1e3 * r.evaluation_seconds, c.at(), speed_up, difference,
                                  r.f, r.end, where));
                solver.curve.points.emplace_back(static_cast<double>(r.n), ms);
            }
        }
        const int64_t limit = lbfgsb_stop.max_iterations;
        std::printf(
            "\nEach run ends when the energy falls by no more than %.0e max(|f|, 1) and by no other test "
            "(\"converged\"), or when no step decreases it\n(\"line search\"). 3.0 has a limit of iterations as "
            "well (\"limit\"): %s.",
            stop.factr * std::numeric_limits<double>::epsilon(), limit > 0 ? std::to_string(limit).c_str() : "none");
        std::printf(
            "\nms/iter: all iterations of the run, inside the solver alone. ms I/O: what copies of x to the host and "
            "of f and g to the device would add\nto an iteration, as in the paper, whose f and g are formed on the "
            "host; ours are on the device, and nothing is copied. ms/eval: one\nevaluation of energy and gradient, "
            "on one thread beside 3.0. mean t: of the generalized Cauchy points, t* exact, t_c approximate; 3.0 "
            "does\nnot tell it. at: the last iteration that this run and 3.0's both have; speed-up, of the time "
            "inside the solver up to there, and difference,\nof the energies there, are over 3.0. paper: its "
            "iterations and the rest as printed in its table 4: an Intel Xeon W5590 with the exact Cauchy\npoint, "
            "an NVIDIA GTX 580 with the approximate one; its difference is of the final energies.\n");
        const auto slope_of = [&](const char *key) {
            for (const Solver &solver : solvers)
                if (solver.key == key) return slope(solver.curve.points);
            return absent;
        };
        std::printf("\nFigure 9: slope of the milliseconds of an iteration against n (least squares)\n");
        std::printf("  L-BFGS-B 3.0       %s   the paper's CPU %.2e\n", cell("%.2e", 9, slope_of("lbfgsb")).c_str(),
                    paper_2014::figure_9_cpu);
        for (const char *const key : {"cuda", "cuda-approximate"})
            std::printf("  %-17s  %s   the paper's GPU %.2e\n", key, cell("%.2e", 9, slope_of(key)).c_str(),
                        paper_2014::figure_9_gpu);
        std::printf("  ratio              %s   the paper's     %.0f\n",
                    cell("%.0f", 9, ratio_of_slopes(slope_of("lbfgsb"), slope_of("cuda-approximate"))).c_str(),
                    paper_2014::figure_9_cpu / paper_2014::figure_9_gpu);
        LogLogPlot plot{"Torsion: milliseconds per iteration inside the solver",
                        "m = " + std::to_string(o.m) + "; " + where,
                        "variables",
                        "milliseconds per iteration",
                        {}};
        Curve cpu{"paper, CPU", {}}, gpu{"paper, GPU", {}};
        for (const int64_t n : whole(sizes))
            if (const auto *const p = paper_2014::torsion(n)) {
                cpu.points.emplace_back(static_cast<double>(n), p->cpu);
                gpu.points.emplace_back(static_cast<double>(n), p->gpu);
            }
        for (const Solver &solver : solvers) {
            const bool is_drawn = solver.key != "host-approximate"; // it lies on the exact one's
            if (!solver.curve.points.empty()) {
                if (is_drawn) plot.curves.push_back(solver.curve);
            } else if (asked_for(solver)) {
                std::printf("%s: not run.\n", solver.name.c_str());
            }
        }
        for (const Curve &curve : {cpu, gpu})
            if (!curve.points.empty()) plot.curves.push_back(curve);
        picture.write(svg(plot));
    });
}
