// The Gram matrix of 2m columns of n doubles, 2m x n by n x 2m: sweep 1 of the library, which also reads x and g and
// computes sums over the variables, compared with cublasDgemm.
//
//     bench_figure3 [--sizes 1e3,...,1e7] [--m 3,5,8,12,16,20] [--held 0.2] [--csv FILE] [--svg FILE]
//
// bench_figure3_rates is the figure 3 of the 2014 paper, in operations per second.
#include <algorithm>
#include <cmath>

#include "bench/common/command_line.hpp"
#include "bench/common/log_log_plot.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/memory_rate.hpp"
#include "panel_product.hpp"
#include "bench/common/stream_clock.hpp"

using namespace cudaopt;
using namespace cudaopt::bench;

namespace {

constexpr int repetitions = 15;

// Of one product: seconds on the stream alone, and until the host has the numbers.
struct Times {
    double on_stream = absent, until_known = absent, bytes = absent;
    double shown() const { return std::isnan(on_stream) ? until_known : on_stream; } // a host has no stream
    double share(double rate) const { return bytes / shown() / rate; }
};

struct Measured {
    Times dgemm, over_all, over_free, of_newest;
    double difference = absent;
};

Times time_of_gather(PanelProduct &panel, int m, Products products, const StreamClock *clock) {
    const auto work = [&] { panel.inner_products(m, products); };
    Times times;
    times.bytes = panel.gathered_bytes(m, products);
    times.until_known = wall_seconds(work, repetitions);
    if (clock) times.on_stream = clock->seconds_of_waiting(work, repetitions);
    return times;
}

Measured measure(PanelProduct &panel, int m, const StreamClock *clock) {
    Measured row;
    if (Dgemm *const dgemm = panel.dgemm()) {
        row.dgemm.bytes = panel.dgemm_bytes(m);
        row.dgemm.until_known = wall_seconds([&] { dgemm->multiply_and_fetch(2 * m); }, repetitions);
        row.dgemm.on_stream = clock->seconds([&] { dgemm->multiply(2 * m); }, repetitions);
    }
    row.over_all = time_of_gather(panel, m, Products::over_all, clock);
    row.over_free = time_of_gather(panel, m, Products::over_free, clock);
    row.of_newest = time_of_gather(panel, m, Products::of_newest, clock);
    row.difference = panel.difference(m);
    return row;
}

std::string cells(const Times &t, const Times &yardstick, double rate, bool known) {
    std::string text = "  " + cell("%.4f", 8, 1e3 * t.shown());
    if (known) text += cell("%.4f", 9, 1e3 * t.until_known);
    if (&t != &yardstick) text += cell("%.1f", 7, yardstick.on_stream / t.on_stream);
    if (known && &t != &yardstick) text += cell("%.1f", 7, yardstick.until_known / t.until_known);
    return text + cell("%.0f%%", 6, 100 * t.share(rate));
}

} // namespace

int main(int argc, char **argv) {
    std::vector<double> sizes = {1e3, 1e4, 1e5, 1e6, 1e7};
    std::vector<int> pairs = {3, 5, 8, 12, 16, 20};
    int threads = 0;
    double held = 0.2;
    std::string backend = "auto";
    CLI::App app("The panel's product against cublasDgemm");
    app.add_option("--sizes", sizes, "numbers of rows")->delimiter(',')->check(is_size);
    app.add_option("--m", pairs, "numbers of correction pairs")->delimiter(',')->check(CLI::Range(1, 1000));
    app.add_option("--held", held, "share of the rows held at a bound, where there are bounds")
        ->check(CLI::Range(0.0, 1.0));
    app.add_option("--threads", threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    const Files files(app);
    return run_program(app, "bench_figure3", argc, argv, [&] {
        const char *const unavailable = cuda_unavailable();
        if (backend == "cuda" && unavailable) throw std::runtime_error(unavailable);
        const bool cuda = backend != "host" && !unavailable;
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine(), on = cuda ? "CUDA" : "host";
        const double rate = read_rate(int64_t{1} << 30, cuda, threads);
        const std::unique_ptr<StreamClock> clock = cuda ? std::make_unique<StreamClock>() : nullptr;
        std::printf("The Gram matrix of 2m columns of n doubles, %s backend; reading alone: %.0f GB/s\n%s\n\n",
                    on.c_str(), 1e-9 * rate, where.c_str());
        std::printf("%8s %3s  %-23s  %-21s  %-37s  %-21s %9s\n", "", "", "cublasDgemm", "no bounds, all products",
                    "bounds, products over the free rows", "newest pair, no bounds", "");
        std::printf("%8s %3s  %8s%9s%6s  %8s%7s%6s  %8s%9s%7s%7s%6s  %8s%7s%6s %9s\n", "n", "m", "ms", "known", "read",
                    "ms", "x", "read", "ms", "known", "x", "known", "read", "ms", "x", "read", "apart");
        csv.write("n,m,product,backend,ms_on_stream,ms_until_known,bytes,share_of_read,speed_up,speed_up_until_known,"
                  "difference,machine\n");
        const std::vector<std::pair<std::string, Times Measured::*>> products = {{"cublasDgemm", &Measured::dgemm},
                                                                                 {"no bounds", &Measured::over_all},
                                                                                 {"bounds", &Measured::over_free},
                                                                                 {"newest pair", &Measured::of_newest}};
        std::vector<int> drawn = {pairs.front()};
        if (pairs.back() != pairs.front()) drawn.push_back(pairs.back());
        std::vector<Curve> curves;
        for (const int m : drawn)
            for (std::size_t k = 0; k < 3; k++)
                curves.push_back({products[k].first + ", m = " + std::to_string(m), {}});

        for (const int64_t n : whole(sizes)) {
            std::unique_ptr<PanelProduct> panel;
            try {
                panel = std::make_unique<PanelProduct>(n, *std::max_element(pairs.begin(), pairs.end()), held, cuda,
                                                       threads, clock ? clock->stream() : nullptr);
            } catch (const std::exception &error) { // most often a size that does not fit the memory
                std::printf("%8lld     not run: %s\n", static_cast<long long>(n), error.what());
                continue;
            }
            for (const int m : pairs) {
                const Measured row = measure(*panel, m, clock.get());
                const Times &d = row.dgemm;
                std::printf("%8lld %3d%s%s%s%s %s\n", static_cast<long long>(n), m, cells(d, d, rate, true).c_str(),
                            cells(row.over_all, d, rate, false).c_str(), cells(row.over_free, d, rate, true).c_str(),
                            cells(row.of_newest, d, rate, false).c_str(), cell("%.1e", 9, row.difference).c_str());
                std::fflush(stdout);
                for (const auto &[name, member] : products) {
                    const Times &t = row.*member;
                    if (std::isnan(t.until_known)) continue;
                    csv.write(csv_row(n, static_cast<int64_t>(m), name, on, 1e3 * t.on_stream, 1e3 * t.until_known,
                                      t.bytes, t.share(rate), d.on_stream / t.on_stream, d.until_known / t.until_known,
                                      row.difference, where));
                }
                for (std::size_t which = 0; which < drawn.size(); which++)
                    for (std::size_t k = 0; drawn[which] == m && k < 3; k++) {
                        const Times &t = row.*products[k].second;
                        curves[3 * which + k].points.emplace_back(static_cast<double>(n), 1e3 * t.shown());
                    }
            }
        }
        std::printf(
            "\nms: on the stream, events around the kernels alone, medians of %d. known: wall time until the host "
            "has "
            "the numbers, with\nthe wait of sweep 1 or the copy of cublasDgemm's result. x: how often as fast as "
            "cublasDgemm. read: share of the rate of\nreading alone, of 2m columns, and x, g, perhaps l, u in "
            "sweep "
            "1; panels of less than some 50 MB come from the cache.\nnewest pair: the products of y_new, s_new and "
            "g "
            "with all columns, which are all that the solver wants without bounds.\nbounds: %.0f %% of the rows "
            "held, "
            "wherever chance put them. apart: largest difference of the matrices, relative.\n",
            repetitions, 100 * held);
        if (!cuda) std::printf("CUDA backend and cublasDgemm: not run, there is no CUDA here; ms is wall time.\n");
        const auto empty = [](const Curve &curve) {
            return std::none_of(curve.points.begin(), curve.points.end(),
                                [](const auto &point) { return std::isfinite(point.second); });
        };
        if (cuda && empty(curves.front())) std::printf("cublasDgemm: not run, it was not there to build with.\n");
        curves.erase(std::remove_if(curves.begin(), curves.end(), empty), curves.end());
        picture.write(svg({"The Gram matrix of 2m columns: milliseconds", (cuda ? "on the stream; " : "") + where,
                           "rows", "milliseconds", curves}));
    });
}
