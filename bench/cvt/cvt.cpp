// Centroidal Voronoi tessellations from a random start: evaluations against their bytes, our solver against
// L-BFGS-B 3.0 on one thread fed by the same evaluation, and the one-breakpoint approximation against the exact Cauchy
// point:
//
//     bench_cvt [--cases 200:512,...] [--m 7] [--iterations 100] [--lbfgsb-iterations 100] [--curves 2000,60000]
//               [--backend auto] [--csv FILE] [--svg FILE]
#include <algorithm>
#include <cmath>

#include "bench/solver/cauchy_differences.hpp"
#include "bench/common/colours.hpp"
#include "bench/common/command_line.hpp"
#include "cvt_run.hpp"
#include "drivers/svg_plot.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/memory_rate.hpp"
#include "bench/solver/whole_run.hpp"

using namespace cudaopt::bench;

namespace {

struct Case {
    int64_t sites, resolution;
};

// SITES:RESOLUTION, each also as 1e6.
Case case_of(const std::string &text) {
    double sites = 0, resolution = 0;
    char rest;
    if (std::sscanf(text.c_str(), "%lf:%lf%c", &sites, &resolution, &rest) != 2 || sites != std::floor(sites) ||
        resolution != std::floor(resolution) || std::fabs(sites) > 1e15 || std::fabs(resolution) > 1e15)
        throw std::invalid_argument("--cases: '" + text + "' is not SITES:RESOLUTION");
    return {static_cast<int64_t>(sites), static_cast<int64_t>(resolution)};
}

struct Options {
    std::vector<std::string> cases = {"200:512",    "500:512",    "1000:1024", "2000:1024",  "4000:1024",
                                      "4000:2048",  "6000:2048",  "8000:2048", "10000:2048", "20000:2048",
                                      "40000:2048", "60000:2048", "2e5:4096",  "1e6:8192"};
    std::vector<double> curves = {2000, 60000};
    int64_t iterations = 100, lbfgsb_iterations = 100;
    int m = 7, threads = 0;
    uint64_t seed = 1;
    std::string backend = "auto", csv, svg;
};

// Of one case, all in milliseconds.
struct Row {
    Case at;
    CvtRun ours, approximate;
    std::optional<CvtRun> lbfgsb;
    int passes = 0;
    double evaluation = 0, floor = 0, solver = 0, lbfgsb_solver = absent, lbfgsb_io = absent, f_lbfgsb = absent;

    double evaluations_per_iteration() const {
        return static_cast<double>(ours.evaluations) / static_cast<double>(ours.iterations);
    }
    // Of the time of an iteration, its evaluations included.
    double share() const { return solver / (solver + evaluation * evaluations_per_iteration()); }
    double speed_up() const { return (lbfgsb_solver + lbfgsb_io) / solver; }
    // Of the energies where both runs have as many iterations behind them.
    std::size_t compared_at() const { return lbfgsb ? std::min(ours.f_at.size(), lbfgsb->f_at.size()) - 1 : 0; }
    double difference() const {
        if (!lbfgsb) return absent;
        return (ours.f_at[compared_at()] - lbfgsb->f_at[compared_at()]) / lbfgsb->f_at[compared_at()];
    }
};

Row measure(const Case &now, const Options &o, bool cuda, double rate) {
    CvtProblem problem(now.sites, now.resolution, o.seed, cuda, o.threads);
    Row row;
    row.at = now;
    row.passes = problem.passes();
    row.ours = run_cvt(problem, o.m, o.iterations, false);
    row.approximate = run_cvt(problem, o.m, o.iterations, true);
    if (o.lbfgsb_iterations > 0) row.lbfgsb = run_cvt_fortran(problem, o.m, o.lbfgsb_iterations);
    row.evaluation = 1e3 * problem.evaluation_seconds(row.ours.x);
    row.floor = 1e3 * problem.floor_seconds(rate);
    row.solver = row.ours.per_iteration(row.ours.solver_seconds);
    if (row.lbfgsb) {
        row.lbfgsb_solver = row.lbfgsb->per_iteration(row.lbfgsb->solver_seconds);
        row.lbfgsb_io = row.lbfgsb->per_iteration(row.lbfgsb->io_seconds);
    }
    return row;
}

void print_head(const Options &o, const std::string &backend, const std::string &where, double rate) {
    std::printf(
        "Centroidal Voronoi tessellation, constant density, random start, m = %d, double precision, %s backend\n"
        "%s; a copy moves %.0f GB/s\n\n",
        o.m, backend.c_str(), where.c_str(), 1e-9 * rate);
    std::printf("%8s %6s %6s %5s %5s %9s %9s %7s %9s %7s %9s %9s %9s %9s %9s %9s %18s %10s  %s\n", "sites", "resol.",
                "passes", "iter", "eval", "ms/eval", "floor", "x floor", "ms/iter", "share", "ms total", "3.0: ms",
                "3.0: I/O", "3.0 total", "speed-up", "at", "energy", "difference", "end");
}

void print(const Row &r) {
    std::printf("%8lld %6lld %6d %5lld %5lld %9.4f %9.4f %7.2f %9.4f %6.1f%% %9.4f %s %s %s %s %9lld %18.11e %s  %s\n",
                static_cast<long long>(r.at.sites), static_cast<long long>(r.at.resolution), r.passes,
                static_cast<long long>(r.ours.iterations), static_cast<long long>(r.ours.evaluations), r.evaluation,
                r.floor, r.evaluation / r.floor, r.solver, 100 * r.share(), r.ours.wall_per_iteration(),
                cell("%.4f", 9, r.lbfgsb_solver).c_str(), cell("%.4f", 9, r.lbfgsb_io).c_str(),
                cell("%.4f", 9, r.lbfgsb ? r.lbfgsb->wall_per_iteration() : absent).c_str(),
                cell("%.1f", 9, r.speed_up()).c_str(), static_cast<long long>(r.compared_at()), r.ours.f_at.back(),
                cell("%.2e", 10, r.difference()).c_str(), r.ours.end.c_str());
    std::fflush(stdout);
}

const char csv_head[] = "sites,resolution,m,backend,passes,iterations,evaluations,ms_per_evaluation,ms_floor,"
                        "ms_solver_per_iteration,solver_share,ms_total_per_iteration,lbfgsb_iterations,"
                        "lbfgsb_ms_solver_per_iteration,lbfgsb_ms_io_per_iteration,lbfgsb_ms_total_per_iteration,"
                        "speed_up,f,relative_difference,end,share_0,share_below_1e-6,share_below_1e-3,share_below_1e-1,"
                        "share_from_1e-1,largest,f_approximate,machine\n";

std::string row_of(const Row &r, const Options &o, const std::string &backend, const std::string &where) {
    const CauchyDifferences d(r.ours.t, r.ours.t_first);
    return csv_row(r.at.sites, r.at.resolution, static_cast<int64_t>(o.m), backend, static_cast<int64_t>(r.passes),
                   r.ours.iterations, r.ours.evaluations, r.evaluation, r.floor, r.solver, r.share(),
                   r.ours.wall_per_iteration(), r.lbfgsb ? static_cast<double>(r.lbfgsb->iterations) : absent,
                   r.lbfgsb_solver, r.lbfgsb_io, r.lbfgsb ? r.lbfgsb->wall_per_iteration() : absent, r.speed_up(),
                   r.ours.f_at.back(), r.difference(), r.ours.end, d.share[0], d.share[1], d.share[2], d.share[3],
                   d.share[4], d.most, r.approximate.f_at.back(), where);
}

void print_cauchy_points(const std::vector<Row> &rows) {
    std::printf("\n|t_c - t*| / t* of the one-breakpoint approximation over the iterations\n\n"
                "%8s %6s %7s %7s %7s %7s %7s %9s %18s %18s %10s\n",
                "sites", "resol.", "0", "< 1e-6", "< 1e-3", "< 1e-1", ">= 1e-1", "largest", "exact energy",
                "approximate energy", "difference");
    for (const Row &r : rows) {
        const CauchyDifferences d(r.ours.t, r.ours.t_first);
        std::printf("%8lld %6lld", static_cast<long long>(r.at.sites), static_cast<long long>(r.at.resolution));
        for (const double share : d.share) std::printf(" %6.1f%%", 100 * share);
        const double exact = r.ours.f_at.back(), approximate = r.approximate.f_at.back();
        std::printf(" %9.2e %18.11e %18.11e %10.2e\n", d.most, exact, approximate, (approximate - exact) / exact);
    }
}

// Sites times energy above that of a regular hexagonal lattice without an edge, 5 sqrt(3) / 54, relative.
driver::Plot energies(const Row &r, const std::string &where) {
    const auto scaled = [&](std::vector<double> f) {
        const double hexagonal = 5 * std::sqrt(3.) / 54;
        for (double &value : f) value = value * static_cast<double>(r.at.sites) / hexagonal - 1;
        return f;
    };
    driver::Plot plot{"Energy above that of a hexagonal lattice, " + driver::with_separators(r.at.sites) +
                          " sites at " + std::to_string(r.at.resolution) + " \u00d7 " + std::to_string(r.at.resolution),
                      where,
                      "iterations",
                      {}};
    if (r.lbfgsb) plot.series.push_back({"L-BFGS-B 3.0", colours[1], scaled(r.lbfgsb->f_at)});
    plot.series.push_back({"cuda_opt", colours[0], scaled(r.ours.f_at)});
    return plot;
}

driver::Plot times(const std::vector<Row> &rows, const std::string &where) {
    driver::Plot plot{
        "Milliseconds of an iteration: all, with evaluations and copies, and its parts", where, "sites", {}, true};
    plot.series = {{"L-BFGS-B 3.0, all", colours[1], {}, {}},
                   {"cuda_opt, all", colours[0], {}, {}},
                   {"cuda_opt, solver", colours[2], {}, {}},
                   {"evaluation", colours[3], {}, {}}};
    for (const Row &r : rows) {
        const double values[] = {r.lbfgsb ? r.lbfgsb->wall_per_iteration() : absent, r.ours.wall_per_iteration(),
                                 r.solver, r.evaluation};
        for (std::size_t k = 0; k < plot.series.size(); k++) {
            plot.series[k].x.push_back(static_cast<double>(r.at.sites));
            plot.series[k].y.push_back(values[k]);
        }
    }
    return plot;
}

} // namespace

int main(int argc, char **argv) {
    Options o;
    CLI::App app("Centroidal Voronoi tessellations: evaluations, our solver and L-BFGS-B 3.0");
    app.add_option("--cases", o.cases, "SITES:RESOLUTION, ...")->delimiter(',');
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_option("--iterations", o.iterations, "of our solver")->check(CLI::Range(2, 1000000000));
    app.add_option("--lbfgsb-iterations", o.lbfgsb_iterations, "of L-BFGS-B 3.0; 0: leave it out")
        ->check(CLI::Range(0, 1000000000));
    app.add_option("--seed", o.seed, "of the random start");
    app.add_option("--curves", o.curves, "numbers of sites whose energies are drawn")->delimiter(',');
    app.add_option("--threads", o.threads, "host threads; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    app.add_option("--csv", o.csv, "file for the tables as comma separated values");
    app.add_option("--svg", o.svg, "file for the pictures");
    return run_program(app, "bench_cvt", argc, argv, [&] {
        std::vector<Case> cases;
        for (const std::string &text : o.cases) cases.push_back(case_of(text));
        for (const Case &now : cases) cudaopt::cvt::Tessellation(now.sites, now.resolution); // refuse early
        Output csv(o.csv), picture(o.svg);
        const bool cuda = o.backend != "host" && have_cuda();
        if (o.backend == "cuda" && !cuda) throw std::runtime_error("there is no CUDA backend or no device here");
        const std::string where = machine(), backend = cuda ? "CUDA" : "host";
        const double rate = copy_rate(int64_t{1} << 28, cuda, o.threads);
        print_head(o, backend, where, rate);
        csv.write(csv_head);
        std::vector<Row> rows;
        for (const Case &now : cases) {
            try {
                rows.push_back(measure(now, o, cuda, rate));
            } catch (const std::runtime_error &error) { // most often a case that does not fit the memory
                std::printf("%8lld %6lld not run: %s\n", static_cast<long long>(now.sites),
                            static_cast<long long>(now.resolution), error.what());
                continue;
            }
            print(rows.back());
            csv.write(row_of(rows.back(), o, backend, where));
        }
        std::printf(
            "\nfloor: the bytes of an evaluation at the rate of a copy: 8 bytes a pixel, cleared once, read and "
            "written in each pass, read for the sums.\nms/iter: time inside the solver; share: of an "
            "iteration's, with its evaluations; ms total: wall time of an iteration. 3.0: the same of\n"
            "L-BFGS-B 3.0 on one thread; I/O: its copies of x, f and g; speed-up: of the solver, with 3.0's "
            "copies.\ndifference: of the energies after as many iterations of both (at), relative.\n");
        print_cauchy_points(rows);
        std::vector<driver::Plot> plots;
        if (!rows.empty()) plots.push_back(times(rows, where));
        for (const Row &row : rows)
            if (std::count(o.curves.begin(), o.curves.end(), static_cast<double>(row.at.sites)))
                plots.push_back(energies(row, where));
        picture.write(driver::svg(plots));
    });
}
