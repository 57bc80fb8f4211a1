// Tables 2 and 3 of the 2009 paper: how the time of a pattern search is divided, on the host and on the GPU, for Ackley
// in 20 variables and 20 iterations.
//
//     bench_search_tables23 [--walks 15360,1e6] [--csv FILE] [--tables FILE]
//
// --tables writes the rows of both tables beside the paper's, --csv the parts.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "bench/common/command_line.hpp"
#include "bench/common/device_rates.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/stopwatch.hpp"
#include "bench/common/stream_clock.hpp"
#include "paper_2009.hpp"
#include "search_run.hpp"

using namespace cudaopt::bench;
namespace functions = cudaopt::testfuncs::search;

namespace {

constexpr const char *parts[] = {"memory for the walks", "random starts", "iterations", "best value", "best point"};
constexpr std::size_t count = std::size(parts);
using Seconds = std::array<double, count>;

// The median of each part over several searches.
Seconds measure(const functions::Function &f, bool cuda, const cudaopt::SearchOptions &options, int searches) {
    std::array<std::vector<double>, count> all;
    for (int k = 0; k < searches; k++) {
        Stopwatch watch;
        const auto part = [&](std::size_t which) {
            all[which].push_back(watch.seconds());
            watch = Stopwatch();
        };
        const auto search = ready_search(f, paper_n, cuda, options);
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

// A row of table 2 or of table 3. calls are of kernels, counted in include/cuda_opt/search_kernel.cuh, or copies. Times
// in microseconds; percent: in table 2 the GPU's time over the host's, in table 3 the share of the GPU's time.
struct Task {
    int table;
    std::string name;
    double calls, gpu, host, percent;
    PaperCalls paper;
};

std::vector<Task> table_2(const Seconds &gpu, const Seconds &host) {
    const auto task = [&](const char *name, std::size_t from, std::size_t to, const PaperPart &p) {
        const double on_gpu = 1e6 * std::accumulate(gpu.begin() + from, gpu.begin() + to, 0.0);
        const double on_host = 1e6 * std::accumulate(host.begin() + from, host.begin() + to, 0.0);
        const PaperCalls paper{not_printed, 1e3 * p.gpu_ms, 1e3 * p.cpu_ms, p.percent};
        return Task{2, name, absent, on_gpu, on_host, 100 * on_gpu / on_host, paper};
    };
    return {task("other functions (memory, random starts and their values)", 0, 2, paper_setup),
            task("select best walk (best value and point)", 3, 5, paper_best),
            task("pattern search (iterations)", 2, 3, paper_search)};
}

// Seconds on the stream of a call to each of several fresh searches, whose starts are evaluated where asked for. The
// call waits for its kernel, and the clock ends there: copies that follow are not counted.
template <class Call>
double kernel_seconds(const StreamClock &clock, const functions::Function &f, const cudaopt::SearchOptions &options,
                      bool started, const Call &call) {
    constexpr int repetitions = 9;
    std::vector<std::unique_ptr<cudaopt::PatternSearch>> searches;
    for (int k = 0; k < repetitions + 2; k++) { // the clock warms up twice
        searches.push_back(ready_search(f, paper_n, true, options));
        if (started) searches.back()->advance(0);
    }
    std::size_t next = 0;
    return clock.seconds_of_waiting([&] { call(*searches[next++]); }, repetitions);
}

// walls: the parts' wall times. What is not on the GPU of a call's time is the host's: the launch and the wait.
std::vector<Task> table_3(const functions::Function &f, cudaopt::SearchOptions options, const Seconds &walls) {
    const StreamClock clock;
    options.stream = clock.stream();
    const double starts = kernel_seconds(clock, f, options, false, [](auto &search) { search.advance(0); });
    const double iterations =
        kernel_seconds(clock, f, options, true, [&](auto &search) { search.advance(options.iterations); });
    const double summary = kernel_seconds(clock, f, options, true, [](auto &search) { search.summary(); });
    // The box to the device; from there each block's summary, the best walk's state and its point, in which each
    // coordinate is as far from the next as there are walks. The kernel of the summary has at most 264 blocks of 256.
    const auto real = static_cast<int64_t>(sizeof(double));
    const int64_t blocks = std::min<int64_t>(264, (options.walks + 255) / 256);
    const double copies = transfer_seconds(clock, 3 * paper_n * real, false) +
                          transfer_seconds(clock, blocks * static_cast<int64_t>(sizeof(cudaopt::SearchSummary)), true) +
                          transfer_seconds(clock, static_cast<int64_t>(sizeof(cudaopt::pattern::Walk)), true) +
                          transfer_seconds(clock, real, true, paper_n, options.walks * real);
    const double all = starts + iterations + summary + copies;
    const auto task = [&](const char *name, double calls, double seconds, double wall, const PaperCalls &paper) {
        return Task{3, name, calls, 1e6 * seconds, 1e6 * (wall - seconds), 100 * seconds / all, paper};
    };
    const PaperCalls none{not_printed, not_printed, not_printed, not_printed};
    return {task("pattern search (iterations)", 1, iterations, walls[2], paper_kernel),
            task("initial fitness functions (random starts and their values)", 1, starts, walls[1], paper_starts),
            task("best value", 1, summary, absent, none),
            task("memory synchronization (copies)", 4, copies, absent, paper_copies)};
}

void print(const std::vector<Task> &tasks) {
    for (const int table : {2, 3}) {
        std::printf("\nTable %d, us%48s %6s %10s %12s %7s | %6s %10s %12s %7s\n", table, "", "calls", "GPU",
                    table == 2 ? "host" : "on the host", "%", "paper", "GPU", table == 2 ? "CPU" : "on the CPU", "%");
        for (const Task &t : tasks)
            if (t.table == table)
                std::printf("%-58s %s %s %s %s | %s %s %s %s\n", t.name.c_str(), cell("%.0f", 6, t.calls).c_str(),
                            cell("%.1f", 10, t.gpu).c_str(), cell("%.1f", 12, t.host).c_str(),
                            cell("%.2f", 7, t.percent).c_str(), cell("%.0f", 6, t.paper.calls).c_str(),
                            cell("%.0f", 10, t.paper.gpu_us).c_str(), cell("%.0f", 12, t.paper.cpu_us).c_str(),
                            cell("%.1f", 7, t.paper.percent).c_str());
    }
    std::printf(
        "\nTable 2: %%: the GPU's time over the host's, on one thread. Table 3: calls of kernels and copies. GPU: on "
        "the "
        "stream, by events around\nthe kernel; on the host: the rest of the call's wall time, the launch and the wait; "
        "%%: share of the GPU's time in this table. The copies\nare timed by themselves: the box to the device, the "
        "blocks' best values and the best walk's numbers and point from there. The paper's\nprofile is of a run of "
        "another length than its table 2 (0.73 s against 36 ms); its loop of 20 iterations makes 21 calls.\n");
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("The parts of a search's time");
    std::vector<double> sizes = {15360, 1e6};
    cudaopt::SearchOptions options;
    options.iterations = paper_iterations;
    options.threads = 1; // of the host, as in the paper
    std::string tables;
    app.add_option("--walks", sizes, "numbers of walks")->delimiter(',')->check(is_size);
    app.add_option("--tables", tables, "file for tables 2 and 3 as comma separated values");
    const Files files(app);
    return run_program(app, "bench_search_tables23", argc, argv, [&] {
        const functions::Function f = functions::function_by_name("ackley");
        const std::string title = functions::facts_of(f).title;
        Output csv(files.csv), both(tables);
        const std::string where = machine();
        const bool cuda = driver::cuda_is_here();
        if (cuda) warm_up(f, paper_n, true);
        std::printf("%s, n = %d, %d iterations: milliseconds\n%s\n\n%9s %-5s", title.c_str(), paper_n, paper_iterations,
                    where.c_str(), "walks", "where");
        for (const char *part : parts) std::printf(" %21s", part);
        std::printf(" %21s\n", "together");
        csv.write("walks,where,n,iterations,part,seconds,share,machine\n");
        std::optional<Seconds> of_paper[2]; // 15,360 walks, on the host and on the GPU
        for (const bool on_cuda : {false, true})
            for (const int64_t w : whole(sizes)) {
                if (on_cuda && !cuda) continue;
                options.walks = w;
                const Seconds seconds = measure(f, on_cuda, options, w <= 100000 ? 9 : on_cuda ? 5 : 1);
                const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
                if (w == 15360) of_paper[on_cuda] = seconds;
                const std::string place = on_cuda ? "GPU" : "host";
                std::printf("%9lld %-5s", static_cast<long long>(w), place.c_str());
                for (std::size_t k = 0; k < count; k++) {
                    std::printf(" %11.4f (%5.1f %%)", 1e3 * seconds[k], 100 * seconds[k] / sum);
                    csv.write(csv_row(w, place, int64_t{paper_n}, int64_t{paper_iterations}, std::string(parts[k]),
                                      seconds[k], seconds[k] / sum, where));
                }
                std::printf(" %21.4f\n", 1e3 * sum);
                std::fflush(stdout);
            }
        std::printf(
            "\nWall time, the median of several searches, but of one alone on the host above 100,000 walks; what "
            "CUDA does once a process is in\nnone. Memory for the walks: its allocation, and the box copied to "
            "it. All of a walk's iterations are one kernel: nothing is\ncopied between them. Best value: the "
            "least of all walks, and the counts. The host uses one thread.\n");
        if (of_paper[0] && of_paper[1]) {
            options.walks = 15360;
            std::vector<Task> tasks = table_2(*of_paper[1], *of_paper[0]);
            const std::vector<Task> profile = table_3(f, options, *of_paper[1]);
            tasks.insert(tasks.end(), profile.begin(), profile.end());
            print(tasks);
            both.write("table,task,calls,gpu_us,cpu_us,percent,paper_calls,paper_gpu_us,paper_cpu_us,paper_percent,"
                       "machine\n");
            for (const Task &t : tasks)
                both.write(csv_row(static_cast<int64_t>(t.table), t.name, t.calls, t.gpu, t.host, t.percent,
                                   t.paper.calls, t.paper.gpu_us, t.paper.cpu_us, t.paper.percent, where));
        }
        if (!cuda) std::printf("GPU: not run, there is none here.\n");
    });
}
