// Tests both forms of the interface of the manual on the host: several random problems at the same time, extreme
// settings, and states, sizes and pointers that no call can produce.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>

#include "cuda_opt_unlp.h"
#include "functions.hpp"
#include "harness.hpp"
#include "hash.hpp"

namespace fuzz {

namespace {

// An exception that a user function throws. It passes through the library.
struct GivenUp {};

void check_message(Run &run, const char *call, int code) {
    const char *message = cuda_opt_unlp_message();
    if (code < 0 && (std::strlen(message) < 8 || !std::strchr(message, ' ')))
        run.fault("sentence", "%s: %d '%s'", call, code, message);
    if (std::strcmp(cuda_opt_task_name(code), "unknown") == 0) run.fault("unknown_code", "%s: %d", call, code);
}

void expect(Run &run, const char *call, int code, bool good) {
    run.trace("%s = %d", call, code);
    if (code != (good ? 0 : CUDA_OPT_IMPROPER_INPUT)) run.fault(std::string("code_of_") + call, "%d", code);
    check_message(run, call, code);
}

void change_a_setting(Run &run) {
    Random &random = run.random;
    const double value = random.chance(0.5) ? random.hostile() : random.power_of_10(-10, 0);
    const auto number = static_cast<int>(random.chance(0.5) ? random.hostile_integer() : random.from_to(0, 30));
    const bool from_0 = std::isfinite(value) && value >= 0;
    switch (random.below(9)) {
    case 0: return expect(run, "enable_first_Hessian", cuda_opt_unlp_enable_first_Hessian(number % 2), true);
    case 1: return expect(run, "change_eps", cuda_opt_unlp_change_eps(value), std::isfinite(value));
    case 2: {
        const auto type = static_cast<int>(random.from_to(-1, 4));
        return expect(run, "set_iprint", cuda_opt_unlp_set_iprint(number, type), type >= 0 && type <= 3);
    }
    case 3: {
        const int code = cuda_opt_unlp_set_GTOL(value);
        run.require(code == (value > 1e-4 && value < 1 ? 0 : 1), "code_of_set_GTOL", "the code is wrong");
        return;
    }
    case 4: return expect(run, "set_STPMIN", cuda_opt_unlp_set_STPMIN(value), from_0);
    case 5: return expect(run, "set_STPMAX", cuda_opt_unlp_set_STPMAX(value), from_0 && value > 0);
    case 6: return expect(run, "set_XTOL", cuda_opt_unlp_set_XTOL(value), from_0);
    case 7: return expect(run, "set_maxfev", cuda_opt_unlp_set_maxfev(number), number >= 1);
    default: return expect(run, "set_icall", cuda_opt_unlp_set_icall(number), number >= 0);
    }
}

void use_utilities(Run &run) {
    Random &random = run.random;
    const auto n = static_cast<int>(random.pick<int64_t>({0, 1, 7, 1000, -1, INT32_MIN}));
    const std::vector<double> values(1000, random.hostile());
    std::vector<double> copied(values.size());
    double sum = 0;
    expect(run, "get_solution", cuda_opt_unlp_get_solution(n, values.data(), copied.data()), n >= 0);
    expect(run, "print_vector", cuda_opt_unlp_print_vector(n, values.data()), n >= 0);
    expect(run, "my_reduce", cuda_opt_unlp_my_reduce(n, values.data(), &sum), n >= 0);
    expect(run, "get_solution", cuda_opt_unlp_get_solution(n, nullptr, copied.data()), false);
    expect(run, "print_vector", cuda_opt_unlp_print_vector(n, nullptr), false);
    expect(run, "my_reduce", cuda_opt_unlp_my_reduce(n, values.data(), nullptr), false);
    int blocks = 0, threads = 0;
    expect(run, "getNumBlocksAndThreads", cuda_opt_unlp_getNumBlocksAndThreads(n, &blocks, &threads), n >= 1);
    expect(run, "getNumBlocksAndThreads", cuda_opt_unlp_getNumBlocksAndThreads(n, &blocks, nullptr), false);
    check_message(run, "set_device_ID", cuda_opt_unlp_set_device_ID(-1));
    expect(run, "release", cuda_opt_unlp_release(&n), false);
}

class Problem {
  public:
    explicit Problem(Run &run)
        : run_(run), random_(run.random), n_(static_cast<int>(random_.from_to(1, 40))),
          m_(static_cast<int>(random_.from_to(1, 20))), function_(random_, n_), x_(function_.start(random_)),
          g_(x_.size()), hess_(x_.size(), 1) {
        eps_ = random_.chance(0.9) ? random_.pick({0.0, 1e-5, 1e-300}) : random_.hostile();
        run.trace("n = %d, m = %d, eps %g, %s", n_, m_, eps_, function_.words().c_str());
    }
    ~Problem() { cuda_opt_unlp_release(&state_); }
    Problem(const Problem &) = delete;
    Problem &operator=(const Problem &) = delete;

    // Executes a whole solve that calls a function.
    void call_back() {
        if (cuda_opt_unlp_release(&state_) != (going_on_ ? 0 : CUDA_OPT_IMPROPER_INPUT))
            run_.fault("release", "the code is wrong");
        give_up(); // this ends the solve by reverse communication, which uses the same arrays
        Problem *const outer = current_;
        current_ = this;
        begin();
        state_ = static_cast<int>(random_.hostile_integer());
        const bool finite_eps = std::isfinite(eps_) && eps_ >= 0;
        int code = 0;
        bool given_up = false;
        evaluations_left_ = random_.chance(0.05) ? random_.from_to(0, 10) : 2000;
        fill_diagonal();
        try {
            code = solve(evaluate_current, x_.data(), n_, m_);
        } catch (const GivenUp &) {
            given_up = true;
        } catch (...) {
            current_ = outer;
            throw;
        }
        current_ = outer;
        run_.trace("the whole solve: %s, code %d: %s", given_up ? "given up" : "done", code, cuda_opt_unlp_message());
        const int state = state_;
        state_ = 0;
        if (given_up) return;
        run_.require(code <= 0 && code == state, "state", "it differs from the returned code");
        if (!finite_eps && code != CUDA_OPT_IMPROPER_INPUT) run_.fault("eps_taken", "%g", eps_);
        check_end(code);
    }

    // Executes one step by reverse communication.
    void step() {
        const double *const x = x_.data();
        const bool starting = state_ == 0;
        if (starting) begin();
        const int code = solve(nullptr, x_.data(), n_, m_);
        going_on_ = code > 0;
        run_.trace("step = %d, x[0] = %.17g: %s", code, x[0], cuda_opt_unlp_message());
        run_.require(code == state_, "state", "it differs from the returned code");
        if (code == 1) evaluate();
        else if (code == 2) fill_diagonal();
        else {
            check_end(code);
            state_ = 0;
        }
    }
    // Executes a step with a state that no call can produce. The step is refused or ends the solve.
    void wrong_step() {
        std::vector<double> elsewhere(x_);
        const int state = state_;
        int code = 0;
        switch (random_.below(7)) {
        case 0: code = solve(nullptr, elsewhere.data(), n_, m_); break;
        case 1: code = solve(nullptr, nullptr, n_, m_); break;
        case 2: code = solve(nullptr, x_.data(), n_, m_ % 20 + 1); break;
        case 3: code = solve(nullptr, x_.data(), std::max(n_ - 1, -1), m_); break;
        case 4: code = solve(nullptr, x_.data(), random_.pick({0, -1, INT32_MIN}), m_); break;
        case 5:
            state_ = static_cast<int>(random_.hostile_integer());
            code = solve(nullptr, x_.data(), n_, m_);
            break;
        default:
            code = cuda_opt_unlp_solve(n_, m_, nullptr, x_.data(), &f_, g_.data(), nullptr, nullptr, eps_, nullptr);
        }
        run_.trace("wrong step at state %d = %d: %s", state, code, cuda_opt_unlp_message());
        check_message(run_, "solve", code);
        // The next step begins a new solve in any case.
        cuda_opt_unlp_release(&state_);
        give_up();
    }
    void release() {
        expect(run_, "release", cuda_opt_unlp_release(&state_), going_on_);
        give_up();
    }

    // Records that no solve is in progress, after all solves of the thread have been released.
    void give_up() {
        state_ = 0;
        going_on_ = false;
    }

  private:
    int solve(cuda_opt_unlp_function eval_fg, double *x, int n, int m) {
        const int code = run_.call("cuda_opt_unlp_solve", [&] {
            return cuda_opt_unlp_solve(n, m, eval_fg, x, &f_, g_.data(), hess_.data(), nullptr, eps_, &state_);
        });
        check_message(run_, "solve", code);
        for (const int known : {0, 1, 2, -1, -2, -3, -10, -20, -31, -40})
            if (code == known) return code;
        run_.fault("code_of_solve", "%d: %s", code, cuda_opt_unlp_message());
    }

    void begin() {
        points_.clear();
        if (random_.chance(0.5)) return;
        const std::vector<double> start = function_.start(random_);
        std::copy(start.begin(), start.end(), x_.begin());
    }

    static void evaluate_current(int n, double *x, double *f, double *g) {
        Problem &problem = *current_;
        problem.run_.require(n == problem.n_ && x == problem.x_.data() && f == &problem.f_ && g == problem.g_.data(),
                             "arguments", "the function receives other arguments than solve");
        if (problem.evaluations_left_-- <= 0) throw GivenUp{};
        problem.evaluate();
        if (problem.random_.chance(0.01)) cuda_opt_unlp_change_eps(problem.random_.chance(0.5) ? 1e-3 : -1);
        // Executes a nested solve. The probability is small, so that the nesting ends.
        if (problem.random_.chance(0.0002)) Problem(problem.run_).call_back();
    }

    void evaluate() {
        for (int i = 0; i < n_; i++)
            if (!std::isfinite(x_[static_cast<std::size_t>(i)]))
                run_.fault("x_not_finite", "x[%d] = %g; %s", i, x_[static_cast<std::size_t>(i)],
                           function_.words().c_str());
        f_ = function_.evaluate(x_.data(), g_.data());
        points_.insert(point());
    }
    void fill_diagonal() {
        const auto kind = random_.below(10);
        for (double &value : hess_)
            value = kind < 6 ? 1 : kind < 8 ? random_.power_of_10(-3, 3) : random_.pick({1e160, 1e-160, 1.0});
        if (random_.chance(0.05)) hess_[static_cast<std::size_t>(random_.below(n_))] = random_.hostile();
    }
    uint64_t point() const { return hash_of(x_.data(), f_, g_.data(), x_.size()); }
    void check_end(int code) {
        const int info = cuda_opt_unlp_info();
        run_.require(info >= 0 && info <= 6, "info", "info is not a value of MCSRCH");
        if (points_.empty() || code == CUDA_OPT_IMPROPER_INPUT || code == CUDA_OPT_MISUSE) return;
        if (points_.count(point()) == 0)
            run_.fault("not_a_triple", "code %d: x, f and g are not those of an evaluation; %s", code,
                       function_.words().c_str());
    }

    static Problem *current_;

    Run &run_;
    Random &random_;
    const int n_, m_;
    Function function_;
    std::vector<double> x_, g_, hess_;
    double f_ = 0, eps_;
    int state_ = 0;
    int64_t evaluations_left_ = 0;
    std::set<uint64_t> points_;
    bool going_on_ = false;
};

Problem *Problem::current_ = nullptr;

void episode(Run &run) {
    Random &random = run.random;
    cuda_opt_unlp_default_settings();
    for (int64_t k = random.below(5); k > 0; k--) change_a_setting(run);
    std::vector<std::unique_ptr<Problem>> problems;
    for (int64_t k = random.from_to(1, 4); k > 0; k--) problems.push_back(std::make_unique<Problem>(run));
    for (int64_t steps = random.from_to(10, 200); steps > 0; steps--) {
        Problem &problem = *problems[static_cast<std::size_t>(random.below(static_cast<int64_t>(problems.size())))];
        const double chance = random.uniform();
        if (chance < 0.01) problem.call_back();
        else if (chance < 0.02) problem.wrong_step();
        else if (chance < 0.03) problem.release();
        else if (chance < 0.05) change_a_setting(run);
        else if (chance < 0.06) use_utilities(run);
        else if (chance < 0.061) {
            expect(run, "release", cuda_opt_unlp_release(nullptr), true);
            for (const auto &each : problems) each->give_up();
        } else problem.step();
    }
}

} // namespace

} // namespace fuzz

int main(int count, char **arguments) { return fuzz::run_episodes(count, arguments, {{"unlp", 1, fuzz::episode}}); }
