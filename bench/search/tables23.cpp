// Tables 2 and 3 of the 2009 paper: where the time of a search goes, on the host and on the GPU, for Ackley in 20
// variables and 20 iterations.
//
//     bench_search_tables23 [--walks 15360,1e6] [--function ackley] [--n 20] [--iterations 20]
//                           [--csv FILE] [--svg FILE]
#include <array>
#include <numeric>

#include "bench/common/bar_chart.hpp"
#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/stopwatch.hpp"
#include "bench/common/stream_clock.hpp"
#include "search_run.hpp"

using namespace cudaopt::bench;
namespace functions = cudaopt::testfuncs::search;

namespace {

constexpr const char *parts[] = {"memory for the walks", "random starts", "iterations", "best value", "best point"};
constexpr std::size_t count = std::size(parts);
using Seconds = std::array<double, count>;

// The median of each part over several searches.
Seconds measure(const functions::Function &f, int n, bool cuda, const cudaopt::SearchOptions &options, int searches) {
    std::array<std::vector<double>, count> all;
    for (int k = 0; k < searches; k++) {
        Stopwatch watch;
        const auto part = [&](std::size_t which) {
            all[which].push_back(watch.seconds());
            watch = Stopwatch();
        };
        const auto search = ready_search(f, n, cuda, options);
        part(0);
        search->advance(0);
        part(1);
        search->advance(options.iterations);
        part(2);
        const int64_t walk = search->summary().walk;
        part(3);
        search->walk_point(walk);
        part(4);
        if (search->code() != 0) throw std::runtime_error(search->message());
    }
    Seconds seconds;
    for (std::size_t k = 0; k < count; k++) seconds[k] = median(all[k]);
    return seconds;
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("The parts of a search's time");
    OneFunction o(app, {15360, 1e6});
    const Files files(app);
    return run_program(app, "bench_search_tables23", argc, argv, [&] {
        const functions::Function f = functions::function_by_name(o.name);
        const std::string title = functions::facts_of(f).title;
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        const bool cuda = driver::cuda_is_here();
        if (cuda) warm_up(f, o.n, true);
        std::printf("%s, n = %d, %lld iterations: milliseconds\n%s\n\n%9s %-5s", title.c_str(), o.n,
                    static_cast<long long>(o.options.iterations), where.c_str(), "walks", "where");
        for (const char *part : parts) std::printf(" %21s", part);
        std::printf(" %21s\n", "together");
        csv.write("walks,where,n,iterations,part,seconds,share,machine\n");
        BarChart chart{"Where the time of a search goes: " + title, where, "share of the time", {}, {}, true};
        for (const char *part : parts) chart.series.push_back({part, {}});
        for (const bool on_cuda : {false, true})
            for (const int64_t w : whole(o.walks)) {
                if (on_cuda && !cuda) continue;
                o.options.walks = w;
                const Seconds seconds = measure(f, o.n, on_cuda, o.options, w <= 100000 ? 9 : on_cuda ? 5 : 1);
                const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
                const std::string place = on_cuda ? "GPU" : "host";
                std::printf("%9lld %-5s", static_cast<long long>(w), place.c_str());
                for (std::size_t k = 0; k < count; k++) {
                    std::printf(" %11.4f (%5.1f %%)", 1e3 * seconds[k], 100 * seconds[k] / sum);
                    csv.write(csv_row(w, place, static_cast<int64_t>(o.n), o.options.iterations, std::string(parts[k]),
                                      seconds[k], seconds[k] / sum, where));
                    chart.series[k].shares.push_back(seconds[k] / sum);
                }
                std::printf(" %21.4f\n", 1e3 * sum);
                std::fflush(stdout);
                chart.rows.push_back(place + ", " + std::to_string(w));
            }
        std::printf(
            "\nWall time, the median of several searches, but of one alone on the host above 100,000 walks; what "
            "CUDA does once a process is in\nnone. Memory for the walks: its allocation, and the box copied to "
            "it. All of a walk's iterations are one kernel: nothing is\ncopied between them. Best value: the "
            "least of all walks, and the counts. The host uses all its threads.\n");
        if (!cuda) std::printf("GPU: not run, there is none here.\n");
        picture.write(svg(chart));
    });
}
