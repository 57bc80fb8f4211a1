// Centroidal Voronoi tessellations from a random start until the energy no longer decreases. Compares evaluations with
// the bytes that they transfer, this library with L-BFGS-B 3.0 on one thread with the same evaluation, and the
// one-breakpoint approximation with the exact Cauchy point, and quotes tables 2 and 3 and figures 5 to 8 of the 2014
// paper:
//
//     bench_cvt [--cases 200:512,...] [--lbfgsb-seconds 0] [--backend auto] [--csv FILE] [--sites FILE] [--svg FILE]
//
// All iterates are those of L-BFGS-B 3.0's rules. --sites writes where 20,000 sites, those of figures 5 and 7, end:
// with 3.0, and with ours by the exact and the approximate Cauchy point.
#include <algorithm>
#include <cmath>

#include "bench/solver/cauchy_differences.hpp"
#include "bench/common/colours.hpp"
#include "bench/common/command_line.hpp"
#include "cvt_run.hpp"
#include "drivers/svg_plot.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/memory_rate.hpp"
#include "bench/common/paper_2014.hpp"
#include "bench/common/slope.hpp"
#include "apps/cvt/quality.hpp"
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
    double lbfgsb_seconds = 0;
    int threads = 0;
    std::string backend = "auto", csv, sites, svg;
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
    CvtProblem problem(now.sites, now.resolution, 1, cuda, o.threads);
    Row row;
    row.at = now;
    row.passes = problem.passes();
    row.ours = run_cvt(problem, false);
    row.approximate = run_cvt(problem, true);
    row.lbfgsb = run_cvt_fortran(problem, o.lbfgsb_seconds);
    row.evaluation = 1e3 * problem.evaluation_seconds(row.ours.x);
    row.floor = 1e3 * problem.floor_seconds(rate);
    row.solver = row.ours.per_iteration(row.ours.solver_seconds);
    if (row.lbfgsb) {
        row.lbfgsb_solver = row.lbfgsb->per_iteration(row.lbfgsb->solver_seconds);
        row.lbfgsb_io = row.lbfgsb->per_iteration(row.lbfgsb->io_seconds);
    }
    return row;
}

void print_head(const std::string &backend, const std::string &where, double rate) {
    std::printf(
        "Centroidal Voronoi tessellation, constant density, random start, m = %d, double precision, %s backend\n"
        "%s; a copy moves %.0f GB/s\n\n",
        cvt_pairs, backend.c_str(), where.c_str(), 1e-9 * rate);
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
                        "speed_up,f,relative_difference,end,iterations_approximate,lbfgsb_f,lbfgsb_end,"
                        "f_approximate,largest";

std::string row_of(const Row &r, const std::string &backend, const std::string &where) {
    const CauchyDifferences d(r.ours.t, r.ours.t_first);
    return csv_fields(r.at.sites, r.at.resolution, int64_t{cvt_pairs}, backend, static_cast<int64_t>(r.passes),
                      r.ours.iterations, r.ours.evaluations, r.evaluation, r.floor, r.solver, r.share(),
                      r.ours.wall_per_iteration(), r.lbfgsb ? static_cast<double>(r.lbfgsb->iterations) : absent,
                      r.lbfgsb_solver, r.lbfgsb_io, r.lbfgsb ? r.lbfgsb->wall_per_iteration() : absent, r.speed_up(),
                      r.ours.f(), r.difference(), r.ours.end, r.approximate.iterations,
                      r.lbfgsb ? r.lbfgsb->f() : absent, r.lbfgsb ? r.lbfgsb->end : std::string(), r.approximate.f(),
                      d.most) +
           "," + d.csv_fields() + "," + csv_row(where);
}

// Table 2 of the paper beside ours. Its CPU's time includes the I/O, and so does 3.0's here.
void print_table_2(const std::vector<Row> &rows) {
    std::printf("\nTable 2: ours and the paper's (p), of a GTX 580 and one core of a Xeon W5590; times in ms\n\n"
                "%8s %6s  %8s %8s  %6s %5s  %9s %8s  %7s %7s  %6s %6s %5s  %8s %7s  %8s %6s  %10s %10s  %-11s %s\n",
                "sites", "resol.", "eval.", "p", "3.0: it", "p", "iter+I/O", "p", "I/O", "p", "exact", "appr.", "p",
                "ms/iter", "p", "speed-up", "p", "E - E(3.0)", "p", "end", "end of 3.0");
    for (const Row &r : rows) {
        const paper_2014::Tessellation *const p = paper_2014::tessellation(r.at.sites, r.at.resolution);
        const auto of_paper = [p](double value) { return p ? value : absent; };
        static const paper_2014::Tessellation nothing{};
        const paper_2014::Tessellation &q = p ? *p : nothing;
        std::printf("%8lld %6lld  %8.4f %s  %s %s  %s %s  %s %s  %6lld %6lld %s  %8.4f %s  %s %s  %s %s  %-11s %s\n",
                    static_cast<long long>(r.at.sites), static_cast<long long>(r.at.resolution), r.evaluation,
                    cell("%.2f", 8, of_paper(q.evaluation)).c_str(),
                    cell("%.0f", 7, r.lbfgsb ? static_cast<double>(r.lbfgsb->iterations) : absent).c_str(),
                    cell("%.0f", 5, of_paper(q.cpu_iterations)).c_str(),
                    cell("%.4f", 9, r.lbfgsb_solver + r.lbfgsb_io).c_str(), cell("%.2f", 8, of_paper(q.cpu)).c_str(),
                    cell("%.4f", 7, r.lbfgsb_io).c_str(), cell("%.2f", 7, of_paper(q.cpu_io)).c_str(),
                    static_cast<long long>(r.ours.iterations), static_cast<long long>(r.approximate.iterations),
                    cell("%.0f", 5, of_paper(q.gpu_iterations)).c_str(), r.solver,
                    cell("%.2f", 7, of_paper(q.gpu)).c_str(), cell("%.1f", 8, r.speed_up()).c_str(),
                    cell("%.2f", 6, of_paper(q.speed_up)).c_str(),
                    cell("%.2e", 10, r.lbfgsb ? r.approximate.f() - r.lbfgsb->f() : absent).c_str(),
                    cell("%.2e", 10, of_paper(q.energy_difference)).c_str(), r.ours.end.c_str(),
                    r.lbfgsb ? r.lbfgsb->end.c_str() : "-");
    }
    std::printf(
        "\nEach run ends when the energy falls by no more than 1e-64 and by no other test (converged), when no step "
        "decreases it (line search),\nor at a limit. exact, appr.: iterations of ours with the exact and the "
        "approximate Cauchy point; the paper's GPU has the approximate one.\nms/iter: inside the solver. "
        "E - E(3.0): the final energy of ours with the approximate Cauchy point less that of 3.0.\n");
}

void print_table_3(const std::vector<Row> &rows) {
    std::printf("\nTable 3: shares of the iterations in %% by |t_c - t*| / t* of the one-breakpoint approximation\n\n"
                "%8s %6s %-5s %6s%s %18s %18s %10s\n",
                "sites", "resol.", "", "iter", CauchyDifferences::heading().c_str(), "exact energy",
                "approximate energy", "difference");
    for (const Row &r : rows) {
        const CauchyDifferences d(r.ours.t, r.ours.t_first);
        const double exact = r.ours.f(), approximate = r.approximate.f();
        std::printf("%8lld %6lld %-5s %6lld%s %18.11e %18.11e %10.2e\n", static_cast<long long>(r.at.sites),
                    static_cast<long long>(r.at.resolution), "ours", static_cast<long long>(r.ours.iterations),
                    d.columns().c_str(), exact, approximate, (approximate - exact) / exact);
        if (const auto *const p = paper_2014::tessellation(r.at.sites, r.at.resolution))
            std::printf("%8s %6s %-5s %6s%s\n", "", "", "paper", "-", CauchyDifferences::columns(p->percent).c_str());
    }
}

// Of the milliseconds of the solver in an iteration, over the sizes in this range. Where ours do not grow with the
// sites there is no ratio of slopes.
void print_slopes(const std::vector<Row> &rows, int64_t least, int64_t most) {
    std::vector<std::pair<double, double>> ours, lbfgsb;
    for (const Row &r : rows) {
        if (r.at.sites < least || r.at.sites > most) continue;
        ours.emplace_back(static_cast<double>(r.at.sites), r.solver);
        lbfgsb.emplace_back(static_cast<double>(r.at.sites), r.lbfgsb_solver + r.lbfgsb_io);
    }
    std::printf("  %-15s %s %s %s   %lld to %lld sites%s\n", "measured here", cell("%.2e", 10, slope(lbfgsb)).c_str(),
                cell("%.2e", 9, slope(ours)).c_str(),
                cell("%.0f", 9, ratio_of_slopes(slope(lbfgsb), slope(ours))).c_str(), static_cast<long long>(least),
                static_cast<long long>(most), slope(ours) <= 0 ? ": the time does not grow with the sites" : "");
}

// The Delaunay triangles of 20,000 sites, as figure 5 counts them; and the slopes of figure 6.
void print_figures(const std::vector<Row> &rows) {
    std::printf("\nFigure 6: slope of the solver's milliseconds an iteration against the sites (least squares)\n"
                "  %-15s %10s %9s %9s\n",
                "", "3.0 + I/O", "ours", "ratio");
    print_slopes(rows, 0, 60000);
    print_slopes(rows, 20000, 1000000);
    std::printf("  the paper        %9.2e %9.2e %9.0f   200 to 60,000 sites\n", paper_2014::figure_6_cpu,
                paper_2014::figure_6_gpu, paper_2014::figure_6_cpu / paper_2014::figure_6_gpu);
    for (const Row &r : rows) {
        if (r.at.sites != 20000 || !cudaopt::cvt::ExactDiagram::available()) continue;
        std::printf(
            "\nFigure 5: the Delaunay triangles of 20,000 sites at %lld x %lld\n  %-24s %10s %8s %8s %10s %10s\n",
            static_cast<long long>(r.at.resolution), static_cast<long long>(r.at.resolution), "", "triangles", "min Q",
            "mean Q", "min angle", "mean angle");
        const auto line = [](const char *name, const std::vector<double> &x) {
            const cudaopt::cvt::ExactDiagram diagram(x);
            const cudaopt::cvt::Quality q = cudaopt::cvt::quality_of(diagram, x, true);
            std::printf("  %-24s %10lld %8.4f %8.4f %10.4f %10.4f\n", name, static_cast<long long>(q.triangles),
                        q.least_q, q.mean_q, q.least_angle, q.mean_angle);
        };
        if (r.lbfgsb) line("L-BFGS-B 3.0", r.lbfgsb->x);
        line("ours, exact", r.ours.x);
        line("ours, approximate", r.approximate.x);
        std::printf("  %-24s %10s %8.4f %8.4f %10.4f %10.4f\n", "the paper, CPU or GPU", "-", 0.6342, 0.9164, 36.2932,
                    53.2477);
    }
}

driver::Plot coloured(driver::Plot plot) {
    const std::vector<std::string> colours = colours_of(plot.series);
    for (std::size_t k = 0; k < colours.size(); k++) plot.series[k].colour = colours[k];
    return plot;
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
    if (r.lbfgsb) plot.series.push_back({"L-BFGS-B 3.0", "", scaled(r.lbfgsb->f_at)});
    plot.series.push_back({"cuda_opt", "", scaled(r.ours.f_at)});
    return coloured(plot);
}

// A curve for each label, whose values values_of() gives for each row.
template <class ValuesOf>
driver::Plot against_sites(const char *title, const std::vector<const char *> &labels, const std::vector<Row> &rows,
                           const std::string &where, const ValuesOf &values_of) {
    driver::Plot plot{title, where, "sites", {}, true};
    for (const char *label : labels) plot.series.push_back({label, "", {}, {}});
    for (const Row &r : rows) {
        const std::vector<double> values = values_of(r, paper_2014::tessellation(r.at.sites, r.at.resolution));
        for (std::size_t k = 0; k < labels.size(); k++) {
            plot.series[k].x.push_back(static_cast<double>(r.at.sites));
            plot.series[k].y.push_back(values[k]);
        }
    }
    return coloured(plot);
}

using Paper = const paper_2014::Tessellation *; // NULL: the paper does not have this case

driver::Plot times(const std::vector<Row> &rows, const std::string &where) {
    return against_sites(
        "Milliseconds of an iteration: all, with evaluations and copies, and its parts",
        {"L-BFGS-B 3.0, all", "cuda_opt, all", "cuda_opt, solver", "evaluation", "paper, CPU, all", "paper, GPU, all"},
        rows, where, [](const Row &r, Paper p) -> std::vector<double> {
            return {r.lbfgsb ? r.lbfgsb->wall_per_iteration() : absent,
                    r.ours.wall_per_iteration(),
                    r.solver,
                    r.evaluation,
                    p ? p->evaluation + p->cpu : absent,
                    p ? p->evaluation + p->gpu : absent};
        });
}

// Figure 6 of the paper: the time of the solver alone.
driver::Plot solver_times(const std::vector<Row> &rows, const std::string &where) {
    return against_sites("Milliseconds of an iteration in the solver alone, 3.0's with its copies",
                         {"L-BFGS-B 3.0 and its copies", "cuda_opt", "paper, CPU", "paper, GPU"}, rows, where,
                         [](const Row &r, Paper p) -> std::vector<double> {
                             return {r.lbfgsb_solver + r.lbfgsb_io, r.solver, p ? p->cpu : absent, p ? p->gpu : absent};
                         });
}

void write_sites(const Row &r, Output &file) {
    const auto write = [&](const char *solver, const std::vector<double> &x) {
        for (std::size_t k = 0; k + 1 < x.size(); k += 2) {
            char line[64];
            std::snprintf(line, sizeof line, "%s,%.6f,%.6f\n", solver, x[k], x[k + 1]);
            file.write(line);
        }
    };
    if (r.lbfgsb) write("L-BFGS-B 3.0", r.lbfgsb->x);
    write("exact", r.ours.x);
    write("approximate", r.approximate.x);
}

} // namespace

int main(int argc, char **argv) {
    Options o;
    CLI::App app("Centroidal Voronoi tessellations: evaluations, our solver and L-BFGS-B 3.0");
    app.add_option("--cases", o.cases, "SITES:RESOLUTION, ...")->delimiter(',');
    app.add_option("--lbfgsb-seconds", o.lbfgsb_seconds, "limit of each run of 3.0; 0: none")->check(is_not_negative);
    app.add_option("--threads", o.threads, "host threads; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    app.add_option("--csv", o.csv, "file for the tables as comma separated values");
    app.add_option("--sites", o.sites, "file for the 20,000 sites at the ends of their runs");
    app.add_option("--svg", o.svg, "file for the pictures");
    return run_program(app, "bench_cvt", argc, argv, [&] {
        std::vector<Case> cases;
        for (const std::string &text : o.cases) cases.push_back(case_of(text));
        for (const Case &now : cases) cudaopt::cvt::Tessellation(now.sites, now.resolution); // refuse early
        Output csv(o.csv), sites(o.sites), picture(o.svg);
        const bool cuda = o.backend != "host" && have_cuda();
        if (o.backend == "cuda" && !cuda) throw std::runtime_error("there is no CUDA backend or no device here");
        const std::string where = machine(), backend = cuda ? "CUDA" : "host";
        const double rate = copy_rate(int64_t{1} << 28, cuda, o.threads);
        print_head(backend, where, rate);
        csv.write(std::string(csv_head) + "," + CauchyDifferences::csv_heading() + ",machine\n");
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
            csv.write(row_of(rows.back(), backend, where));
        }
        std::printf(
            "\nfloor: the bytes of an evaluation at the rate of a copy: 8 bytes a pixel, cleared once, read and "
            "written in each pass, read for the sums.\nms/iter: time inside the solver; share: of an "
            "iteration's, with its evaluations; ms total: wall time of an iteration. 3.0: the same of\n"
            "L-BFGS-B 3.0 on one thread; I/O: its copies of x, f and g; speed-up: of the solver, with 3.0's "
            "copies.\ndifference: of the energies after as many iterations of both (at), relative.\n");
        print_table_2(rows);
        print_table_3(rows);
        print_figures(rows);
        std::vector<driver::Plot> plots;
        if (!rows.empty()) plots = {solver_times(rows, where), times(rows, where)};
        sites.write("solver,x,y\n");
        for (const Row &row : rows) {
            if (row.at.sites != 20000) continue;
            plots.push_back(energies(row, where));
            write_sites(row, sites);
        }
        picture.write(driver::svg(plots));
    });
}
