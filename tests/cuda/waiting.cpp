// A call that waits for kernels of the caller returns if its time limit is reached or if a stop is requested. It must
// return the right code and the last accepted iterate in the caller's arrays, and the handle must be usable afterwards.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../support/configurations.hpp"
#include "cuda_opt.hpp"
#include "on_device.hpp"

using namespace cudaopt_test;

namespace {

// No test limits the time of a call. The kernel for which a call waits does not end before let_go(), so that a call
// that returns before has not waited for it.
constexpr double limit = 0.3; // MAX_SECONDS

// Does something after 0.3 s in another thread.
class Later {
  public:
    void start(const std::function<void()> &action) {
        thread_ = std::thread([action] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            action();
        });
    }
    ~Later() {
        if (thread_.joinable()) thread_.join();
    }

  private:
    std::thread thread_;
};

struct Ending {
    int task = 0;
    int64_t iterations = 0, evaluations = 0;
    std::string message;
};

template <class Real> struct Iterate {
    std::vector<Real> x, g;
    std::vector<double> f;
    bool operator==(const Iterate &other) const { return x == other.x && g == other.g && f == other.f; }
};

// A solve whose evaluations and diagonals are kernels on the legacy default stream. Some bounds are active at the
// solution.
template <class Configuration> class Run {
  public:
    using Real = typename Configuration::Real;

    Run()
        : s_(n, 5, Configuration::backend), x_(s_, n), g_(s_, n), f_(s_, 1), lower_(s_, std::vector<Real>(n, -1)),
          upper_(s_, std::vector<Real>(n, Real(0.8))), diagonal_(s_, std::vector<Real>(n, Real(0.5))) {
        s_.set_int(CUDA_OPT_REPORT_ITERATES, 1).set_real(CUDA_OPT_EPS, 1e-4);
        s_.set_bounds(lower_, upper_);
        s_.set_diagonal(diagonal_.data());
    }

    cudaopt::Minimiser<Real> &handle() { return s_; }
    // Set the action before the kernels of the evaluation or of the diagonal with this number, counted from 1.
    void at_evaluation(int64_t number, std::function<void()> action) { slow_evaluation_ = number, act_ = action; }
    void at_diagonal(int64_t number, std::function<void()> action) { slow_diagonal_ = number, act_ = action; }
    void undisturbed() { slow_evaluation_ = slow_diagonal_ = 0; }

    Ending to_the_end() {
        s_.reset();
        const std::vector<Real> start(n, Real(0.1));
        x_.write(0, start.data(), n);
        accepted_ = {start, {}, {}};
        Ending ending;
        int64_t evaluations = 0, diagonals = 0;
        for (;;) {
            ending.task = s_.solve(x_, f_, g_);
            if (ending.task == CUDA_OPT_EVALUATE_FG) {
                if (++evaluations == slow_evaluation_) act_();
                on_device::bowl(n, x_.data(), f_.data(), g_.data());
            } else if (ending.task == CUDA_OPT_SUPPLY_DIAGONAL) {
                if (++diagonals == slow_diagonal_) act_();
            } else if (ending.task == CUDA_OPT_NEW_ITERATE) {
                accepted_ = there();
            } else {
                break;
            }
        }
        ending.iterations = s_.get_int(CUDA_OPT_ITERATIONS);
        ending.evaluations = s_.get_int(CUDA_OPT_EVALUATIONS);
        ending.message = s_.message();
        return ending;
    }
    // Returns the iterate at the last NEW_ITERATE. Before the first one, it contains only x of the start.
    const Iterate<Real> &accepted() const { return accepted_; }
    Iterate<Real> there() const { return {x_.to_host(), g_.to_host(), f_.to_host()}; }

    // Solves with a time limit until an evaluation or a diagonal is held. If the limit is reached before, it is raised.
    Ending to_the_limit() {
        bool held = false;
        act_ = [&held] {
            held = true;
            on_device::hold();
        };
        Ending ending;
        for (double seconds = limit; !held && seconds < 100; seconds *= 4) {
            s_.reset();
            s_.set_real(CUDA_OPT_MAX_SECONDS, seconds);
            ending = to_the_end();
        }
        return ending;
    }

  private:
    static constexpr int64_t n = 150;
    cudaopt::Minimiser<Real> s_;
    cudaopt::Array<Real> x_, g_;
    cudaopt::Array<double> f_;
    cudaopt::Array<Real> lower_, upper_, diagonal_;
    int64_t slow_evaluation_ = 0, slow_diagonal_ = 0;
    std::function<void()> act_;
    Iterate<Real> accepted_;
};

// Checks the result of a solve in which a call has stopped waiting, and a repetition with the same handle.
template <class Configuration>
void check_given_up(Run<Configuration> &run, const Ending &ending, int code,
                    const Iterate<typename Configuration::Real> &solution) {
    CHECK(ending.task == code);
    CHECK(ending.message.find("while the call waited for the stream") != std::string::npos);
    CHECK(run.handle().get_real(CUDA_OPT_SOLVER_SECONDS) >= 0);
    CHECK(on_device::is_busy());

    on_device::let_go();
    on_device::synchronize();
    if (run.accepted().f.empty()) CHECK(run.there().x == run.accepted().x);
    else CHECK(run.there() == run.accepted());

    run.handle().set_real(CUDA_OPT_MAX_SECONDS, 0);
    run.undisturbed();
    CHECK(run.to_the_end().task == CUDA_OPT_CONVERGED);
    CHECK(run.there() == solution);
}

} // namespace

CONFIGURED_TEST_CASE("MAX_SECONDS ends a call that waits for the caller's kernel", "[waiting]", CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    Run<TestType> run;
    const Ending undisturbed = run.to_the_end();
    const auto solution = run.there();
    REQUIRE(undisturbed.task == CUDA_OPT_CONVERGED);
    REQUIRE(undisturbed.evaluations > 6);
    for (const int64_t evaluation : {1, 2, 6}) {
        INFO("evaluation " << evaluation);
        run.at_evaluation(evaluation, nullptr);
        const Ending ending = run.to_the_limit();
        CHECK(ending.evaluations == evaluation);
        check_given_up(run, ending, CUDA_OPT_TIME_LIMIT, solution);
    }
}

CONFIGURED_TEST_CASE("request_stop ends a call that waits for the caller's kernel", "[waiting]", CudaDouble,
                     CudaFloat) {
    if (skipped<TestType>()) return;
    Run<TestType> run;
    REQUIRE(run.to_the_end().task == CUDA_OPT_CONVERGED);
    const auto solution = run.there();
    for (const int64_t evaluation : {1, 5}) {
        INFO("evaluation " << evaluation);
        Ending ending;
        {
            Later stop;
            run.at_evaluation(evaluation, [&] {
                on_device::hold();
                stop.start([&] { run.handle().request_stop(); });
            });
            ending = run.to_the_end();
        }
        check_given_up(run, ending, CUDA_OPT_STOPPED, solution);
    }
}

TEST_CASE("MAX_SECONDS ends a call that waits for the caller's diagonal", "[waiting]") {
    if (skipped<CudaDouble>()) return;
    Run<CudaDouble> run;
    run.handle().set_int(CUDA_OPT_DIAGCO, 1);
    REQUIRE(run.to_the_end().task == CUDA_OPT_CONVERGED);
    const auto solution = run.there();
    run.at_diagonal(3, nullptr);
    check_given_up(run, run.to_the_limit(), CUDA_OPT_TIME_LIMIT, solution);
}

TEST_CASE("request_stop ends a call that waits for the caller's diagonal", "[waiting]") {
    if (skipped<CudaDouble>()) return;
    Run<CudaDouble> run;
    run.handle().set_int(CUDA_OPT_DIAGCO, 1);
    REQUIRE(run.to_the_end().task == CUDA_OPT_CONVERGED);
    const auto solution = run.there();
    Ending ending;
    {
        Later stop;
        run.at_diagonal(3, [&] {
            on_device::hold();
            stop.start([&] { run.handle().request_stop(); });
        });
        ending = run.to_the_end();
    }
    check_given_up(run, ending, CUDA_OPT_STOPPED, solution);
}

TEST_CASE("A solve can begin while kernels of the previous solve are still running", "[waiting]") {
    if (skipped<CudaDouble>()) return;
    Run<CudaDouble> run;
    REQUIRE(run.to_the_end().task == CUDA_OPT_CONVERGED);
    const auto solution = run.there();
    run.at_evaluation(4, nullptr);
    CHECK(run.to_the_limit().task == CUDA_OPT_TIME_LIMIT);
    CHECK(on_device::is_busy());
    run.handle().set_real(CUDA_OPT_MAX_SECONDS, 0);
    run.undisturbed();
    Later release;
    release.start(on_device::let_go);
    CHECK(run.to_the_end().task == CUDA_OPT_CONVERGED); // the call waits for the kernel without a time limit
    CHECK(run.there() == solution);
}

TEST_CASE("A call after request_stop waits until a short evaluation has ended", "[waiting]") {
    if (skipped<CudaDouble>()) return;
    Run<CudaDouble> run;
    run.at_evaluation(4, [&] {
        on_device::hold(0.01);
        run.handle().request_stop();
    });
    const Ending ending = run.to_the_end();
    CHECK(ending.task == CUDA_OPT_STOPPED);
    CHECK(ending.message.find("while the call waited for the stream") == std::string::npos);
}

namespace {

constexpr int search_variables = 2;
constexpr int64_t walks = 64;

// A pattern search whose values are computed by kernels on the legacy default stream.
class SearchRun {
  public:
    explicit SearchRun(int64_t at_smallest) {
        check(cuda_opt_create_search(&s_, search_variables, walks, CUDA_OPT_BACKEND_CUDA));
        points_ = array(search_variables * 2 * walks);
        values_ = array(2 * walks);
        lower_ = array(search_variables);
        upper_ = array(search_variables);
        for (const auto &[to, value] : {std::pair(lower_, -1.0), std::pair(upper_, 2.0)}) {
            const std::vector<double> bounds(search_variables, value);
            check(cuda_opt_copy_in(s_, to, bounds.data(), search_variables * sizeof(double)));
        }
        check(cuda_opt_set_bounds(s_, lower_, upper_));
        check(cuda_opt_set_int(s_, CUDA_OPT_AT_SMALLEST_STEP, at_smallest));
        check(cuda_opt_set_int(s_, CUDA_OPT_HALVINGS, 6));
        check(cuda_opt_set_int(s_, CUDA_OPT_MAX_ITERATIONS, 200));
    }
    ~SearchRun() {
        for (double *memory : {points_, values_, lower_, upper_}) cuda_opt_free(s_, memory);
        cuda_opt_destroy(&s_);
    }
    SearchRun(const SearchRun &) = delete;
    SearchRun &operator=(const SearchRun &) = delete;

    cuda_opt *handle() { return s_; }
    void check(int code) { cudaopt::check(s_, code); }
    Ending to_the_end(int64_t slow_batch, const std::function<void()> &act) {
        check(cuda_opt_reset(s_));
        Ending ending;
        for (int64_t batch = 1;; batch++) {
            ending.task = cuda_opt_search_solve(s_, points_, values_);
            if (ending.task != CUDA_OPT_EVALUATE_BATCH) break;
            int64_t size = 0;
            check(cuda_opt_get_int(s_, CUDA_OPT_BATCH, &size));
            if (batch == slow_batch) act();
            on_device::squares(search_variables, walks, size, points_, values_);
        }
        ending.message = cuda_opt_message(s_);
        return ending;
    }
    double best() {
        double f = 0;
        check(cuda_opt_get_real(s_, CUDA_OPT_F, &f));
        return f;
    }

  private:
    double *array(int64_t size) {
        void *memory = nullptr;
        check(cuda_opt_alloc(s_, &memory, size * static_cast<int64_t>(sizeof(double))));
        return static_cast<double *>(memory);
    }
    cuda_opt *s_ = nullptr;
    double *points_ = nullptr, *values_ = nullptr, *lower_ = nullptr, *upper_ = nullptr;
};

constexpr int64_t end_of_an_iteration = 1 + search_variables; // the number of the last batch of the first iteration

} // namespace

TEST_CASE("MAX_SECONDS ends a pattern search that waits for the caller's kernel", "[waiting]") {
    if (skipped<CudaDouble>()) return;
    SearchRun search(1); // with this rule, each iteration ends with a count of the walks that continue
    REQUIRE(search.to_the_end(0, nullptr).task == CUDA_OPT_CONVERGED);
    const double best = search.best();
    bool held = false;
    Ending ending;
    for (double seconds = limit; !held && seconds < 100; seconds *= 4) { // the limit may be reached before
        search.check(cuda_opt_reset(search.handle()));
        search.check(cuda_opt_set_real(search.handle(), CUDA_OPT_MAX_SECONDS, seconds));
        ending = search.to_the_end(end_of_an_iteration, [&held] {
            held = true;
            on_device::hold();
        });
    }
    CHECK(ending.task == CUDA_OPT_TIME_LIMIT);
    CHECK(ending.message.find("while the call waited for the stream") != std::string::npos);
    CHECK(on_device::is_busy());
    on_device::let_go();
    CHECK(search.best() >= best); // this query waits for the kernel
    search.check(cuda_opt_set_real(search.handle(), CUDA_OPT_MAX_SECONDS, 0));
    CHECK(search.to_the_end(0, nullptr).task == CUDA_OPT_CONVERGED);
    CHECK(search.best() == best);
}

TEST_CASE("request_stop ends a pattern search that waits for the caller's values", "[waiting]") {
    if (skipped<CudaDouble>()) return;
    SearchRun search(0); // with this rule, only the query of the best value at the end waits
    CHECK(search.to_the_end(0, nullptr).task == CUDA_OPT_ITERATION_LIMIT);
    const Ending ending = search.to_the_end(end_of_an_iteration, [&] {
        on_device::hold();
        cuda_opt_request_stop(search.handle());
    });
    CHECK(ending.task == CUDA_OPT_STOPPED);
    CHECK(ending.message.find("while the call waited for the stream") != std::string::npos);
    CHECK(on_device::is_busy());
    on_device::let_go();
}
