// Figure 1 of the 2013 manual: the relative difference in the 2-norm between the iterates of sequential L-BFGS-B 3.0
// and those of the host and of the CUDA backend, each of the three solving from the standard start by itself:
//
//     bench_iterates [--n 1e6] [--m 7] [--problem rosenbrock] [--max-iterations 60] [--csv FILE] [--svg FILE]
#include <cmath>
#include <optional>

#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/colours.hpp"
#include "bench/common/setulb_caller.hpp" // of L-BFGS-B 3.0's own, which is linked here
#include "drivers/svg_plot.hpp"
#include "prepared_solve.hpp"
#include "whole_run.hpp"

using namespace cudaopt::bench;

namespace {

// 3.0 from one iterate to the next.
class Sequential {
  public:
    explicit Sequential(const RunOptions &options)
        : problem_(cudaopt::testfuncs::make_problem(options.problem, options.n)),
          caller_(start(), infinite(-1), infinite(1), options.m, 0, 0) {
        place_.threads = 1;
    }
    // Whether there is one more.
    bool next() {
        do {
            caller_.call();
            if (caller_.says("FG")) problem_->evaluate(caller_.x.data(), &caller_.f, caller_.g.data(), place_);
        } while (caller_.says("FG"));
        return caller_.says("NEW_X");
    }
    const std::vector<double> &x() const { return caller_.x; }
    double f() const { return caller_.f; }

  private:
    std::vector<double> start() const {
        std::vector<double> x(static_cast<std::size_t>(problem_->n()));
        problem_->start(0, problem_->n(), x.data());
        return x;
    }
    std::vector<double> infinite(int sign) const {
        return std::vector<double>(static_cast<std::size_t>(problem_->n()),
                                   sign * std::numeric_limits<double>::infinity());
    }

    const std::unique_ptr<cudaopt::testfuncs::Problem> problem_;
    SetulbCaller caller_;
    cudaopt::testfuncs::Place place_;
};

// One of the backends, likewise.
class Backend {
  public:
    Backend(RunOptions options, const std::string &backend) : prepared_(named(options, backend)) {
        prepared_.handle.set_int(CUDA_OPT_REPORT_ITERATES, 1);
        prepared_.handle.set_real(CUDA_OPT_EPS, 1e-5); // the manual's test; prepare() has turned off the others
        x_.resize(static_cast<std::size_t>(prepared_.n));
    }
    bool next() {
        int task;
        while ((task = prepared_.solve()) == CUDA_OPT_EVALUATE_FG) prepared_.evaluate();
        prepared_.x.read(0, x_.data(), prepared_.n);
        return task == CUDA_OPT_NEW_ITERATE;
    }
    double apart(const std::vector<double> &y) const {
        double difference = 0, length = 0;
        for (std::size_t i = 0; i < y.size(); i++) {
            difference += (x_[i] - y[i]) * (x_[i] - y[i]);
            length += y[i] * y[i];
        }
        return std::sqrt(difference / length);
    }

  private:
    static const RunOptions &named(RunOptions &options, const std::string &backend) {
        options.backend = backend;
        return options;
    }
    PreparedSolve<double> prepared_;
    std::vector<double> x_;
};

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.m = 7;
    double n = 1e6;
    int64_t most = 60;
    CLI::App app("The iterates of both backends beside those of sequential L-BFGS-B 3.0");
    app.add_option("--n", n, "number of variables")->check(is_size);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 1000));
    app.add_option("--problem", o.problem, "an unconstrained problem of driver_program --list");
    app.add_option("--threads", o.threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--max-iterations", most, "the most iterates")->check(CLI::Range(1, 1000000));
    const Files files(app, true);
    return run_program(app, "bench_iterates", argc, argv, [&] {
        o.n = static_cast<int64_t>(n);
        Output csv(files.csv), picture(files.svg);
        const std::string where = machine();
        Sequential sequential(o);
        Backend host(o, "host");
        std::optional<Backend> cuda;
        if (have_cuda()) cuda.emplace(o, "cuda");
        std::printf(
            "%s, n = %lld, no bounds, m = %d: ||x - x(3.0)|| / ||x(3.0)|| of each iterate\n%s\n\n%10s %20s %12s "
            "%12s\n",
            o.problem.c_str(), static_cast<long long>(o.n), o.m, where.c_str(), "iteration", "f of 3.0", "host",
            "CUDA");
        csv.write("iteration,f,host,cuda,machine\n");
        driver::Plot plot{"Relative difference of the iterates from those of L-BFGS-B 3.0", where, "iterations", {}};
        const std::vector<std::string> colours = colours_of(std::vector<std::string>{"host", "CUDA"});
        plot.series = {{"host", colours[0], {}, {}}, {"CUDA", colours[1], {}, {}}};
        int64_t k = 0;
        while (k < most && sequential.next()) {
            const bool both = host.next() && (!cuda || cuda->next());
            if (!both) break; // a backend has ended
            k++;
            const double of_host = host.apart(sequential.x()), of_cuda = cuda ? cuda->apart(sequential.x()) : absent;
            std::printf("%10lld %20.12e %12.2e %s\n", static_cast<long long>(k), sequential.f(), of_host,
                        cell("%.2e", 12, of_cuda).c_str());
            csv.write(csv_row(k, sequential.f(), of_host, of_cuda, where));
            for (std::size_t which : {0, 1}) {
                plot.series[which].x.push_back(static_cast<double>(k));
                plot.series[which].y.push_back(which == 0 ? of_host : of_cuda);
            }
        }
        std::printf(
            "\nEach goes its own way with the same start, on one thread, on all threads and on the GPU: what is apart "
            "is rounding, in another order\nof additions. It ends where a backend's ||g|| is below 1e-5 max(1, "
            "||x||). The manual's figure 1 has no readable numbers; it speaks of a\nsmall loss between iterations 30 "
            "and 35, of its GPU over a sequential L-BFGS.\n");
        if (!cuda) std::printf("CUDA backend: not run, there is none here.\n");
        picture.write(driver::svg(plot));
    });
}
