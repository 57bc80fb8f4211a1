// Draws a roofline: floating-point operations per second of an iteration against its operations per byte, on one core
// of the host, below what the core reads from memory and what it multiplies and adds, measured in the same run:
//
//     bench_roofline [--n 4e5] [--m 5,10,17,40,80] [--iterations 8] [--cuda --cuda-peak GFLOPS] [--csv FILE] [--svg
//     FILE]
//
// Torsion without bounds, and with bounds in arrays that no variable reaches, so that the products over the free
// variables are over all of them. Counted per variable, for an iteration with one evaluation and c = 2m + 2 columns:
//
//     bytes       8 (4m + 9), with bounds 8 (4m + 13)
//     operations  sweep 1: 6 c for the products with y, s and g of the newest pair, with bounds c (c + 1) more for
//     those
//                 over the free variables; sweep 2: 4 m for the direction. On the host with more than 20 pairs the
//                 products of the older pairs over the free variables are updated (lbfgsb/free_gram.hpp), and no
//                 variable changes here: 8 c instead of c (c + 1)
//
// --cuda adds the same points of the current device. Its peak is not measured but given.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/common/command_line.hpp"
#include "bench/common/log_log_plot.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/memory_rate.hpp"
#include "bench/common/multiply_rate.hpp"
#include "solver_run.hpp"

using namespace cudaopt::bench;

namespace {

// The roof over operations per byte from 0.2 to 20.
Curve roof(const std::string &label, double bytes_per_second, double operations_per_second) {
    const double knee = operations_per_second / bytes_per_second;
    Curve curve{label, {}};
    for (const double intensity : {0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0})
        if (intensity < knee) curve.points.emplace_back(intensity, 1e-9 * intensity * bytes_per_second);
    if (knee < 20) curve.points.emplace_back(knee, 1e-9 * operations_per_second);
    if (knee < 20) curve.points.emplace_back(20, 1e-9 * operations_per_second);
    return curve;
}

double operations_per_variable(bool on_cuda, bool bounds, int m) {
    const double columns = 2.0 * m + 2;
    const bool updated = !on_cuda && m > 20;
    return 6 * columns + (!bounds ? 0 : updated ? 8 * columns : columns * (columns + 1)) + 4.0 * m;
}

struct Row {
    bool on_cuda, bounds;
    double n;
    int m;
    double ms, read, peak; // rates of the device: 10^9 bytes and operations per second
};

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.problem = "torsion";
    o.threads = 1;
    o.iterations = 8;
    double size = 4e5, cuda_peak = 0;
    std::vector<int> memories = {5, 10, 17, 40, 80};
    bool cuda = false;
    CLI::App app("A roofline of the iteration: operations per second against operations per byte");
    app.add_option("--n", size, "variables")->check(is_size);
    app.add_option("--m", memories, "correction pairs")->delimiter(',')->check(is_positive);
    app.add_option("--iterations", o.iterations, "iterations to count")->check(is_positive);
    app.add_flag("--cuda", cuda, "the current CUDA device as well");
    app.add_option("--cuda-peak", cuda_peak, "GFLOP/s of the device in double precision");
    const Files files(app, true);
    return run_program(app, "bench_roofline", argc, argv, [&] {
        o.n = static_cast<int64_t>(size);
        Output rows(files.csv), picture(files.svg);
        rows.write("where,bounds,n,m,ms,operations_per_byte,gflops,read_gbps,peak_gflops\n");
        std::vector<Row> measured;
        for (const bool on_cuda : {false, true}) {
            if (on_cuda && !cuda) continue;
            o.backend = on_cuda ? "cuda" : "host";
            const double read = read_rate(int64_t{1} << 30, on_cuda, 1),
                         peak = on_cuda ? 1e9 * cuda_peak : multiply_add_rate();
            std::printf("%s: %.1f GB/s, %.1f GFLOP/s\n", on_cuda ? "GPU" : "one core", 1e-9 * read, 1e-9 * peak);
            for (const bool bounds : {false, true})
                for (const int m : memories) {
                    o.m = m;
                    o.lower = bounds ? -100 : -INFINITY, o.upper = -o.lower;
                    const RunResult r = run_solver(o);
                    measured.push_back({on_cuda, bounds, static_cast<double>(r.n), m, 1e3 * r.seconds / r.evaluations,
                                        1e-9 * read, 1e-9 * peak});
                }
        }
        LogLogPlot plot{"Roofline of one iteration",
                        machine() + ", n = " + std::to_string(o.n) + ", double precision",
                        "operations per byte",
                        "GFLOP/s",
                        {}};
        for (const Row &row : measured) {
            const std::string where = row.on_cuda ? "GPU" : "one core",
                              label = where + (row.bounds ? ", bounds" : ", no bounds"), roof_label = where + ": roof";
            const double vectors = 4.0 * row.m + (row.bounds ? 13 : 9),
                         operations = operations_per_variable(row.on_cuda, row.bounds, row.m),
                         intensity = operations / (8 * vectors), rate = 1e-6 * operations * row.n / row.ms;
            const auto begins = [&](const std::string &name) {
                return std::none_of(plot.curves.begin(), plot.curves.end(),
                                    [&](const Curve &curve) { return curve.label == name; });
            };
            if (begins(roof_label))
                plot.curves.push_back(roof(roof_label, 1e9 * row.read, row.peak > 0 ? 1e9 * row.peak : 1e30));
            if (begins(label)) plot.curves.push_back({label, {}});
            plot.curves.back().points.emplace_back(intensity, rate);
            std::printf("%-8s %-9s m = %2d: %10.4f ms, %6.2f operations per byte, %8.2f GFLOP/s, %6.1f GB/s\n",
                        where.c_str(), row.bounds ? "bounds" : "no bounds", row.m, row.ms, intensity, rate,
                        rate / intensity);
            rows.write(csv_row(where, int64_t{row.bounds}, static_cast<int64_t>(row.n), int64_t{row.m}, row.ms,
                               intensity, rate, row.read, row.peak));
        }
        picture.write(svg(plot));
    });
}
