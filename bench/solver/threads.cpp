// Compares the default number of threads with each fixed one, on the host, with the machine idle or busy:
//
//     bench_threads --problem torsion --n 1000,10000,100000 [--busy 2] [--seconds 20]
//
// Each row contains the wall time of a whole loop with its evaluations, in a process of its own, so that nothing has
// been learned before. It is the median of as many runs as fit into the given time, in which the numbers of threads
// alternate; then follow the default's time divided by that of the best fixed number, and the same for the minima.
// --busy: number of other processes that compute endlessly. The program has no OpenMP, whose threads the library would
// use instead of its own.
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

// A whole loop in a process of its own: one that begins, and has nothing learned.
double seconds_of_loop(const RunOptions &options) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe can be made");
    const pid_t process = fork();
    if (process < 0) throw std::runtime_error("no further process can be made");
    if (process == 0) {
        PreparedSolve<double> prepared(options);
        prepared.handle.set_int(CUDA_OPT_MAX_ITERATIONS, options.iterations);
        const Stopwatch watch;
        while (prepared.solve() > 0) prepared.evaluate();
        const double seconds = watch.seconds();
        _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
    }
    close(ends[1]);
    double seconds = 0;
    const bool told = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    close(ends[0]);
    waitpid(process, nullptr, 0);
    if (!told) throw std::runtime_error("a solve has failed");
    return seconds;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}
double least(const std::vector<double> &values) { return *std::min_element(values.begin(), values.end()); }

// That of the first, which is the default's, over the best of the others.
template <class Measure> double over_best(const std::vector<std::vector<double>> &seconds, const Measure &measure) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t k = 1; k < seconds.size(); k++) best = std::min(best, measure(seconds[k]));
    return measure(seconds[0]) / best;
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.backend = "host";
    o.problem = "torsion";
    std::vector<double> sizes{1000, 3000, 10000, 30000, 100000, 300000};
    std::vector<int> numbers;
    int busy = 0;
    double row_seconds = 20;
    CLI::App app("The default number of threads beside each fixed one");
    app.add_option("--n", sizes, "variables")->check(is_size)->delimiter(',');
    app.add_option("--m", o.m, "correction pairs")->check(is_positive);
    app.add_option("--problem", o.problem, "test problem");
    app.add_option("--iterations", o.iterations, "iterations of a solve")->check(is_positive);
    app.add_option("--threads", numbers, "fixed numbers; left out: 1, 2, 4, ... and all processors")
        ->check(CLI::Range(1, 4096))
        ->delimiter(',');
    app.add_option("--busy", busy, "processes that compute beside it")->check(CLI::Range(0, 256));
    app.add_option("--seconds", row_seconds, "for a row; five runs of each number at least")->check(is_positive);
    return run_program(app, "bench_threads", argc, argv, [&] {
        cpu_set_t usable;
        if (sched_getaffinity(0, sizeof usable, &usable) != 0) throw std::runtime_error("how many processors?");
        const int all = CPU_COUNT(&usable);
        if (numbers.empty()) {
            for (int threads = 1; threads < all; threads *= 2) numbers.push_back(threads);
            numbers.push_back(all);
        }
        const BusyProcesses beside(busy);
        std::printf("%s, m = %d, %d iterations, %d processors, %d busy processes: ms, the median of the runs\n",
                    o.problem.c_str(), o.m, o.iterations, all, busy);
        std::printf("%10s %6s %10s", "n", "runs", "default");
        for (const int threads : numbers) std::printf(" %10d", threads);
        std::printf(" %18s %10s\n", "default over best", "the least");
        for (const int64_t n : whole(sizes)) {
            o.n = n;
            std::vector<std::vector<double>> seconds(numbers.size() + 1);
            const Stopwatch watch;
            std::size_t runs = 0;
            for (; runs < 5 || watch.seconds() < row_seconds; runs++)
                for (std::size_t turn = 0; turn < seconds.size(); turn++) {
                    const std::size_t k = (turn + runs) % seconds.size();
                    o.threads = k == 0 ? 0 : numbers[k - 1];
                    seconds[k].push_back(seconds_of_loop(o));
                }
            std::printf("%10lld %6zu", static_cast<long long>(n), runs);
            for (const std::vector<double> &one : seconds) std::printf(" %10.3f", 1e3 * median(one));
            std::printf(" %18.2f %10.2f\n", over_best(seconds, median), over_best(seconds, least));
            std::fflush(stdout);
        }
    });
}
