// Solves many chained Rosenbrock functions from random starts at once, with m = 5, to ||P g||_inf <= pgtol. Prints
// problems and iterations per second with a functor and by reverse communication, also with a learned diagonal, on CUDA
// and the host; for comparison a handle and L-BFGS-B 3.0 in a loop over the problems, on one thread.
//
//     bench_batch --problems 100000 --n 20 --threads 2 [--bounds] [--single]
//
// bench/python/batch.py has SciPy and optax on the same starts.
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/batch/chained_rosenbrock.hpp"
#include "bench/batch/rows.hpp"
#include "bench/common/command_line.hpp"
#include "bench/common/setulb_caller.hpp" // of L-BFGS-B 3.0's own, which is linked here
#include "bench/common/stopwatch.hpp"

using namespace cudaopt;
using namespace cudaopt::bench;

namespace {

template <int n> class OnHost {
  public:
    explicit OnHost(const BatchTask &task)
        : task_(task), starts_(static_cast<std::size_t>(n * task.count)), lower_(n, -INFINITY), upper_(n, INFINITY) {
        for (std::size_t k = 0; k < starts_.size(); k++) starts_[k] = random_start(k);
        for (int i = 0; i < n && task.bounds; i++) {
            lower_[static_cast<std::size_t>(i)] = lower_bound;
            upper_[static_cast<std::size_t>(i)] = upper_bound(i);
        }
    }

    BatchRow by_functor() const {
        HostBatch<n, 5> batch;
        BatchOptions options;
        options.settings.eps = 0;
        options.settings.pgtol = task_.pgtol;
        options.settings.max_iterations = task_.max_iterations;
        options.threads = task_.threads;
        std::vector<double> x(starts_);
        std::vector<BatchEnd> ends(static_cast<std::size_t>(task_.count));
        const Stopwatch watch;
        batch.run(ChainedRosenbrock<n, double>(), task_.count, x.data(), {lower_.data(), upper_.data()}, ends.data(),
                  options);
        BatchRow row = begun("host, functor", task_.threads, watch.seconds());
        for (const BatchEnd &end : ends)
            row.converged += end.code == 0, row.iterations += end.iterations, row.evaluations += end.evaluations;
        return row;
    }

    BatchRow by_calls(bool learned) const {
        Batch<double> s(n, task_.count, task_.pairs, CUDA_OPT_BACKEND_HOST);
        set(s, task_.threads);
        s.set_int(CUDA_OPT_INITIAL_HESSIAN,
                  learned ? CUDA_OPT_INITIAL_HESSIAN_LEARNED : CUDA_OPT_INITIAL_HESSIAN_SCALAR);
        std::vector<double> x(starts_), g(x.size()), f(static_cast<std::size_t>(task_.count));
        const Stopwatch watch;
        while (s.solve(x.data(), f.data(), g.data()) > 0) {
            const int64_t active = s.active();
            const int64_t *const list = s.active_problems();
#pragma omp parallel for num_threads(task_.threads)
            for (int64_t k = 0; k < active; k++) {
                const int64_t p = list[k];
                f[static_cast<std::size_t>(p)] = evaluate(x.data() + p * n, g.data() + p * n);
            }
        }
        BatchRow row = begun(learned ? "host, the same, learned metric" : "host, reverse communication", task_.threads,
                             watch.seconds());
        add_ends(s, row);
        return row;
    }

    BatchRow by_handle(int64_t count) const {
        Minimiser<double> s(n, 5, CUDA_OPT_BACKEND_HOST);
        set(s, 1);
        BatchRow row{"host, a handle in a loop, 1 thread", 0, count, 0, 0, 0};
        std::vector<double> g(n);
        const Stopwatch watch;
        for (int64_t p = 0; p < count; p++) {
            std::vector<double> x(starts_.begin() + p * n, starts_.begin() + (p + 1) * n);
            double f = 0;
            int task = 0;
            s.reset();
            while ((task = s.solve(x.data(), &f, g.data())) > 0) f = evaluate(x.data(), g.data());
            row.converged += task == 0, row.iterations += s.get_int(CUDA_OPT_ITERATIONS),
                row.evaluations += s.get_int(CUDA_OPT_EVALUATIONS);
        }
        row.seconds = watch.seconds();
        return row;
    }

    BatchRow by_lbfgsb(int64_t count) const {
        BatchRow row{"L-BFGS-B 3.0 in a loop, 1 thread", 0, count, 0, 0, 0};
        const Stopwatch watch;
        for (int64_t p = 0; p < count; p++) {
            SetulbCaller caller({starts_.begin() + p * n, starts_.begin() + (p + 1) * n}, lower_, upper_, 5, 0,
                                task_.pgtol);
            for (caller.call(); caller.says("FG") || caller.says("NEW_X"); caller.call())
                if (caller.says("FG")) caller.f = evaluate(caller.x.data(), caller.g.data());
            row.converged += caller.says("CONV"), row.iterations += caller.count(30),
                row.evaluations += caller.count(34);
        }
        row.seconds = watch.seconds();
        return row;
    }

  private:
    static double evaluate(const double *x, double *g) {
        return ChainedRosenbrock<n, double>()(batch::OneThread{}, 0, x, g);
    }
    void set(HandleOf<double> &s, int threads) const {
        s.set_bounds(lower_.data(), upper_.data());
        s.set_real(CUDA_OPT_FACTR, 0).set_real(CUDA_OPT_PGTOL, task_.pgtol);
        s.set_int(CUDA_OPT_MAX_ITERATIONS, task_.max_iterations).set_int(CUDA_OPT_THREADS, threads);
    }
    BatchRow begun(const std::string &name, int threads, double seconds) const {
        return {name + ", " + std::to_string(threads) + " threads", seconds, task_.count, 0, 0, 0};
    }

    BatchTask task_;
    std::vector<double> starts_, lower_, upper_;
};

void print(const BatchRow &row) {
    const auto problems = static_cast<double>(row.problems), iterations = static_cast<double>(row.iterations);
    std::printf("%-40s %10lld %9.4f %12.4g %12.4g %7.2f %10.1f %10.1f\n", row.name.c_str(),
                static_cast<long long>(row.problems), row.seconds, problems / row.seconds, iterations / row.seconds,
                100 * static_cast<double>(row.converged) / problems, iterations / problems,
                static_cast<double>(row.evaluations) / problems);
    if (row.most > 0) std::printf("%-40s %10s %9.4f to %.4f\n", "", "", row.least, row.most);
    std::fflush(stdout);
}

template <int n> void measure_host(const BatchTask &task) {
    const OnHost<n> host(task);
    const int64_t looped = std::min<int64_t>(task.count, 2000); // one after the other
    print(host.by_functor());
    print(host.by_calls(false));
    print(host.by_calls(true));
    print(host.by_handle(looped));
    print(host.by_lbfgsb(looped));
}

} // namespace

int main(int argc, char **argv) {
    BatchTask task;
    double problems = 1e5;
    bool no_host = false;
    CLI::App app("Many small problems at once");
    app.add_option("--problems", problems, "how many")->check(is_size);
    app.add_option("--n", task.n, "variables: 5, 20 or 100")->check(CLI::IsMember({5, 20, 100}));
    app.add_option("--pairs", task.pairs, "m of the rows by reverse communication; of the others it is 5")
        ->check(CLI::Range(1, 64));
    app.add_option("--pgtol", task.pgtol, "the stopping test")->check(is_positive);
    app.add_option("--max-iterations", task.max_iterations, "of a problem")->check(is_positive);
    app.add_option("--threads", task.threads, "of the host")->check(is_positive);
    app.add_option("--repetitions", task.repetitions, "on CUDA, of which the median is printed")->check(is_positive);
    app.add_flag("--bounds", task.bounds, "a box that holds every fourth variable");
    app.add_flag("--single", task.single, "single precision, on CUDA");
    app.add_flag("--no-host", no_host, "CUDA alone");
    return run_program(app, "bench_batch", argc, argv, [&] {
        task.count = static_cast<int64_t>(problems);
        std::printf("n = %d, m = 5, ||P g||_inf <= %g, %s, %s precision\n", task.n, task.pgtol,
                    task.bounds ? "with bounds" : "without bounds", task.single ? "single" : "double");
        if (task.pairs != 5) std::printf("by reverse communication m = %d\n", task.pairs);
        std::printf("%-40s %10s %9s %12s %12s %7s %10s %10s\n", "", "problems", "s", "problems/s", "iterations/s",
                    "conv %", "iterations", "evaluations");
        for (const BatchRow &row : batches_on_cuda(task)) print(row);
        if (no_host) return;
        if (task.n == 5) measure_host<5>(task);
        else if (task.n == 20) measure_host<20>(task);
        else measure_host<100>(task);
    });
}
