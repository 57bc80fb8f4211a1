// Tables 2 and 3 of the 2009 paper: how the time of a pattern search is divided, on the host and on the GPU, for Ackley
// in 20 variables and 20 iterations.
//
//     bench_search_tables23 [--walks 15360,1e6] [--function ackley] [--n 20] [--iterations 20]
//                           [--csv FILE] [--svg FILE]
#include <array>
#include <numeric>
#include <optional>

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

// The paper's two tables, whose tasks are those of its program: pattern search, first values, copies.
void print_paper(const Seconds *gpu, const Seconds *host) {
    const auto milliseconds = [](const Seconds *s, std::size_t from, std::size_t to) {
        return s ? cell("%.3f", 10, 1e3 * std::accumulate(s->begin() + from, s->begin() + to, 0.0))
                 : cell("", 10, absent);
    };
    std::printf(
        "\nTable 2, ms: ours and the paper's (p)                          GPU          p       host          p\n"
        "set-up, random starts and their values (other functions) %s %10.2f %s %10.2f\n"
        "best value and point (select best walk)                  %s %10.2f %s %10.2f\n"
        "iterations (pattern search)                              %s %10.2f %s %10.2f\n",
        milliseconds(gpu, 0, 2).c_str(), 33.81, milliseconds(host, 0, 2).c_str(), 46.60,
        milliseconds(gpu, 3, 5).c_str(), 6.57, milliseconds(host, 3, 5).c_str(), 4.65, milliseconds(gpu, 2, 3).c_str(),
        35.73, milliseconds(host, 2, 3).c_str(), 9446.68);
    std::printf(
        "\nTable 3, us                                             calls        GPU    p calls      p GPU  p share\n"
        "iterations (pattern search)                                  1 %s         21     729850    98.5%%\n"
        "random starts, their values (initial fitness functions)      1 %s         22       1138     0.2%%\n"
        "best value, best point                                       1 %s          -          -        -\n"
        "copies in these (memory synchronization)                     4          -        107       9717     1.3%%\n",
        gpu ? cell("%.1f", 10, 1e6 * (*gpu)[2]).c_str() : cell("", 10, absent).c_str(),
        gpu ? cell("%.1f", 10, 1e6 * (*gpu)[1]).c_str() : cell("", 10, absent).c_str(),
        gpu ? cell("%.1f", 10, 1e6 * ((*gpu)[3] + (*gpu)[4])).c_str() : cell("", 10, absent).c_str());
    std::printf(
        "\ncalls: of kernels, counted in include/cuda_opt/search_kernel.cuh: all iterations are one, all starts one, "
        "the "
        "best value is one; the best\npoint is copies alone. Copies: the box to the device, the blocks' best values "
        "and "
        "the best walk's numbers and point from there. Wall time\nuntil the host knows. The paper's profile is of a "
        "run "
        "of another length than its table 2 (0.73 s against 36 ms); its loop of 20\niterations makes 21 calls.\n");
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
        std::optional<Seconds> of_paper[2]; // 15,360 walks, on the host and on the GPU
        for (const bool on_cuda : {false, true})
            for (const int64_t w : whole(o.walks)) {
                if (on_cuda && !cuda) continue;
                o.options.walks = w;
                const Seconds seconds = measure(f, o.n, on_cuda, o.options, w <= 100000 ? 9 : on_cuda ? 5 : 1);
                const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
                if (w == 15360) of_paper[on_cuda] = seconds;
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
        const auto address = [](const std::optional<Seconds> &s) { return s ? &*s : nullptr; };
        if (o.name == "ackley" && o.n == 20 && o.options.iterations == 20)
            print_paper(address(of_paper[1]), address(of_paper[0]));
        if (!cuda) std::printf("GPU: not run, there is none here.\n");
        picture.write(svg(chart));
    });
}
