// Figure 3 of the 2014 paper: the product of an 8 x M and an M x 8 matrix in double precision, in 10^9 operations per
// second, from M = 10 on. Compares sweep 1 of the library, cuBLAS and cuSPARSE on the same columns with the time that
// the device takes to read them.
//
//     bench_figure3_rates [--sizes 10,20,...,1e7] [--csv FILE] [--svg FILE]
#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/common/command_line.hpp"
#include "bench/common/device_rates.hpp"
#include "bench/common/log_log_plot.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/stream_clock.hpp"
#include "panel_product.hpp"

using namespace cudaopt;
using namespace cudaopt::bench;

namespace {

constexpr int repetitions = 15, pairs = 4, columns = 2 * pairs;
constexpr double active = 0.2; // share of the variables, where there are bounds

// Seconds on the stream, and the largest difference from cublasDgemm.
struct Call {
    double seconds = absent, difference = absent;
};

struct Row {
    double limit = absent, ours = absent, bounded = absent, difference = absent;
    Call gemm, syrk, gemv, sampled;
    std::string why_not_sampled;
};

double gflops(double seconds, int64_t n) { return 1e-9 * 2 * columns * columns * static_cast<double>(n) / seconds; }

Call measure(Dgemm &dgemm, const StreamClock &clock, const std::function<void()> &work, bool triangle = false) {
    Call call;
    call.seconds = clock.seconds(work, repetitions);
    work();
    call.difference = dgemm.difference(columns, triangle);
    return call;
}

Row measure(PanelProduct &panel, int64_t n, const StreamClock &clock) {
    Row row;
    row.limit = device_read_seconds(clock, int64_t{columns} * n * static_cast<int64_t>(sizeof(double)));
    row.ours = clock.seconds_of_waiting([&] { panel.inner_products(false); }, repetitions);
    row.bounded = clock.seconds_of_waiting([&] { panel.inner_products(true); }, repetitions);
    Dgemm *const dgemm = panel.dgemm();
    if (!dgemm) return row;
    row.difference = panel.difference();
    row.gemm = measure(*dgemm, clock, [&] { dgemm->multiply(columns); });
    row.syrk = measure(
        *dgemm, clock, [&] { dgemm->multiply_symmetric(columns); }, true);
    row.gemv = measure(*dgemm, clock, [&] { dgemm->multiply_by_columns(columns); });
    row.why_not_sampled = dgemm->sampled_unavailable();
    if (row.why_not_sampled.empty()) {
        try {
            row.sampled = measure(*dgemm, clock, [&] { dgemm->multiply_sampled(columns); });
        } catch (const std::exception &error) {
            row.why_not_sampled = error.what();
        }
    }
    return row;
}

} // namespace

int main(int argc, char **argv) {
    std::vector<double> sizes = {10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7};
    CLI::App app("The product of an 8 x M and an M x 8 matrix by this library, by cuBLAS and by cuSPARSE");
    app.add_option("--sizes", sizes, "numbers of rows, M")->delimiter(',')->check(is_size);
    const Files files(app, true);
    return run_program(app, "bench_figure3_rates", argc, argv, [&] {
        if (const char *const unavailable = cuda_unavailable()) throw std::runtime_error(unavailable);
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        const StreamClock clock;
        const int64_t large = int64_t{1} << 30;
        const double rate = static_cast<double>(large) / device_read_seconds(clock, large);
        std::printf("8 x M by M x 8, double precision, 10^9 operations a second; reading alone: %.0f GB/s\n%s\n\n"
                    "%8s %11s %11s %11s %11s %11s %11s %11s %8s %8s %9s\n",
                    1e-9 * rate, where.c_str(), "M", "limit", "ours", "bounds", "cublasDgemm", "cublasDsyrk",
                    "cublasDgemv", "cuSPARSE", "x dgemm", "of limit", "apart");
        csv.write("n,limit_ms,ours_ms,ours_bounds_ms,dgemm_ms,dsyrk_ms,dgemv_ms,cusparse_ms,difference,"
                  "dsyrk_difference,dgemv_difference,cusparse_difference,read_rate,machine\n");
        std::vector<Curve> curves = {{"limit: reading 8 M numbers", {}},
                                     {"CUDA, sweep 1", {}},
                                     {"cublasDgemm", {}},
                                     {"cublasDsyrk", {}},
                                     {"cublasDgemv", {}},
                                     {"cusparseSDDMM", {}}};
        std::string why_not_sampled;
        for (const int64_t n : whole(sizes)) {
            PanelProduct panel(n, pairs, active, clock.stream());
            const Row row = measure(panel, n, clock);
            why_not_sampled = row.why_not_sampled;
            const double seconds[] = {row.limit,        row.ours,         row.gemm.seconds,
                                      row.syrk.seconds, row.gemv.seconds, row.sampled.seconds};
            const auto rate_of = [&](double time) { return cell("%.4f", 11, gflops(time, n)); };
            std::printf("%8lld %s %s %s %s %s %s %s %s %s %s\n", static_cast<long long>(n), rate_of(row.limit).c_str(),
                        rate_of(row.ours).c_str(), rate_of(row.bounded).c_str(), rate_of(row.gemm.seconds).c_str(),
                        rate_of(row.syrk.seconds).c_str(), rate_of(row.gemv.seconds).c_str(),
                        rate_of(row.sampled.seconds).c_str(), cell("%.2f", 8, row.gemm.seconds / row.ours).c_str(),
                        cell("%.0f%%", 8, 100 * row.limit / row.ours).c_str(), cell("%.1e", 9, row.difference).c_str());
            std::fflush(stdout);
            csv.write(csv_row(n, 1e3 * row.limit, 1e3 * row.ours, 1e3 * row.bounded, 1e3 * row.gemm.seconds,
                              1e3 * row.syrk.seconds, 1e3 * row.gemv.seconds, 1e3 * row.sampled.seconds, row.difference,
                              row.syrk.difference, row.gemv.difference, row.sampled.difference, rate, where));
            for (std::size_t k = 0; k < curves.size(); k++)
                curves[k].points.emplace_back(static_cast<double>(n), gflops(seconds[k], n));
        }
        std::printf(
            "\n2 x 8 x 8 x M operations over the time on the stream, events around the kernels alone, medians of %d. "
            "limit: a kernel that only\nreads the same 64 M bytes. ours: sweep 1, which also reads x and g and "
            "computes "
            "the other sums over the variables; bounds: over\nthe free variables, with %.0f %% of them active. "
            "cublasDsyrk forms one triangle; cublasDgemv is called 8 times, with W transposed;\ncusparseSDDMM samples "
            "all 64 elements. x dgemm: how often as fast as cublasDgemm; of limit: the limit's time over ours; apart: "
            "the\nlargest difference from cublasDgemm, relative. Of the paper's figure no rates can be read but these: "
            "dgemm is faster at M = 10,\nits own kernel from 20 on, about 16 times from 5,000 on; results within 1e-9 "
            "of dgemm's; cuSPARSE like cuBLAS.\n",
            repetitions, 100 * active);
        if (!why_not_sampled.empty()) std::printf("cuSPARSE: not run, %s.\n", why_not_sampled.c_str());
        const auto empty = [](const Curve &curve) {
            return std::none_of(curve.points.begin(), curve.points.end(),
                                [](const auto &point) { return std::isfinite(point.second); });
        };
        curves.erase(std::remove_if(curves.begin(), curves.end(), empty), curves.end());
        picture.write(svg({"8 \u00d7 M by M \u00d7 8: 10\u2079 operations per second", "double precision; " + where,
                           "M", "10\u2079 operations per second", curves}));
    });
}
