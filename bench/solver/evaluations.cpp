// Compares one evaluation of f and g of each MINPACK-2 problem and of Rosenbrock at its standard start with the bytes
// that it has to transfer, one load of v and one store of g, and with its double-precision arithmetic:
//
//     bench_evaluations [--sizes 4e6,3e7] [--atoms 100000] [--csv FILE] [--svg FILE]

#include "bench/common/bar_chart.hpp"
#include "bench/common/command_line.hpp"
#include "bench/common/device_rates.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/memory_rate.hpp"
#include "prepared_solve.hpp"
#include "whole_run.hpp"

using namespace cudaopt::bench;

namespace {

constexpr int repetitions = 21;

// Double-precision operations for each variable (of the clusters: for each ordered pair of atoms), counted by hand from
// the rule in testfuncs/: a product and the sum that it goes into are one; what a strip of four points has in common
// counts a quarter; boundaries, and what is the same for all rows, do not count.
struct Work {
    const char *problem;
    double operations, inverse_roots, divisions, exponentials, angles;
    double conversions; // in single precision: of the values read, and of the component written
    bool cluster = false;

    double seconds(const ArithmeticCosts &c) const {
        return operations * c.operation + inverse_roots * c.inverse_root + divisions * c.division +
               exponentials * c.exponential + angles * c.angle;
    }
    std::string functions() const {
        std::string text;
        const auto name = [&](double count, const char *what) {
            if (count > 0) text += (text.empty() ? "" : ", ") + cell("%g", 0, count) + " " + what;
        };
        name(inverse_roots, "rsqrt");
        name(divisions, "div");
        name(exponentials, "exp");
        name(angles, "sincos");
        return text.empty() ? "-" : text;
    }
};
constexpr Work works[] = {{"rosenbrock", 5, 0, 0, 0, 0, 2},
                          {"torsion", 16, 0, 0, 0, 0, 4.5},
                          {"bearing", 22, 0, 0.25, 0, 0.25, 4.5},
                          {"minimal-surface", 53, 4.5, 0, 0, 0, 5},
                          {"optimal-design", 62, 4.5, 0, 0, 0, 5},
                          {"ginzburg-landau-1d", 43, 0, 0, 0, 0, 4},
                          {"combustion", 16, 0, 0, 1, 0, 4.5},
                          {"ginzburg-landau-2d", 20.75, 0, 0, 0, 1, 6},
                          {"lennard-jones-2d", 13, 0, 1, 0, 0, 2, true},
                          {"lennard-jones-3d", 16, 0, 1, 0, 0, 3, true}};

struct Measured {
    int64_t n = 0;
    double seconds = absent, copy_seconds = absent; // of one evaluation; of a copy that moves as many bytes
};

template <class Real> Measured measure(const RunOptions &options, bool cluster, const StreamClock *clock) {
    PreparedSolve<Real> prepared(options);
    const int64_t bytes = prepared.n * int64_t{sizeof(Real)};
    Measured result;
    result.n = prepared.n;
    const auto evaluate = [&] { prepared.evaluate(); };
    if (clock) {
        prepared.place.stream = clock->stream();
        result.seconds = clock->seconds(evaluate, repetitions);
        if (!cluster) result.copy_seconds = device_copy_seconds(*clock, bytes);
    } else {
        result.seconds = wall_seconds(evaluate, repetitions);
        if (!cluster) result.copy_seconds = 2.0 * static_cast<double>(bytes) / copy_rate(bytes, false, options.threads);
    }
    return result;
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    std::vector<double> sizes = {4e6, 3e7};
    double atoms = 0;
    CLI::App app("One evaluation against its bytes and its arithmetic");
    app.add_option("--sizes", sizes, "numbers of variables, rounded to the grids")->delimiter(',')->check(is_size);
    app.add_option("--atoms", atoms, "atoms of the clusters; by default 100000, on the host 1000")->check(is_size);
    app.add_option("--threads", o.threads, "host threads; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    const Files files(app);
    return run_program(app, "bench_evaluations", argc, argv, [&] {
        const bool cuda = o.backend != "host" && have_cuda();
        if (o.backend == "cuda" && !cuda) throw std::runtime_error("there is no CUDA backend or no device here");
        o.backend = cuda ? "cuda" : "host";
        if (atoms == 0) atoms = cuda ? 100000 : 1000;
        for (const Work &work : works) // refuse early
            for (const int64_t n : whole(sizes)) cudaopt::testfuncs::make_problem(work.problem, n);
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine(), on = cuda ? "CUDA" : "host";
        const std::unique_ptr<StreamClock> clock = cuda ? std::make_unique<StreamClock>() : nullptr;
        const ArithmeticCosts costs =
            clock ? device_arithmetic(*clock) : ArithmeticCosts{absent, absent, absent, absent, absent, absent};
        std::printf("One evaluation of f and g at the standard start, %s\n%s\n", on.c_str(), where.c_str());
        if (cuda)
            std::printf("10^12 a second: %.2f double-precision operations, %.2f rsqrt, %.2f divisions, %.2f exp, %.2f "
                        "sincos, %.2f conversions\n",
                        1e-12 / costs.operation, 1e-12 / costs.inverse_root, 1e-12 / costs.division,
                        1e-12 / costs.exponential, 1e-12 / costs.angle, 1e-12 / costs.conversion);
        std::printf("\n%-18s %-6s %9s %9s %8s %8s %8s  %5s %-19s %11s %11s  %s\n", "problem", "real", "n", "ms", "MB",
                    "GB/s", "of copy", "ops", "functions", "of arithm.", "of convers.", "binds");
        csv.write("problem,precision,backend,n,ms,bytes,bytes_per_second,share_of_copy,operations,functions,"
                  "conversions,share_of_arithmetic,share_of_conversions,pairs_per_second,machine\n");
        BarChart chart{"Bandwidth of one evaluation of f and g",
                       on + "; " + where,
                       "share of a copy of as many bytes in the same run",
                       {},
                       {}};
        for (const Work &work : works)
            if (!work.cluster) chart.rows.push_back(work.problem);
        for (const bool single : {false, true})
            for (const int64_t n : whole(sizes)) {
                const std::string real = single ? "single" : "double";
                Bars bars{real + ", n = " + std::to_string(n), {}};
                for (const Work &work : works) {
                    if (work.cluster && n != whole(sizes).front()) continue;
                    const int coordinates = work.problem == std::string("lennard-jones-2d") ? 2 : 3;
                    o.problem = work.problem;
                    o.n = work.cluster ? coordinates * static_cast<int64_t>(atoms) : n;
                    Measured r;
                    try {
                        r = single ? measure<float>(o, work.cluster, clock.get())
                                   : measure<double>(o, work.cluster, clock.get());
                    } catch (const std::exception &error) { // most often a size that does not fit the memory
                        std::printf("%-18s %-6s %9lld not run: %s\n", work.problem, real.c_str(),
                                    static_cast<long long>(o.n), error.what());
                        if (!work.cluster) bars.shares.push_back(absent);
                        continue;
                    }
                    const auto size = static_cast<double>(r.n);
                    const double bytes = 2 * size * (single ? 4 : 8), share = r.copy_seconds / r.seconds;
                    const double pairs = work.cluster ? atoms * (atoms - 1) : absent;
                    const double counted = work.cluster ? pairs : size;
                    const double arithmetic = counted * work.seconds(costs) / r.seconds;
                    const double conversions = single ? counted * work.conversions * costs.conversion / r.seconds : 0;
                    const char *const binds = !cuda                                        ? "-"
                                              : arithmetic > std::fmax(share, conversions) ? "arithmetic"
                                              : !work.cluster && share >= conversions      ? "memory"
                                                                                           : "conversions";
                    std::printf("%-18s %-6s %9lld %9.4f %8.1f %s %s  %5g %-19s %s %s  %s\n", work.problem, real.c_str(),
                                static_cast<long long>(r.n), 1e3 * r.seconds, 1e-6 * bytes,
                                cell("%.0f", 8, work.cluster ? absent : 1e-9 * bytes / r.seconds).c_str(),
                                cell("%.0f%%", 8, 100 * share).c_str(), work.operations, work.functions().c_str(),
                                cell("%.0f%%", 11, 100 * arithmetic).c_str(),
                                cell("%.0f%%", 11, single && cuda ? 100 * conversions : absent).c_str(), binds);
                    if (work.cluster)
                        std::printf("%-18s %-6s %9s %.4g ordered pairs of atoms a second\n", "", "", "",
                                    pairs / r.seconds);
                    std::fflush(stdout);
                    csv.write(csv_row(std::string(work.problem), real, on, r.n, 1e3 * r.seconds, bytes,
                                      bytes / r.seconds, share, work.operations, work.functions(), work.conversions,
                                      arithmetic, conversions, pairs / r.seconds, where));
                    if (!work.cluster) bars.shares.push_back(share);
                }
                chart.series.push_back(bars);
            }
        std::printf(
            "\nMB: one read of v and one write of g. of copy: the time of a copy that moves as many bytes, in the same "
            "run, over ms; what\nis less than some 50 MB partly stays in the cache, for both. ops: double-precision "
            "operations for each variable (for each\nordered pair of atoms), counted by hand from the source, a "
            "product and the sum it goes into as one; functions beside them.\nof arithm.: the time that these take "
            "when a kernel does nothing else, measured in the same run, over ms; of convers.: that\nof the "
            "conversions between single and double precision. binds: whichever share is the largest.\n");
        if (!cuda) std::printf("CUDA: not run, there is none here.\n");
        picture.write(svg(chart));
    });
}
