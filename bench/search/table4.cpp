// Table 4 of the 2009 paper: the twelve functions in 20 variables, 15,360 walks of 20 iterations. Prints the time on
// one thread of the host, on all threads, and on the GPU, and which fraction of the GPU's double-precision rate two of
// them reach.
//
//     bench_search_table4 [--csv FILE]
#include <map>

#include "bench/common/command_line.hpp"
#include "bench/common/device_rates.hpp"
#include "bench/common/machine.hpp"
#include "paper_2009.hpp"
#include "search_run.hpp"

using namespace cudaopt::bench;
namespace functions = cudaopt::testfuncs::search;

namespace {

// Double-precision instructions of one coordinate's two trials, as they stand in cuda_opt/search_poll.cuh and in the
// function: multiply-adds, sums and products; comparisons and selections, which the same units do.
struct Counted {
    int arithmetic, comparisons;
    double each() const { return (arithmetic + comparisons) / 2.0; } // of one evaluation
};
// Of any function: two multiply-adds for the trial points; two comparisons with the bounds, three between the trials,
// two whether the better one is taken, one whether it improved, and two whether its value is finite.
constexpr int points = 2, decisions = 10;
const std::map<std::string, Counted> counted = {
    // The sum less the own term and a test of it (2); a square and a sum for each trial; the iteration's own sum.
    {"sphere", {points + 2 + 4 + 1, decisions + 1}},
    // A term is five: x_{j+1} - x_j^2, x_j - 1, two products, one multiply-add. Three terms see x_j at most: before,
    // for
    // each trial, and one for the iteration's own sum, each with its sum.
    {"rosenbrock", {points + 3 * 6 + 1 + 2 * (3 * 6) + 1 + 6, decisions + 1}},
};

} // namespace

int main(int argc, char **argv) {
    constexpr int n = paper_n;
    cudaopt::SearchOptions options; // whose walks are the paper's 15,360
    options.iterations = paper_iterations;
    CLI::App app("The twelve functions on one thread, on all threads and on the GPU");
    const Files files(app);
    return run_program(app, "bench_search_table4", argc, argv, [&] {
        Output csv(files.csv);
        const std::string where = machine();
        const bool cuda = driver::cuda_is_here();
        std::printf("Twelve functions, n = %d, %lld walks, %lld iterations\n%s\n\n", n,
                    static_cast<long long>(options.walks), static_cast<long long>(options.iterations), where.c_str());
        std::printf("%-14s %12s %12s %12s %11s %11s %13s %13s | %12s %13s | %9s %9s %8s\n", "function", "one thread s",
                    "all thr. s", "GPU s", "GPU ev./s", "over one", "host best f", "GPU best f", "single GPU s",
                    "best f", "paper CPU", "GPU ms", "speed-up");
        csv.write(
            "function,n,walks,iterations,evaluations,one_thread_seconds,all_threads_seconds,gpu_seconds,"
            "gpu_rate,speed_up_over_one_thread,host_f,gpu_f,gpu_single_seconds,gpu_single_f,paper_cpu_ms,paper_gpu_ms,"
            "paper_speed_up,machine\n");
        for (const PaperRow &paper : paper_functions) {
            const std::string name(paper.function);
            const functions::Function f = functions::function_by_name(name);
            options.threads = 1;
            const SearchRun one = run_search(f, n, false, options);
            options.threads = 0;
            const SearchRun all = run_search(f, n, false, options);
            SearchRun gpu{absent, 0, 0, absent}, in_single = gpu;
            if (cuda) {
                warm_up(f, n, true);
                gpu = run_search(f, n, true, options, 9);
                warm_up(f, n, true, true);
                in_single = run_search(f, n, true, options, 9, true);
            }
            const double rate = cuda ? gpu.rate() : absent, over = one.seconds / gpu.seconds;
            std::printf("%-14s %12.5f %12.5f %s %s %s %13.6e %s | %s %s | %s %s %s\n", name.c_str(), one.seconds,
                        all.seconds, cell("%.6f", 12, gpu.seconds).c_str(), cell("%.3e", 11, rate).c_str(),
                        cell("%.0f", 11, over).c_str(), one.value, cell("%.6e", 13, gpu.value).c_str(),
                        cell("%.6f", 12, in_single.seconds).c_str(), cell("%.6e", 13, in_single.value).c_str(),
                        cell("%.1f", 9, paper.cpu_ms).c_str(), cell("%.1f", 9, paper.gpu_ms).c_str(),
                        cell("%.1f", 8, paper.speed_up).c_str());
            std::fflush(stdout);
            csv.write(csv_row(name, static_cast<int64_t>(n), options.walks, options.iterations, one.evaluations,
                              one.seconds, all.seconds, gpu.seconds, rate, over, one.value, gpu.value,
                              in_single.seconds, in_single.value, paper.cpu_ms, paper.gpu_ms, paper.speed_up, where));
        }
        std::printf(
            "\nSeconds are wall time from the first start to the best value and point in host memory; the GPU's "
            "are the median of nine runs.\nA search evaluates f %lld times. Where f is no sum over coordinates "
            "or neighbours (griewank, schwefel-*), each evaluation\nforms all of it. single: in single precision. "
            "paper: milliseconds as printed in its table 4, whose precision it does not state; a\nGeForce GTX 280, one "
            "thread of a Core 2 Duo, 15,360 walks. Ackley's box is the paper's, [-30, 30].\n",
            static_cast<long long>(options.walks * (1 + 2 * options.iterations * n)));
        if (!cuda) {
            std::printf("GPU: not run, there is none here.\n");
        } else {
            const StreamClock clock;
            const double multiply_adds = device_multiply_adds(clock);
            cudaopt::SearchOptions large = options;
            large.walks = 1000000;
            std::printf("\nThe GPU's double-precision rate, measured: %.3e instructions a second. At %lld walks:\n",
                        multiply_adds, static_cast<long long>(large.walks));
            for (const auto &[name, count] : counted) {
                const functions::Function f = functions::function_by_name(name);
                const SearchRun run = run_search(f, n, true, large, 5);
                const double bytes = 16.0 * n * static_cast<double>(large.walks); // each point read and written once
                std::printf("  %-11s %.3e evaluations/s x %.1f instructions (%d arithmetic, %d comparisons for two) = "
                            "%.1f %% of it; memory: %.0f GB/s\n",
                            name.c_str(), run.rate(), count.each(), count.arithmetic, count.comparisons,
                            100 * run.rate() * count.each() / multiply_adds, bytes / run.seconds / 1e9);
            }
            std::printf("Arithmetic binds: a walk's point stays next to its thread for all iterations, and is read and "
                        "written once.\nThe counts are those of the source; a compiler that forms a term once for both "
                        "trials needs fewer.\n");
        }
    });
}
