// Compares this library on the host with other implementations of L-BFGS-B: the Fortran code 3.0, LBFGS++ (header-only
// C++, if it was there to build with) and SciPy, all on the same problem with the same bounds:
//
//     bench_host_peers [--n 100,1e4,1e6] [--m 5] [--threads 1,2] [--iterations 60] [--repeat 3]
//                      [--scipy "python3 bench/python/scipy_torsion.py"] [--csv FILE]
//
// The problem is elastic-plastic torsion in its own bounds, from its standard start. Time is measured from the start
// on, inside the solver only: that of the evaluations is subtracted. It is divided by the number of iterations. The
// least of the repetitions counts. All stopping tests are off except the limit of iterations. The other solvers run on
// one thread.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#ifdef CUDA_OPT_BENCH_LBFGSPP
#include <LBFGSB.h>
#endif

#include "bench/common/command_line.hpp"
#include "bench/common/stopwatch.hpp"
#include "fortran_run.hpp"
#include "prepared_solve.hpp"

using namespace cudaopt::bench;

namespace {

struct PeerTime {
    double seconds = absent; // inside the solver, of the whole run
    double iterations = absent, evaluations = absent, f = absent;
    double per_iteration() const { return seconds / iterations; }
};

PeerTime time_ours(const RunOptions &options) {
    PreparedSolve<double> prepared(options);
    prepared.handle.set_int(CUDA_OPT_MAX_ITERATIONS, options.iterations);
    PeerTime result;
    result.seconds = 0;
    for (;;) {
        const Stopwatch watch;
        const int task = prepared.solve();
        result.seconds += watch.seconds();
        if (task <= 0) break;
        prepared.evaluate();
    }
    result.iterations = static_cast<double>(prepared.handle.get_int(CUDA_OPT_ITERATIONS));
    result.evaluations = static_cast<double>(prepared.handle.get_int(CUDA_OPT_EVALUATIONS));
    result.f = prepared.handle.get_real(CUDA_OPT_F);
    return result;
}

PeerTime time_fortran(const RunOptions &options) {
    Stop stop;
    stop.max_iterations = options.iterations;
    const auto run = run_fortran(options, stop);
    if (!run) return {};
    return {run->whole.solver_seconds, static_cast<double>(run->whole.iterations),
            static_cast<double>(run->whole.evaluations), run->whole.f};
}

#ifdef CUDA_OPT_BENCH_LBFGSPP
PeerTime time_lbfgspp(const RunOptions &options) {
    const auto problem = cudaopt::testfuncs::make_problem(options.problem, options.n);
    const int64_t n = problem->n();
    Eigen::VectorXd x(n), lower(n), upper(n);
    problem->start(0, n, x.data());
    problem->lower(0, n, lower.data());
    problem->upper(0, n, upper.data());
    cudaopt::testfuncs::Place place;
    place.threads = 1;
    PeerTime result;
    double evaluating = 0;
    result.evaluations = 0;
    const auto evaluate = [&](const Eigen::VectorXd &at, Eigen::VectorXd &g) {
        const Stopwatch watch;
        double f = 0;
        problem->evaluate(at.data(), &f, g.data(), place);
        evaluating += watch.seconds();
        result.evaluations++;
        return f;
    };
    LBFGSpp::LBFGSBParam<double> parameters;
    parameters.m = options.m;
    parameters.epsilon = parameters.epsilon_rel = 0;
    parameters.max_iterations = options.iterations;
    LBFGSpp::LBFGSBSolver<double> solver(parameters);
    const Stopwatch watch;
    try {
        result.iterations = solver.minimize(evaluate, x, result.f, lower, upper);
    } catch (const std::runtime_error &) { // its line search has failed
        return {};
    }
    result.seconds = watch.seconds() - evaluating;
    return result;
}
#else
PeerTime time_lbfgspp(const RunOptions &) { return {}; }
#endif

// The command prints the iterations, the evaluations, the seconds inside SciPy, and f.
PeerTime time_scipy(const std::string &command, const RunOptions &options) {
    if (command.empty()) return {};
    const std::string line = command + " " + std::to_string(options.n) + " " + std::to_string(options.m) + " " +
                             std::to_string(options.iterations);
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(line.c_str(), "r"), pclose);
    PeerTime result;
    if (!pipe || std::fscanf(pipe.get(), "%lf %lf %lf %lf", &result.iterations, &result.evaluations, &result.seconds,
                             &result.f) != 4)
        throw std::runtime_error("'" + line + "' printed no four numbers");
    return result;
}

PeerTime least(int repeat, const std::function<PeerTime()> &time) {
    PeerTime best = time();
    for (int k = 1; k < repeat; k++)
        if (const PeerTime next = time(); next.seconds < best.seconds) best = next;
    return best;
}

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.problem = "torsion";
    o.own_bounds = true;
    o.backend = "host";
    o.iterations = 60;
    std::vector<double> sizes = {100, 1e4, 1e6};
    std::vector<int> threads = {1, 2};
    int repeat = 3;
    std::string scipy;
    CLI::App app("This library on the host against other implementations of L-BFGS-B, time inside the solver");
    app.add_option("--n", sizes, "numbers of variables")->delimiter(',')->check(is_size);
    app.add_option("--m", o.m, "correction pairs")->check(is_positive);
    app.add_option("--threads", threads, "host threads of this library")->delimiter(',');
    app.add_option("--iterations", o.iterations, "iterations from the start on")->check(is_positive);
    app.add_option("--repeat", repeat, "runs of which the fastest counts")->check(is_positive);
    app.add_option("--scipy", scipy, "the command that runs bench/python/scipy_torsion.py; empty: without SciPy");
    const Files files(app);
    return run_program(app, "bench_host_peers", argc, argv, [&] {
        Output rows(files.csv);
        rows.write("n,m,solver,threads,iterations,evaluations,f,ms_per_iteration\n");
        std::printf("%10s %3s %-14s %7s %10s %11s %16s %14s\n", "n", "m", "solver", "threads", "iterations",
                    "evaluations", "f", "ms/iteration");
        for (const int64_t n : whole(sizes)) {
            o.n = cudaopt::testfuncs::make_problem(o.problem, n)->n();
            const auto show = [&](const std::string &solver, int count, const PeerTime &time) {
                std::printf("%10lld %3d %-14s %7d %s %s %s %s\n", static_cast<long long>(o.n), o.m, solver.c_str(),
                            count, cell("%.0f", 10, time.iterations).c_str(),
                            cell("%.0f", 11, time.evaluations).c_str(), cell("%.9f", 16, time.f).c_str(),
                            cell("%.5f", 14, 1e3 * time.per_iteration()).c_str());
                std::fflush(stdout);
                rows.write(csv_row(o.n, int64_t{o.m}, solver, int64_t{count}, time.iterations, time.evaluations, time.f,
                                   1e3 * time.per_iteration()));
            };
            for (const int count : threads) {
                o.threads = count;
                show("cuda_opt", count, least(repeat, [&] { return time_ours(o); }));
            }
            o.threads = 1;
            show("L-BFGS-B 3.0", 1, least(repeat, [&] { return time_fortran(o); }));
            show("LBFGS++", 1, least(repeat, [&] { return time_lbfgspp(o); }));
            show("SciPy", 1, least(repeat, [&] { return time_scipy(scipy, o); }));
        }
    });
}
