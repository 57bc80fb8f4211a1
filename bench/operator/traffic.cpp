// The time of an iteration within the solver with an operator as initial Hessian, compared with the scalar initial
// Hessian and with the memory traffic. Applications of the operator, which is the identity here, are not timed.
//
//     bench_operator_traffic [--n 4000000] [--m 5,10,20] [--backend cuda]
//
// Each time is the median over the iterations with a full history and one evaluation, separately for iterations with
// one and with two applications. It is also given in n-vectors: the time of copying that many vectors of n elements, by
// the copy rate of the same run. Counted n-vectors with bounds, for k <= 8 pairs:
//
//     scalar             4k + 13  the two sweeps of an iteration (bench_iteration)
//     one application    5k + 28  sweep 1: 2k + 4; v: k + 6; products with H_0 v: k + 4; the direction: k + 14
//     two applications   6k + 39  in addition y as v: 7, and the products with H_0 y: k + 4
//
// Each further eight pairs add 3, 4 and 3 accesses for v, a product and the direction.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/memory_rate.hpp"
#include "bench/common/stream_clock.hpp"
#include "bench/solver/prepared_solve.hpp"

using namespace cudaopt::bench;

namespace {

constexpr int kinds = 3; // no application, one, two

// Times in seconds of the iterations of one solve, by the number of applications.
struct Times {
    std::vector<double> of[kinds];
};

int counted_vectors(int m, int applications) {
    const int further = (m - 1) / 8; // a sweep of an operator has at most eight columns
    if (applications == 0) return 4 * m + 13;
    return applications == 1 ? 5 * m + 28 + 10 * further : 6 * m + 39 + 14 * further;
}

void solve(RunOptions options, Times &times) {
    PreparedSolve<double> prepared(options);
    auto &s = prepared.handle;
    const bool with_operator = options.metric == CUDA_OPT_INITIAL_HESSIAN_OPERATOR;
    cudaopt::Array<double> in(s, prepared.n), out(s, prepared.n), is_free(s, prepared.n);
    if (with_operator) s.set_operator(in.data(), out.data(), is_free.data());
    s.set_int(CUDA_OPT_REPORT_ITERATES, 1).set_int(CUDA_OPT_MAX_ITERATIONS, options.iterations);
    double seconds = 0;
    int64_t evaluations = 0, applications = 0;
    for (int task = prepared.solve(); task > 0; task = prepared.solve()) {
        if (task == CUDA_OPT_EVALUATE_FG) prepared.evaluate();
        if (task == CUDA_OPT_APPLY_OPERATOR) out.write(0, in.to_host().data(), prepared.n);
        if (task != CUDA_OPT_NEW_ITERATE) continue;
        const double now = s.get_real(CUDA_OPT_SOLVER_SECONDS);
        const int64_t evaluated = s.get_int(CUDA_OPT_EVALUATIONS), applied = s.get_int(CUDA_OPT_OPERATOR_APPLICATIONS);
        const int64_t more = applied - applications;
        if (s.get_int(CUDA_OPT_ITERATIONS) > options.m + 2 && evaluated - evaluations == 1 && more < kinds)
            times.of[more].push_back(now - seconds);
        seconds = now, evaluations = evaluated, applications = applied;
    }
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.n = 4000000;
    o.iterations = 60;
    o.lower = -3, o.upper = 3;
    std::vector<int> pairs{5, 10, 20};
    std::string csv_file;
    int repeat = 1;
    CLI::App app("Time of an iteration with an operator as initial Hessian against the memory traffic");
    app.add_option("--n", o.n, "variables")->check(is_positive);
    app.add_option("--m", pairs, "correction pairs")->delimiter(',')->check(is_positive);
    app.add_option("--problem", o.problem, "test problem");
    app.add_option("--iterations", o.iterations, "iterations of a solve")->check(is_positive);
    app.add_option("--repeat", repeat, "solves of each kind")->check(is_positive);
    app.add_option("--threads", o.threads, "host threads; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    app.add_option("--csv", csv_file, "file for the table as comma separated values");
    return run_program(app, "bench_operator_traffic", argc, argv, [&] {
        Output csv(csv_file);
        const std::string where = machine();
        const bool cuda = o.backend != "host" && cudaopt::Minimiser<double>(2, 2, backend_number(o.backend)).on_cuda();
        std::printf("%s, %s, %s, n = %lld\n\n%3s %12s %11s %10s %10s %8s %8s\n", where.c_str(), cuda ? "CUDA" : "host",
                    o.problem.c_str(), static_cast<long long>(o.n), "m", "applications", "iterations", "ms",
                    "n-vectors", "counted", "ratio");
        csv.write("problem,backend,n,m,applications,iterations,ms,vectors,counted,copy_rate,machine\n");
        for (const int m : pairs) {
            o.m = m;
            Times times;
            const double rate = copy_rate(std::max<int64_t>(8 * o.n, int64_t{1} << 28), cuda, o.threads);
            for (int k = 0; k < repeat; k++)
                for (const int kind : {CUDA_OPT_INITIAL_HESSIAN_SCALAR, CUDA_OPT_INITIAL_HESSIAN_OPERATOR}) {
                    o.metric = kind;
                    solve(o, times);
                }
            for (int applications = 0; applications < kinds; applications++) {
                const std::vector<double> &all = times.of[applications];
                if (all.empty()) continue;
                const double seconds = median(all), vectors = seconds * rate / (8 * static_cast<double>(o.n));
                const int counted = counted_vectors(m, applications);
                std::printf("%3d %12d %11zu %10.3f %10.1f %8d %8.2f\n", m, applications, all.size(), 1e3 * seconds,
                            vectors, counted, vectors / counted);
                std::fflush(stdout);
                csv.write(csv_row(o.problem, cuda ? "cuda" : "host", o.n, int64_t{m}, int64_t{applications},
                                  static_cast<int64_t>(all.size()), 1e3 * seconds, vectors, int64_t{counted}, rate,
                                  where));
            }
        }
    });
}
