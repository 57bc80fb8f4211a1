// Measures the cost per rank on the host for many ranks, without a machine of that size: one thread executes all ranks
// one after the other, and its processor time is divided by their number.
//
//     bench_ranks_simulated [--rows 128] [--m 5] [--ranks 1,4,16,64,256,1024]
//
// Rosenbrock in a box, with the given number of variables per rank. "in the solver": processor time per rank in
// cuda_opt_solve for one evaluation, for its own sweeps and for joining all ranks' packets; "gathered": bytes that each
// rank receives for it.
#include <ctime>

#include <cstring>
#include <memory>
#include <vector>

#include "bench/common/command_line.hpp"
#include "cuda_opt.hpp"

namespace {

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Rank {
    cudaopt::Minimiser<double> s;
    std::vector<double> x, g;
    double f = 0;
};

void evaluate(Rank &rank) {
    rank.f = 0;
    for (std::size_t i = 0; i + 1 < rank.x.size(); i += 2) {
        const double a = rank.x[i], valley = rank.x[i + 1] - a * a, slope = 1 - a;
        rank.f += 100 * valley * valley + slope * slope;
        rank.g[i] = -400 * a * valley - 2 * slope;
        rank.g[i + 1] = 200 * valley;
    }
}

void measure(int ranks, int64_t rows, int m) {
    std::vector<std::unique_ptr<Rank>> all;
    for (int rank = 0; rank < ranks; rank++) {
        const auto size = static_cast<std::size_t>(rows);
        all.push_back(std::make_unique<Rank>(Rank{cudaopt::Minimiser<double>(rows * ranks, m, CUDA_OPT_BACKEND_HOST),
                                                  std::vector<double>(size), std::vector<double>(size)}));
        cudaopt::Minimiser<double> &s = all.back()->s;
        s.set_ranks(rank, ranks, rows * rank, rows);
        s.set_uniform_bounds(-3, 3);
        s.set_int(CUDA_OPT_THREADS, 1);
        s.set_int(CUDA_OPT_MAX_ITERATIONS, 30);
        for (std::size_t i = 0; i < size; i++) all.back()->x[i] = i % 2 == 0 ? -1.2 : 1;
    }
    double in_solver = 0;
    int64_t gathered = 0, exchanges = 0;
    for (int task = 1; task > 0;) {
        for (const auto &rank : all) {
            const double begin = processor_seconds();
            task = rank->s.solve(rank->x.data(), &rank->f, rank->g.data());
            in_solver += processor_seconds() - begin;
            if (task == CUDA_OPT_EVALUATE_FG) evaluate(*rank);
        }
        if (task != CUDA_OPT_EXCHANGE) continue;
        int64_t bytes = 0;
        for (int from = 0; from < ranks; from++) {
            void *send, *receive, *other;
            all[from]->s.check(cuda_opt_gather(all[from]->s, &send, &receive, &bytes));
            for (int to = 0; to < ranks; to++) {
                all[to]->s.check(cuda_opt_gather(all[to]->s, &other, &receive, &bytes));
                std::memcpy(static_cast<char *>(receive) + from * bytes, send, static_cast<std::size_t>(bytes));
            }
        }
        exchanges++;
        gathered += bytes * ranks;
    }
    const auto evaluations = static_cast<double>(all[0]->s.get_int(CUDA_OPT_EVALUATIONS));
    std::printf("%6d %10lld %6.2f %12.0f %12.0f %14.2f\n", ranks, static_cast<long long>(rows * ranks),
                static_cast<double>(exchanges) / evaluations,
                static_cast<double>(gathered) / static_cast<double>(exchanges) / ranks,
                static_cast<double>(gathered) / evaluations, 1e6 * in_solver / evaluations / ranks);
}

} // namespace

int main(int argc, char **argv) {
    std::vector<int> ranks = {1, 4, 16, 64, 256, 1024};
    double rows = 128;
    int m = 5;
    CLI::App app("The cost of many ranks, played by one thread");
    app.add_option("--ranks", ranks, "how many")->delimiter(',')->check(cudaopt::bench::is_positive);
    app.add_option("--rows", rows, "variables of a rank, an even number")->check(cudaopt::bench::is_size);
    app.add_option("--m", m, "correction pairs")->check(cudaopt::bench::is_positive);
    return cudaopt::bench::run_program(app, "bench_ranks_simulated", argc, argv, [&] {
        std::printf("%6s %10s %6s %12s %12s %14s\n", "ranks", "n", "gath.", "packet", "gathered", "in the solver");
        std::printf("%6s %10s %6s %12s %12s %14s\n", "", "", "/eval", "bytes", "bytes/eval", "us/eval");
        for (const int count : ranks) measure(count, static_cast<int64_t>(rows), m);
    });
}
