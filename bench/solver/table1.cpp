// How far the one-breakpoint approximation of the generalized Cauchy point is from the exact one: MINPACK-2's eight
// minimisation problems in the box [-1, 1], or in their own bounds, every iteration of a solve in the exact mode; and
// the final energies of the exact and of the approximate mode:
//
//     bench_table1 [--n 40000] [--m 5] [--own-bounds] [--max-iterations 200] [--csv FILE] [--svg FILE]
#include <algorithm>
#include <cmath>

#include "bench/common/bar_chart.hpp"
#include "cauchy_differences.hpp"
#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "testfuncs/problem.hpp"
#include "whole_run.hpp"

using namespace cudaopt::bench;

namespace {

struct Row {
    const char *problem;
    int64_t most; // variables whose standard start fits the box; 0: any number
};
constexpr Row rows[] = {{"torsion", 0},
                        {"bearing", 0},
                        {"minimal-surface", 0},
                        {"optimal-design", 0},
                        {"ginzburg-landau-1d", 0},
                        {"lennard-jones-2d", 2 * 9},
                        {"lennard-jones-3d", 3 * 27},
                        {"combustion", 0},
                        {"ginzburg-landau-2d", 0}};

struct Case {
    std::string problem;
    int64_t n;
};

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.lower = -1;
    o.upper = 1;
    Stop stop;
    stop.factr = 1;
    stop.max_iterations = 200;
    std::vector<double> sizes = {40000};
    CLI::App app("The one-breakpoint approximation against the exact Cauchy point");
    app.add_option("--n", sizes, "numbers of variables")->delimiter(',')->check(is_size);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_flag("--own-bounds", o.own_bounds, "the problems that have bounds of their own, in these");
    app.add_option("--max-iterations", stop.max_iterations, "the limit of iterations")
        ->check(CLI::Range(1, 1000000000));
    app.add_option("--factr", stop.factr, "the energy stands still: f_k - f_{k+1} <= factr * 2.2e-16 max(|f|, 1)")
        ->check(is_not_negative);
    app.add_option("--threads", o.threads, "host threads; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    const Files files(app);
    return run_program(app, "bench_table1", argc, argv, [&] {
        std::vector<Case> cases;
        for (const Row &row : rows)
            for (const int64_t asked : whole(sizes)) {
                const int64_t n = !o.own_bounds && row.most > 0 ? std::min(asked, row.most) : asked;
                const auto problem = cudaopt::testfuncs::make_problem(row.problem, n); // refuse early
                const bool again = !cases.empty() && cases.back().problem == row.problem && cases.back().n == n;
                if (!again && (!o.own_bounds || problem->bounded())) cases.push_back({row.problem, n});
            }
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine(), box = o.own_bounds ? "the problem's own bounds" : "[-1, 1]";
        const bool cuda = o.backend != "host" && have_cuda();
        if (o.backend == "cuda" && !cuda) throw std::runtime_error("there is no CUDA backend or no device here");
        const std::string backend = cuda ? "CUDA" : "host";
        std::printf("|t_c - t*| / t* over the iterations of a solve in %s, m = %d, double precision, %s backend\n"
                    "%s\n\n",
                    box.c_str(), o.m, backend.c_str(), where.c_str());
        std::printf("%-18s %7s %6s %7s %7s %7s %7s %7s %9s %7s %21s %21s %10s\n", "problem", "n", "iter", "0", "< 1e-6",
                    "< 1e-3", "< 1e-1", ">= 1e-1", "largest", "approx.", "exact energy", "approximate energy",
                    "difference");
        csv.write("problem,n,m,box,backend,iterations,share_0,share_below_1e-6,share_below_1e-3,share_below_1e-1,"
                  "share_from_1e-1,largest,iterations_approximate,f_exact,f_approximate,relative_difference,end_exact,"
                  "end_approximate,machine\n");
        BarChart chart{"|t_c \u2212 t*| / t* of the one-breakpoint approximation, in " + box,
                       "m = " + std::to_string(o.m) + ", " + backend + "; " + where,
                       "share of the iterations",
                       {},
                       {{"0", {}}, {"below 1e-6", {}}, {"below 1e-3", {}}, {"below 1e-1", {}}, {"1e-1 and more", {}}},
                       true};
        for (const Case &now : cases) {
            o.problem = now.problem;
            o.n = now.n;
            o.approximate_cauchy = false;
            const WholeRun exact = run_whole(o, stop);
            o.approximate_cauchy = true;
            const WholeRun approximate = run_whole(o, stop);
            const CauchyDifferences d(exact.t, exact.t_first);
            const double apart = std::fabs(approximate.f - exact.f);
            const double relative = apart == 0 ? 0 : apart / std::fabs(exact.f);
            std::printf("%-18s %7lld %6lld", now.problem.c_str(), static_cast<long long>(exact.n),
                        static_cast<long long>(exact.iterations));
            for (const double share : d.share) std::printf(" %6.1f%%", 100 * share);
            std::printf(" %9.2e %7lld %21.14e %21.14e %10.2e\n", d.most, static_cast<long long>(approximate.iterations),
                        exact.f, approximate.f, relative);
            std::fflush(stdout);
            csv.write(csv_row(now.problem, exact.n, static_cast<int64_t>(o.m), box, backend, exact.iterations,
                              d.share[0], d.share[1], d.share[2], d.share[3], d.share[4], d.most,
                              approximate.iterations, exact.f, approximate.f, relative, exact.end, approximate.end,
                              where));
            chart.rows.push_back(now.problem + (sizes.size() > 1 ? ", " + std::to_string(exact.n) : ""));
            for (std::size_t k = 0; k < d.share.size(); k++) chart.series[k].shares.push_back(d.share[k]);
        }
        std::printf("\nt*: the exact generalized Cauchy point; t_c = max(0, min(t_1, t_1*)): the approximation at the "
                    "same iterate. Each column\nof shares is without those left of it. iter and approx.: iterations "
                    "of the exact and of the approximate mode. Each run ends\nwhen its energy stops decreasing (factr "
                    "= %g, no other test), when no step decreases it, or after %lld iterations.\n",
                    stop.factr, static_cast<long long>(stop.max_iterations));
        if (!o.own_bounds)
            std::printf("The Lennard-Jones clusters are the largest whose standard start fits the box: 9 atoms in two "
                        "dimensions, 27 in three.\n");
        picture.write(svg(chart));
    });
}
