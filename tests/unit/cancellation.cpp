// If a backend never replies, a solve ends when a stop is requested or its time limit is reached, in whichever sweep it
// waits. Then x, f and g are those of the best iterate, and a new solve can begin. The backend of these tests is the
// host's, except that one of its replies never comes.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "../support/forwarded_sweeps.hpp"
#include "cuda_opt.h"
#include "solver/solver.hpp"

using namespace cudaopt;
using cudaopt_test::ForwardedSweeps;

namespace {

using Vector = std::vector<double>;

// Waits until the token interrupts it.
[[noreturn]] void wait_for_ever(CancellationToken &cancellation) {
    for (;;) {
        cancellation.check();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// These are the host's sweeps, except that the call number silent_sweep of sweep 1 waits forever.
class Silent final : public ForwardedSweeps {
  public:
    explicit Silent(int64_t n) : ForwardedSweeps(make_host_sweeps<double, double>(n)) {}

    int64_t silent_sweep = 0; // counted from 1 in each solve; 0 means that none waits forever
    std::function<void()> when_silent = [] {};
    bool is_silent() const { return sweeps_begun_ == silent_sweep; }

    void allocate(int m, const BackendOptions &options) override {
        sweeps_begun_ = 0;
        cancellation_ = options.cancellation;
        ForwardedSweeps::allocate(m, options);
    }
    const PanelProducts &inner_products(const ProductsRequest &request) override {
        if (++sweeps_begun_ == silent_sweep) {
            when_silent();
            wait_for_ever(*cancellation_);
        }
        return ForwardedSweeps::inner_products(request);
    }

  private:
    CancellationToken *cancellation_ = nullptr;
    int64_t sweeps_begun_ = 0;
};

// The chained Rosenbrock function 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2. Some of its line searches take more than one
// evaluation.
double rosenbrock(const Vector &x, Vector &g) {
    double f = 0;
    std::fill(g.begin(), g.end(), 0);
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        f += 100 * a * a + b * b;
        g[i] += -400 * x[i] * a - 2 * b;
        g[i + 1] += 200 * a;
    }
    return f;
}

class Run {
  public:
    Run() : solver_(n, 5, 64, CUDA_OPT_BACKEND_HOST, -1, make_silent), x_(n), g_(n) {
        solver_.arrays = {x_.data(), g_.data(), &f_, nullptr, nullptr, nullptr};
        solver_.settings().report_iterates = true;
    }
    Solver &solver() { return solver_; }
    Silent &sweeps() { return static_cast<Silent &>(solver_.sweeps()); }

    int to_the_end() {
        solver_.reset();
        x_.assign(n, -1.2);
        best_x_ = x_;
        best_g_.clear();
        for (;;) {
            const int task = solver_.resume();
            if (task == CUDA_OPT_NEW_ITERATE) {
                best_x_ = x_;
                best_g_ = g_;
                best_f_ = f_;
            } else if (task == CUDA_OPT_EVALUATE_FG) {
                f_ = rosenbrock(x_, g_);
            } else {
                return task;
            }
        }
    }
    bool holds_the_best() const { return x_ == best_x_ && (best_g_.empty() || (g_ == best_g_ && f_ == best_f_)); }
    const Vector &x() const { return x_; }

  private:
    static constexpr int64_t n = 30;
    static std::unique_ptr<Sweeps> make_silent(int, int64_t size, int, int) { return std::make_unique<Silent>(size); }

    Solver solver_;
    Vector x_, g_, best_x_, best_g_;
    double f_ = 0, best_f_ = 0;
};

// max_seconds: the time limit, 0 for none. On a busy machine, it may be reached before the sweep that waits. The solve
// is then repeated with a longer limit.
void check_silence(Run &run, int64_t gather, int code, const Vector &solution, double max_seconds = 0) {
    INFO("sweep 1 waits forever in call " << gather);
    run.sweeps().silent_sweep = gather;
    int task = 0;
    do {
        run.solver().settings().max_seconds = max_seconds;
        task = run.to_the_end();
        max_seconds *= 4;
    } while (!run.sweeps().is_silent() && max_seconds > 0 && max_seconds < 100);
    CHECK(task == code);
    CHECK(run.holds_the_best());
    CHECK(std::string(run.solver().message().text()).find("while the call waited for the stream") != std::string::npos);
    CHECK(run.solver().ended());
    CHECK(run.solver().resume() == CUDA_OPT_MISUSE);

    run.sweeps().silent_sweep = 0;
    run.solver().settings().max_seconds = 0;
    CHECK(run.to_the_end() == CUDA_OPT_CONVERGED);
    CHECK(run.x() == solution);
}

} // namespace

TEST_CASE("A stop request interrupts a wait in any evaluation and leaves the best iterate", "[cancellation]") {
    Run run;
    REQUIRE(run.to_the_end() == CUDA_OPT_CONVERGED);
    REQUIRE(run.solver().results().evaluations > run.solver().results().iterations + 1);
    const Vector solution = run.x();
    run.sweeps().when_silent = [&] { run.solver().stop_requested = true; };
    for (int64_t gather = 1; gather <= 12; gather++) check_silence(run, gather, CUDA_OPT_STOPPED, solution);
}

TEST_CASE("A time limit interrupts a wait and leaves the best iterate", "[cancellation]") {
    Run run;
    REQUIRE(run.to_the_end() == CUDA_OPT_CONVERGED);
    const Vector solution = run.x();
    for (const int64_t gather : {1, 2, 7}) check_silence(run, gather, CUDA_OPT_TIME_LIMIT, solution, 0.1);
}

TEST_CASE("A cancellation token interrupts waits only during a call", "[cancellation]") {
    std::atomic<bool> stop{true};
    CancellationToken cancellation(stop);
    const auto looks = [&] { // for longer than the grace period
        for (int k = 0; k < 40; k++) {
            cancellation.check();
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    };
    CHECK_NOTHROW(looks());
    cancellation.begin_call(CancellationToken::Clock::now(), 0);
    CHECK_THROWS_AS(wait_for_ever(cancellation), Interrupted);
    cancellation.end_call();
    CHECK_NOTHROW(looks());
}

TEST_CASE("A backend that overrides neither history() nor subtree_sums() returns nothing from them", "[sweeps]") {
    Silent sweeps(3);
    const HistoryVectors history = sweeps.history();
    CHECK(history.first == nullptr);
    CHECK(history.m == 0);
    CHECK(sweeps.subtree_sums() == nullptr);
}
