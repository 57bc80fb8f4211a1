// Solves in scaled variables with all kinds of scales, including invalid ones. Each call is checked against the
// documentation in the header.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../support/abi.hpp"
#include "abi.hpp"
#include "abi_bounds.hpp"
#include "functions.hpp"

namespace fuzz {

namespace {

template <class Real> class ScaledSolver {
    using Api = cudaopt_test::Abi<Real>;

  public:
    explicit ScaledSolver(Run &run)
        : run_(run), random_(run.random), n_(random_.from_to(1, 40)), m_(static_cast<int32_t>(random_.from_to(1, 8))),
          function_(random_, n_), box_(run, n_) {
        box_.make_sound();
        choose_scales();
        x_.assign(count(), Real(7));
        g_.assign(count(), Real(7));
        diagonal_.assign(count(), Real(1));
        make(s_);
        choose_settings(run_, s_);
    }
    ~ScaledSolver() { cuda_opt_destroy(&s_); }
    ScaledSolver(const ScaledSolver &) = delete;
    ScaledSolver &operator=(const ScaledSolver &) = delete;

    void operator()() {
        run_.trace("%zu bits, %s, %s, %s of all: %.17g", 8 * sizeof(Real), function_.words().c_str(), box_.words,
                   one_ ? "one scale" : "an array of scales, and not that", all_);
        for (std::size_t i = 0; i < count(); i++)
            run_.trace("  %zu: bounds %.17g, %.17g, scale %.17g", i, box_.lower(i), box_.upper(i), scale(i));
        for (int64_t solves = random_.from_to(1, 3); solves > 0; solves--) {
            const auto start = function_.start(random_);
            std::transform(start.begin(), start.end(), x_.begin(), [](double x) { return static_cast<Real>(x); });
            if (solve() == CUDA_OPT_IMPROPER_INPUT) return; // the scales are the same in the next solve
            if (random_.chance(0.5)) warm_start();
            else check_code(run_, s_, "reset", cuda_opt_reset(s_), {0});
        }
    }

  private:
    std::size_t count() const { return static_cast<std::size_t>(n_); }
    double scale(std::size_t i) const { return one_ ? all_ : static_cast<double>(scales_[i]); }
    bool are_good() const {
        for (std::size_t i = 0; i < count(); i++)
            if (!(scale(i) > 0 && scale(i) <= std::numeric_limits<double>::max())) return false;
        return true;
    }

    void choose_scales() {
        const double hostile = random_.chance(0.3) ? random_.uniform(0, 1) : 0;
        const double widest = random_.pick({0.0, 2.0, 6.0, 30.0});
        for (std::size_t i = 0; i < count(); i++) {
            const double scale = random_.chance(hostile) ? random_.hostile() : random_.power_of_10(-widest, widest);
            scales_.push_back(static_cast<Real>(std::clamp(scale, -3e38, sizeof(Real) == 4 ? 3e38 : scale)));
        }
        one_ = random_.chance(0.2);
        all_ = random_.chance(0.3) ? std::fabs(random_.hostile()) : random_.power_of_10(-widest, widest);
    }

    void make(cuda_opt *&s) {
        check_code(run_, nullptr, "create", Api::create(&s, n_, m_, CUDA_OPT_BACKEND_HOST), {0});
        box_.set(s);
        check_code(run_, s, "set_diagonal", Api::set_diagonal(s, diagonal_.data()), {0});
        set_scales(s);
    }
    void set_scales(cuda_opt *s) {
        const bool good = all_ > 0 && all_ < std::numeric_limits<double>::infinity();
        check_code(run_, s, "set_uniform_scale", cuda_opt_set_uniform_scale(s, all_),
                   {good ? 0 : CUDA_OPT_IMPROPER_INPUT}, all_ != all_);
        if (!good) all_ = 1;
        check_code(run_, s, "set_scales", Api::set_scales(s, one_ ? nullptr : scales_.data()), {0});
    }

    int step() {
        const int task = task_ = run_.call("cuda_opt_solve", [&] { return Api::solve(s_, x_.data(), &f_, g_.data()); });
        run_.trace("solve = %d, x[0] = %.17g: %s", task, static_cast<double>(x_[0]), cuda_opt_message(s_));
        check_code(run_, s_, "solve", task,
                   {CUDA_OPT_EVALUATE_FG, CUDA_OPT_SUPPLY_DIAGONAL, CUDA_OPT_NEW_ITERATE, CUDA_OPT_CONVERGED,
                    CUDA_OPT_LINE_SEARCH_FAILED, CUDA_OPT_BAD_DIAGONAL, CUDA_OPT_IMPROPER_INPUT,
                    CUDA_OPT_ITERATION_LIMIT, CUDA_OPT_EVALUATION_LIMIT, CUDA_OPT_TIME_LIMIT, CUDA_OPT_NOT_FINITE,
                    CUDA_OPT_UNBOUNDED, CUDA_OPT_STOPPED},
                   true);
        return task;
    }

    int solve() {
        const auto start = x_;
        int task = 1;
        run_.begin_solve();
        for (int calls = 0; calls < 200 && task > 0; calls++) {
            task = step();
            if (task == CUDA_OPT_IMPROPER_INPUT) check_refusal(start);
            else if (!are_good()) run_.fault("bad_scale_accepted", "%s", cuda_opt_message(s_));
            if (task == CUDA_OPT_EVALUATE_FG) {
                run_.note_evaluation();
                check_point();
                f_ = function_.evaluate(x_.data(), g_.data());
            } else if (task == CUDA_OPT_SUPPLY_DIAGONAL) {
                for (Real &value : diagonal_) value = static_cast<Real>(random_.power_of_10(-3, 3));
            }
            if (random_.chance(0.05)) disturb();
            if (random_.chance(0.03) && task > 0) move();
        }
        run_.end_solve(task <= 0);
        if (task != CUDA_OPT_IMPROPER_INPUT) check_point();
        return task;
    }

    void check_point() {
        for (std::size_t i = 0; i < count(); i++)
            if (!std::isfinite(x_[i]) || !(x_[i] >= box_.lower(i)) || !(x_[i] <= box_.upper(i)))
                run_.fault("x_outside", "x[%zu] = %.17g, bounds %.17g, %.17g, scale %g", i, static_cast<double>(x_[i]),
                           box_.lower(i), box_.upper(i), scale(i));
    }
    void check_refusal(const std::vector<Real> &start) {
        run_.require(std::memcmp(start.data(), x_.data(), count() * sizeof(Real)) == 0, "x_changed_by_refusal",
                     "x was changed though the input was refused");
    }

    // Makes calls that are refused after the first call of a solve, and reads results, which is always possible.
    void disturb() {
        int64_t bytes = 0;
        check_code(run_, s_, "get_int", cuda_opt_get_int(s_, CUDA_OPT_WORKSPACE_BYTES, &bytes), {0});
        run_.require(bytes >= 0, "workspace", "its size is negative");
        if (task_ == CUDA_OPT_IMPROPER_INPUT) return;
        check_code(run_, s_, "late_scales", Api::set_scales(s_, scales_.data()), {CUDA_OPT_MISUSE});
        check_code(run_, s_, "late_scale", cuda_opt_set_uniform_scale(s_, random_.hostile()), {CUDA_OPT_MISUSE}, true);
        std::vector<Real> diagonal(count());
        check_code(run_, s_, "get_diagonal", Api::get_diagonal(s_, diagonal.data()), {0, CUDA_OPT_MISUSE});
        run_.require(Api::set_scales(nullptr, nullptr) == CUDA_OPT_MISUSE, "null", "set_scales(NULL)");
        run_.require(cuda_opt_set_uniform_scale(nullptr, 1) == CUDA_OPT_MISUSE, "null", "set_uniform_scale(NULL)");
    }

    // Continues with a new handle that has the same scales, after a handle with other scales has refused the
    // checkpoint.
    void move() {
        const auto checkpoint = save(run_, s_);
        const auto x = x_;
        const int task = task_;
        const auto load = [&](cuda_opt *s) {
            return run_.call("cuda_opt_load", [&] {
                return Api::load(s, checkpoint.data(), static_cast<int64_t>(checkpoint.size()), x_.data(), &f_,
                                 g_.data());
            });
        };
        cuda_opt *other = nullptr;
        make(other);
        check_code(run_, other, "set_uniform_scale", cuda_opt_set_uniform_scale(other, 3.5), {0});
        check_code(run_, other, "set_scales", Api::set_scales(other, nullptr), {0});
        check_code(run_, other, "load_of_other_scales", load(other), {CUDA_OPT_IMPROPER_INPUT});
        run_.require(std::memcmp(x.data(), x_.data(), count() * sizeof(Real)) == 0, "touched_by_refusal", "x");
        set_scales(other);
        std::fill(x_.begin(), x_.end(), Real(3));
        check_code(run_, other, "load", load(other), {0});
        run_.require(std::memcmp(x.data(), x_.data(), count() * sizeof(Real)) == 0, "loaded_point",
                     "x differs from the saved x");
        cuda_opt_destroy(&s_);
        s_ = other;
        run_.require(step() == task, "loaded_task", "the task differs from the saved task");
        if (task == CUDA_OPT_EVALUATE_FG) f_ = function_.evaluate(x_.data(), g_.data());
    }

    void warm_start() {
        check_code(run_, s_, "warm_start", cuda_opt_warm_start(s_), {0});
        int64_t pairs = 0;
        cuda_opt_get_int(s_, CUDA_OPT_PAIRS, &pairs);
        const int refused = pairs > 0 ? CUDA_OPT_MISUSE : 0;
        check_code(run_, s_, "other_units", one_ ? Api::set_scales(s_, scales_.data()) : Api::set_scales(s_, nullptr),
                   {one_        ? refused
                    : pairs > 0 ? CUDA_OPT_MISUSE
                                : 0});
        set_scales(s_);
    }

    Run &run_;
    Random &random_;
    const int64_t n_;
    const int32_t m_;
    Function function_;
    Bounds<Real> box_;
    cuda_opt *s_ = nullptr;
    std::vector<Real> x_, g_, diagonal_, scales_;
    bool one_ = false; // the scale is one number
    double all_ = 1, f_ = 7;
    int task_ = 0;
};

} // namespace

void scales_episode(Run &run) {
    if (run.random.chance(0.65)) ScaledSolver<double>{run}();
    else ScaledSolver<float>{run}();
}

} // namespace fuzz
