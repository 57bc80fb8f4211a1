// Solves whose initial Hessian is an operator of any kind: positive definite, not symmetric, negative, or not finite.
// Each call is checked against the documentation in the header.
#include <algorithm>
#include <cmath>
#include <vector>

#include "../support/abi.hpp"
#include "abi.hpp"
#include "abi_bounds.hpp"
#include "functions.hpp"

namespace fuzz {

namespace {

template <class Real> class SolverWithOperator {
    using Api = cudaopt_test::Abi<Real>;

  public:
    explicit SolverWithOperator(Run &run)
        : run_(run), random_(run.random), n_(random_.from_to(1, 40)), m_(static_cast<int32_t>(random_.from_to(1, 20))),
          function_(random_, n_), box_(run, n_), hostility_(random_.chance(0.5) ? 0 : random_.power_of_10(-3, 0)) {
        box_.make_sound();
        for (std::vector<Real> *vector : {&x_, &g_, &in_, &out_, &is_free_}) vector->assign(count(), Real(7));
        check_code(run_, nullptr, "create", Api::create(&s_, n_, m_, CUDA_OPT_BACKEND_HOST), {0});
        box_.set(s_);
        choose_settings(run_, s_);
        if (random_.chance(0.3))
            check_code(run_, s_, "bits", cuda_opt_set_int(s_, CUDA_OPT_HISTORY_BITS, random_.chance(0.5) ? 16 : 32),
                       {0});
        check_code(run_, s_, "set_int",
                   cuda_opt_set_int(s_, CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_OPERATOR), {0});
    }
    ~SolverWithOperator() { cuda_opt_destroy(&s_); }
    SolverWithOperator(const SolverWithOperator &) = delete;
    SolverWithOperator &operator=(const SolverWithOperator &) = delete;

    void operator()() {
        run_.trace("%zu bits, %s, %s, hostility %g", 8 * sizeof(Real), function_.words().c_str(), box_.words,
                   hostility_);
        if (random_.chance(0.1))
            check_code(run_, s_, "no_arrays", Api::solve(s_, x_.data(), &f_, g_.data()), {CUDA_OPT_MISUSE});
        if (random_.chance(0.1)) {
            check_code(run_, s_, "set_operator", Api::set_operator(s_, in_.data(), out_.data(), is_free_.data()), {0});
            check_code(run_, s_, "set_diagonal", Api::set_diagonal(s_, in_.data()), {0});
            check_code(run_, s_, "with_diagonal", Api::solve(s_, x_.data(), &f_, g_.data()), {CUDA_OPT_MISUSE});
            check_code(run_, s_, "no_diagonal", Api::set_diagonal(s_, nullptr), {0});
        }
        check_code(run_, s_, "set_operator", Api::set_operator(s_, in_.data(), out_.data(), is_free_.data()), {0});
        for (int64_t solves = random_.from_to(1, 3); solves > 0; solves--) {
            const auto start = function_.start(random_);
            std::transform(start.begin(), start.end(), x_.begin(), [](double x) { return static_cast<Real>(x); });
            if (solve() == CUDA_OPT_IMPROPER_INPUT) return;
            if (random_.chance(0.5)) check_code(run_, s_, "warm_start", cuda_opt_warm_start(s_), {0});
            else check_code(run_, s_, "reset", cuda_opt_reset(s_), {0});
        }
    }

  private:
    std::size_t count() const { return static_cast<std::size_t>(n_); }

    int solve() {
        int task = 1;
        run_.begin_solve();
        for (int calls = 0; calls < 300 && task > 0; calls++) {
            task = run_.call("cuda_opt_solve", [&] { return Api::solve(s_, x_.data(), &f_, g_.data()); });
            run_.trace("solve = %d, x[0] = %.17g: %s", task, static_cast<double>(x_[0]), cuda_opt_message(s_));
            check_code(run_, s_, "solve", task,
                       {CUDA_OPT_EVALUATE_FG, CUDA_OPT_APPLY_OPERATOR, CUDA_OPT_NEW_ITERATE, CUDA_OPT_CONVERGED,
                        CUDA_OPT_LINE_SEARCH_FAILED, CUDA_OPT_BAD_OPERATOR, CUDA_OPT_IMPROPER_INPUT,
                        CUDA_OPT_ITERATION_LIMIT, CUDA_OPT_EVALUATION_LIMIT, CUDA_OPT_TIME_LIMIT, CUDA_OPT_NOT_FINITE,
                        CUDA_OPT_UNBOUNDED, CUDA_OPT_STOPPED},
                       true);
            if (task == CUDA_OPT_BAD_OPERATOR && !is_wrong_) run_.fault("operator_refused", "%s", cuda_opt_message(s_));
            if (task == CUDA_OPT_EVALUATE_FG) {
                run_.note_evaluation();
                check_point();
                f_ = function_.evaluate(x_.data(), g_.data());
            } else if (task == CUDA_OPT_APPLY_OPERATOR) {
                apply();
            }
            if (random_.chance(0.05)) disturb();
            if (random_.chance(0.005)) check_code(run_, s_, "request_stop", cuda_opt_request_stop(s_), {0});
            if (random_.chance(0.003)) break; // the next solve begins before this one has ended
        }
        run_.end_solve(task <= 0);
        if (task != CUDA_OPT_IMPROPER_INPUT) check_point();
        return task;
    }

    // Applies a positive diagonal or, if the operator is hostile, returns arbitrary values.
    void apply() {
        const double factor = random_.chance(hostility_ / 4) ? random_.hostile() : 1;
        is_wrong_ = is_wrong_ || factor != 1;
        for (std::size_t i = 0; i < count(); i++) {
            const bool is_free = is_free_[i] == 1;
            if (!is_free && is_free_[i] != 0) run_.fault("mask", "is %g", static_cast<double>(is_free_[i]));
            if (!is_free && in_[i] != 0) run_.fault("unmasked", "v[%zu] = %g", i, static_cast<double>(in_[i]));
            out_[i] = static_cast<Real>(factor * in_[i] * (1.5 + std::sin(static_cast<double>(i))));
            is_wrong_ = is_wrong_ || (is_free && !std::isfinite(out_[i])); // the product overflows
            if (!is_free) out_[i] = static_cast<Real>(random_.hostile());
            if (!random_.chance(hostility_)) continue;
            is_wrong_ = true;
            out_[i] = static_cast<Real>(random_.chance(0.5) ? random_.hostile() : random_.uniform(-2, 2));
        }
    }

    void check_point() {
        for (std::size_t i = 0; i < count(); i++)
            if (!std::isfinite(x_[i]) || !(x_[i] >= box_.lower(i)) || !(x_[i] <= box_.upper(i)))
                run_.fault("x_outside", "x[%zu] = %.17g, bounds %.17g, %.17g", i, static_cast<double>(x_[i]),
                           box_.lower(i), box_.upper(i));
    }

    // Makes calls that are refused after the first call of a solve, and reads results, which is always possible.
    void disturb() {
        int64_t applications = -1, refusals = -1, bytes = 0;
        check_code(run_, s_, "get_int", cuda_opt_get_int(s_, CUDA_OPT_OPERATOR_APPLICATIONS, &applications), {0});
        check_code(run_, s_, "get_int", cuda_opt_get_int(s_, CUDA_OPT_OPERATOR_REFUSALS, &refusals), {0});
        run_.require(0 <= refusals && refusals <= applications, "counts", "more refusals than applications");
        check_code(run_, s_, "save", cuda_opt_save(s_, nullptr, &bytes), {CUDA_OPT_MISUSE});
        int64_t started = 0;
        cuda_opt_get_int(s_, CUDA_OPT_EVALUATIONS, &started);
        if (started == 0) return;
        check_code(run_, s_, "late", Api::set_operator(s_, in_.data(), out_.data(), is_free_.data()),
                   {CUDA_OPT_MISUSE});
        run_.require(Api::set_operator(nullptr, nullptr, nullptr, nullptr) == CUDA_OPT_MISUSE, "null", "set_operator");
    }

    Run &run_;
    Random &random_;
    const int64_t n_;
    const int32_t m_;
    Function function_;
    Bounds<Real> box_;
    const double hostility_;
    bool is_wrong_ = false;
    cuda_opt *s_ = nullptr;
    std::vector<Real> x_, g_, in_, out_, is_free_;
    double f_ = 7;
};

} // namespace

void operator_episode(Run &run) {
    if (run.random.chance(0.6)) SolverWithOperator<double>{run}();
    else SolverWithOperator<float>{run}();
}

} // namespace fuzz
