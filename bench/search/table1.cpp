// Table 1 of the 2009 paper: Ackley in 20 variables, 20 iterations, from 2,048 walks to 15,360, and further to 4
// million. Prints the time on one thread of the host, on all threads, and on the GPU, for the same pattern search.
//
//     bench_search_table1 [--walks 2048,...] [--one-thread-up-to 1e5] [--threads-up-to 1e6] [--csv FILE]
//
// Each time is the mean of ten searches with different seeds, as in the paper.
#include <stdexcept>

#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "paper_2009.hpp"
#include "search_run.hpp"

using namespace cudaopt::bench;
namespace functions = cudaopt::testfuncs::search;

namespace {

// One of the three ways to run it.
struct Way {
    std::string name;
    bool cuda;
    int threads; // 0: all
    double most; // walks; beyond, only the rate of the last size is used
    bool single = false;
    double last_rate = absent;
};

struct Measured {
    double seconds = absent, rate = absent, value = absent;
};

constexpr int seeds = 10;

Measured measure(const functions::Function &f, cudaopt::SearchOptions options, Way &way) {
    if (static_cast<double>(options.walks) > way.most) return {};
    options.threads = way.threads;
    const SearchRun run = mean_of_seeds(f, paper_n, way.cuda, options, seeds, way.single);
    way.last_rate = run.rate();
    return {run.seconds, run.rate(), run.value};
}

// How often the other's rate; where the other was not run at this size, its last rate stands in, marked so.
std::string speed_up(const Measured &gpu, const Measured &host, const Way &way) {
    const bool here = !std::isnan(host.rate);
    return cell(here ? "%.0f" : "%.0f*", 9, gpu.rate / (here ? host.rate : way.last_rate));
}

} // namespace

int main(int argc, char **argv) {
    Way one{"host, one thread", false, 1, 1e5}, all{"host, all threads", false, 0, 1e6}, gpu{"GPU", true, 0, 1e15};
    Way in_single{"GPU, single", true, 0, 1e15, true};
    std::vector<double> sizes = {2048, 4096, 6144, 8192, 10240, 12288, 15360, 1e5, 1e6, 4e6};
    cudaopt::SearchOptions options;
    options.iterations = paper_iterations;
    CLI::App app("The time of the same search on one thread, on all threads and on the GPU");
    app.add_option("--walks", sizes, "numbers of walks")->delimiter(',')->check(is_size);
    app.add_option("--one-thread-up-to", one.most, "leave one thread out above so many walks");
    app.add_option("--threads-up-to", all.most, "leave the host out above so many walks");
    const Files files(app);
    return run_program(app, "bench_search_table1", argc, argv, [&] {
        const functions::Function f = functions::function_by_name("ackley");
        const std::string title = functions::facts_of(f).title;
        Output csv(files.csv);
        const std::string where = machine();
        const bool cuda = driver::cuda_is_here();
        if (cuda) {
            warm_up(f, paper_n, true);
            warm_up(f, paper_n, true, true);
        } else {
            gpu.most = in_single.most = 0;
        }
        std::printf("%s, n = %d, %d iterations\n%s\n\n", title.c_str(), paper_n, paper_iterations, where.c_str());
        std::printf("%9s %13s | %12s %12s %12s | %10s %10s %10s | %9s %9s | %13s %13s | %12s | %8s %8s %9s\n", "", "",
                    "one thread", "all threads", "GPU", "one thread", "all thr.", "GPU", "over one", "over all", "host",
                    "GPU", "GPU, single", "paper:", "", "");
        std::printf("%9s %13s | %12s %12s %12s | %10s %10s %10s | %9s %9s | %13s %13s | %12s | %8s %8s %9s\n", "walks",
                    "evaluations", "s", "s", "s", "ev./s", "ev./s", "ev./s", "thread", "threads", "best f", "best f",
                    "s", "GPU ms", "CPU ms", "speed-up");
        csv.write(
            "walks,n,iterations,evaluations,one_thread_seconds,all_threads_seconds,gpu_seconds,one_thread_rate,"
            "all_threads_rate,gpu_rate,host_f,gpu_f,gpu_single_seconds,gpu_single_f,seeds,paper_gpu_ms,paper_cpu_ms,"
            "paper_speed_up,machine\n");
        for (const int64_t w : whole(sizes)) {
            options.walks = w;
            const auto of = [&](Way &way) { return measure(f, options, way); };
            const Measured a = of(one), b = of(all), c = of(gpu), d = of(in_single);
            const PaperWalks *const p = paper_walks(w);
            const double value = std::isnan(a.value) ? b.value : a.value;
            const int64_t evaluations = w * (1 + 2 * paper_iterations * paper_n);
            std::printf("%9lld %13lld | %s %s %s | %s %s %s | %s %s | %s %s | %s | %s %s %s\n",
                        static_cast<long long>(w), static_cast<long long>(evaluations),
                        cell("%.5f", 12, a.seconds).c_str(), cell("%.5f", 12, b.seconds).c_str(),
                        cell("%.5f", 12, c.seconds).c_str(), cell("%.3e", 10, a.rate).c_str(),
                        cell("%.3e", 10, b.rate).c_str(), cell("%.3e", 10, c.rate).c_str(), speed_up(c, a, one).c_str(),
                        speed_up(c, b, all).c_str(), cell("%.6e", 13, value).c_str(), cell("%.6e", 13, c.value).c_str(),
                        cell("%.5f", 12, d.seconds).c_str(), cell("%.1f", 8, p ? p->gpu_ms : absent).c_str(),
                        cell("%.1f", 8, p ? p->cpu_ms : absent).c_str(),
                        cell("%.2f", 9, p ? p->speed_up : absent).c_str());
            std::fflush(stdout);
            csv.write(csv_row(w, int64_t{paper_n}, int64_t{paper_iterations}, evaluations, a.seconds, b.seconds,
                              c.seconds, a.rate, b.rate, c.rate, value, c.value, d.seconds, d.value, int64_t{seeds},
                              p ? p->gpu_ms : absent, p ? p->cpu_ms : absent, p ? p->speed_up : absent, where));
        }
        std::printf(
            "\nThe same search in each column: the same starts, in full double precision. Seconds are wall time "
            "from the first start to the\nbest value and point in host memory, the memory for the walks "
            "already there; the mean of %d searches with the seeds 0, 1, ...,\nas is best f. ev./s: evaluations of "
            "f, 1 + 2 x n x iterations a walk. Over one thread, over all threads: the GPU's\nevaluations per "
            "second over the host's; *: over the host's at its last size, where this one was left out.\nThe last "
            "GPU column is in single precision. paper: as printed in its table 1, whose precision it does not state; a "
            "GeForce GTX 280, one\nthread of a Core 2 Duo. Ackley's box is the paper's, [-30, 30].\n",
            seeds);
        if (!cuda) std::printf("GPU: not run, there is none here.\n");
    });
}
