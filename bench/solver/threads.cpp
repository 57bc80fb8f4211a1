// The default number of threads beside each fixed one, on the host, with the machine idle or busy:
//
//     bench_threads --problem torsion --n 1000,10000,100000 [--busy 2] [--runs 7]
//
// Each row: the wall time of a whole loop, evaluations included, the least of so many runs, in which the numbers of
// threads take turns; and the default's over the best fixed number's. --busy: so many processes beside it that compute
// without end. The program has no OpenMP, whose threads would be taken in place of the library's.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bench/common/command_line.hpp"
#include "bench/common/stopwatch.hpp"
#include "prepared_solve.hpp"

using namespace cudaopt::bench;

namespace {

// Processes that compute for as long as this object lives.
class BusyProcesses {
  public:
    explicit BusyProcesses(int count) {
        for (int k = 0; k < count; k++) {
            const pid_t process = fork();
            if (process < 0) throw std::runtime_error("no further process can be made");
            if (process == 0)
                for (volatile unsigned turns = 0; getppid() != 1;) turns = turns + 1; // ends with its parent
            processes_.push_back(process);
        }
    }
    ~BusyProcesses() {
        for (const pid_t process : processes_) {
            kill(process, SIGKILL);
            waitpid(process, nullptr, 0);
        }
    }
    BusyProcesses(const BusyProcesses &) = delete;
    BusyProcesses &operator=(const BusyProcesses &) = delete;

  private:
    std::vector<pid_t> processes_;
};

double seconds_of_loop(const RunOptions &options) {
    PreparedSolve<double> prepared(options);
    prepared.handle.set_int(CUDA_OPT_MAX_ITERATIONS, options.iterations);
    const Stopwatch watch;
    while (prepared.solve() > 0) prepared.evaluate();
    return watch.seconds();
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.backend = "host";
    o.problem = "torsion";
    std::vector<double> sizes{1000, 3000, 10000, 30000, 100000, 1000000};
    std::vector<int> numbers;
    int busy = 0, runs = 7;
    CLI::App app("The default number of threads beside each fixed one");
    app.add_option("--n", sizes, "variables")->check(is_size)->delimiter(',');
    app.add_option("--m", o.m, "correction pairs")->check(is_positive);
    app.add_option("--problem", o.problem, "test problem");
    app.add_option("--iterations", o.iterations, "iterations of a solve")->check(is_positive);
    app.add_option("--threads", numbers, "fixed numbers; left out: 1, 2, 4, ... and all processors")
        ->check(CLI::Range(1, 4096))
        ->delimiter(',');
    app.add_option("--busy", busy, "processes that compute beside it")->check(CLI::Range(0, 256));
    app.add_option("--runs", runs, "of which the least counts")->check(is_positive);
    return run_program(app, "bench_threads", argc, argv, [&] {
        cpu_set_t usable;
        if (sched_getaffinity(0, sizeof usable, &usable) != 0) throw std::runtime_error("how many processors?");
        const int all = CPU_COUNT(&usable);
        if (numbers.empty()) {
            for (int threads = 1; threads < all; threads *= 2) numbers.push_back(threads);
            numbers.push_back(all);
        }
        const BusyProcesses beside(busy);
        std::printf("%s, m = %d, %d iterations, %d processors, %d busy processes: ms, the least of %d runs\n",
                    o.problem.c_str(), o.m, o.iterations, all, busy, runs);
        std::printf("%10s %10s", "n", "default");
        for (const int threads : numbers) std::printf(" %10d", threads);
        std::printf(" %18s\n", "default over best");
        for (const int64_t n : whole(sizes)) {
            o.n = n;
            std::vector<double> least(numbers.size() + 1, std::numeric_limits<double>::infinity());
            for (int run = 0; run < runs; run++)
                for (std::size_t k = 0; k < least.size(); k++) {
                    o.threads = k == 0 ? 0 : numbers[k - 1];
                    least[k] = std::min(least[k], seconds_of_loop(o));
                }
            std::printf("%10lld", static_cast<long long>(n));
            for (const double seconds : least) std::printf(" %10.3f", 1e3 * seconds);
            std::printf(" %18.2f\n", least[0] / *std::min_element(least.begin() + 1, least.end()));
            std::fflush(stdout);
        }
    });
}
