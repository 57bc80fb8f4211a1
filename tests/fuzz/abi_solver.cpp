// Several solves with one handle. Each call is checked against the documentation in the header.
#include <algorithm>
#include <limits>
#include <cmath>
#include <cstring>
#include <set>
#include <type_traits>

#include "../support/abi.hpp"
#include "abi.hpp"
#include "abi_bounds.hpp"
#include "functions.hpp"
#include "hash.hpp"

namespace fuzz {

namespace {

void check_line(void *user, const char *line) {
    Run &run = *static_cast<Run *>(user);
    // An exception must not pass through the library, so that the fault is noted here and checked afterwards.
    if (!line || std::strchr(line, '\n')) run.trace("a line of the log is NULL or more than one");
}

template <class Real> class Solver {
    using Api = cudaopt_test::Abi<Real>;

  public:
    explicit Solver(Run &run)
        : run_(run), random_(run.random), n_(size(run.random)), m_(static_cast<int32_t>(run.random.from_to(1, 20))),
          function_(random_, n_), box_(run, n_) {
        const int code = run.call("cuda_opt_create", [&] { return Api::create(&s_, n_, m_, CUDA_OPT_BACKEND_HOST); });
        check_code(run, s_, "create", code, {0});
        x_.assign(count(), Real(7));
        g_.assign(count(), Real(7));
        diagonal_.assign(count(), Real(1));
    }
    ~Solver() { cuda_opt_destroy(&s_); }
    Solver(const Solver &) = delete;
    Solver &operator=(const Solver &) = delete;

    void operator()() {
        run_.trace("%zu bits, m = %d, %s, %s", 8 * sizeof(Real), m_, function_.words().c_str(), box_.words);
        const bool quiet = random_.chance(0.5); // no other calls during the solve
        choose_settings(run_, s_);
        cuda_opt_set_log(s_, random_.chance(0.9) ? check_line : nullptr, &run_);
        set_arrays();
        if (!quiet)
            for (int64_t k = random_.below(6); k > 0; k--) disturb(false);
        const int64_t solves = random_.from_to(1, 4);
        for (int64_t k = 0; k < solves && s_; k++) {
            if (k > 0 && random_.chance(0.5)) choose_settings(run_, s_); // also for a warm start
            narrow(function_.start(random_), x_);
            const auto x = x_, g = g_, diagonal = diagonal_;
            const double f = f_;
            const Random random = random_;
            const Function function = function_;
            const Settings settings(s_);
            const auto checkpoint = checkpoint_;
            const bool warm = warm_;
            moving_ = true;
            const uint64_t first = solve(quiet);
            if (!s_ || warm || !random_.chance(0.3)) {
                box_.make_sound();
                continue;
            }
            reset();
            Random after = random_;
            x_ = x, g_ = g, diagonal_ = diagonal, f_ = f, checkpoint_ = checkpoint;
            random_ = random;
            function_ = function;
            settings.put_back(run_, s_);
            cuda_opt_set_int(s_, CUDA_OPT_THREADS, after.from_to(0, 3));
            run_.trace("again");
            moving_ = false;
            run_.require(solve(quiet) == first, "reset_differs",
                         "the same calls after a reset, or without a move to another handle, give different bits");
            random_ = after;
            box_.make_sound();
        }
    }

  private:
    static int64_t size(Random &random) {
        return random.chance(0.02) ? 10000 : random.chance(0.3) ? random.from_to(1, 3) : random.from_to(1, 40);
    }
    template <class From> static void narrow(const From &from, std::vector<Real> &to) {
        to.resize(from.size());
        std::transform(from.begin(), from.end(), to.begin(), [](double value) { return static_cast<Real>(value); });
    }
    double lower(std::size_t i) const { return box_.lower(i); }
    double upper(std::size_t i) const { return box_.upper(i); }
    std::size_t count() const { return static_cast<std::size_t>(n_); }
    int64_t integer(int32_t key) const {
        int64_t value = 0;
        cuda_opt_get_int(s_, key, &value);
        return value;
    }
    double real(int32_t key) const {
        double value = 0;
        cuda_opt_get_real(s_, key, &value);
        return value;
    }

    void set_arrays() {
        box_.set(s_);
        check_code(run_, s_, "set_diagonal", Api::set_diagonal(s_, diagonal_.data()), {0});
        check_code(run_, s_, "set_stream", cuda_opt_set_stream(s_, nullptr), {0});
    }

    void reset() {
        check_code(run_, s_, "reset", run_.call("cuda_opt_reset", [&] { return cuda_opt_reset(s_); }), {0});
        stop_asked_ = warm_ = false;
    }
    void warm_start() {
        check_code(run_, s_, "warm_start", run_.call("cuda_opt_warm_start", [&] { return cuda_opt_warm_start(s_); }),
                   {0});
        run_.trace("warm start with %lld pairs", static_cast<long long>(integer(CUDA_OPT_PAIRS)));
        stop_asked_ = false;
        warm_ = true;
        // The history precision cannot change while correction pairs are stored.
        const int64_t other = integer(CUDA_OPT_HISTORY_BITS) == 16 ? 32 : 16;
        check_code(run_, s_, "set_history_bits", cuda_opt_set_int(s_, CUDA_OPT_HISTORY_BITS, other),
                   {integer(CUDA_OPT_PAIRS) > 0 ? CUDA_OPT_MISUSE : 0});
    }
    int load(cuda_opt *s, const std::vector<unsigned char> &bytes) {
        return run_.call("cuda_opt_load", [&] {
            return Api::load(s, bytes.data(), static_cast<int64_t>(bytes.size()), x_.data(), &f_, g_.data());
        });
    }

    // Continues with a new handle by means of a checkpoint, which does not change the further iterates.
    void move() {
        checkpoint_ = save(run_, s_);
        const int64_t bits_before = random_.pick<int64_t>({64, 32, 16});
        if (!moving_) return;
        const uint64_t before = point();
        const int task = task_;
        cuda_opt *const old = s_;
        const int64_t threads = integer(CUDA_OPT_THREADS);
        check_code(run_, nullptr, "create", Api::create(&s_, n_, m_, CUDA_OPT_BACKEND_HOST), {0});
        box_.change_form();
        set_arrays();
        cuda_opt_set_log(s_, check_line, &run_);
        cuda_opt_set_int(s_, CUDA_OPT_THREADS, threads);
        cuda_opt_set_int(s_, CUDA_OPT_HISTORY_BITS, bits_before); // fails only for 64 bits with single precision
        std::fill(x_.begin(), x_.end(), Real(3));
        std::fill(g_.begin(), g_.end(), Real(3));
        f_ = 3;
        check_code(run_, s_, "load", load(s_, checkpoint_), {0});
        run_.require(point() == before, "loaded_point", "x, f or g differ from the saved ones");
        run_.require(step() == task, "loaded_task", "the task differs from the saved task");
        run_.require(point() == before, "resumed_point", "the first call after a load changed x, f or g");
        cuda_opt *gone = old;
        cuda_opt_destroy(&gone);
        run_.trace("moved to another handle");
    }
    // Tries to load bytes that are not a checkpoint or that belong to another handle, and uses invalid arguments.
    void load_in_vain(bool started) {
        const auto spoilt = spoil(random_, checkpoint_);
        const auto x = x_, g = g_;
        const int code = load(s_, spoilt);
        check_code(run_, s_, "load_spoilt", code, {started ? CUDA_OPT_MISUSE : CUDA_OPT_IMPROPER_INPUT});
        run_.require(std::memcmp(x.data(), x_.data(), count() * sizeof(Real)) == 0 &&
                         std::memcmp(g.data(), g_.data(), count() * sizeof(Real)) == 0,
                     "touched_by_refusal", "x or g was changed though the checkpoint was refused");
        check_code(run_, s_, "load_null", Api::load(s_, nullptr, 100, x_.data(), &f_, g_.data()), {CUDA_OPT_MISUSE});
        check_code(run_, s_, "save_null", cuda_opt_save(s_, checkpoint_.data(), nullptr), {CUDA_OPT_MISUSE});
        if (!started) {
            int64_t bytes = random_.hostile_integer();
            check_code(run_, s_, "save_nothing", cuda_opt_save(s_, nullptr, &bytes), {CUDA_OPT_MISUSE});
        }
        if (checkpoint_.empty()) return;
        cuda_opt *other = nullptr;
        const int32_t m = m_ + static_cast<int32_t>(random_.from_to(1, 2));
        check_code(run_, nullptr, "create", Api::create(&other, n_, m, CUDA_OPT_BACKEND_HOST), {0});
        check_code(run_, other, "load_of_other_m", load(other, checkpoint_), {CUDA_OPT_IMPROPER_INPUT});
        cuda_opt_destroy(&other);
    }

    // Makes a call that was not requested. It must not affect the later iterates, except by settings.
    void disturb(bool started) {
        const auto kind = random_.below(12);
        if (kind == 11) return box_.disturb(s_, started);
        if (kind == 10) return load_in_vain(started);
        if (kind < 6) return disturb_settings(run_, s_, started);
        if (kind < 8) return disturb_helpers(run_, s_);
        const int code = kind == 8 ? misused(started) : solve_in_other_precision();
        check_code(run_, s_, "misuse", code, {CUDA_OPT_MISUSE});
    }
    int solve_in_other_precision() {
        using Other = std::conditional_t<sizeof(Real) == 8, float, double>;
        Other x = 0, g = 0;
        double f = 0;
        return cudaopt_test::Abi<Other>::solve(s_, &x, &f, &g);
    }
    int misused(bool started) {
        switch (random_.below(started ? 5 : 3)) {
        case 0: return cuda_opt_search_solve(s_, nullptr, nullptr);
        case 1: return cuda_opt_search_set_steps(s_, nullptr);
        case 2: return Api::solve(s_, nullptr, nullptr, nullptr);
        case 3: return Api::set_bounds(s_, nullptr, nullptr);
        default: return cuda_opt_set_stream(s_, nullptr);
        }
    }

    int step() {
        const int task = task_ = run_.call("cuda_opt_solve", [&] { return Api::solve(s_, x_.data(), &f_, g_.data()); });
        run_.trace("solve = %d, x[0] = %.17g: %s", task, static_cast<double>(x_[0]), cuda_opt_message(s_));
        check_code(run_, s_, "solve", task,
                   {CUDA_OPT_EVALUATE_FG, CUDA_OPT_SUPPLY_DIAGONAL, CUDA_OPT_NEW_ITERATE, CUDA_OPT_CONVERGED,
                    CUDA_OPT_LINE_SEARCH_FAILED, CUDA_OPT_BAD_DIAGONAL, CUDA_OPT_IMPROPER_INPUT,
                    CUDA_OPT_ITERATION_LIMIT, CUDA_OPT_EVALUATION_LIMIT, CUDA_OPT_TIME_LIMIT, CUDA_OPT_NOT_FINITE,
                    CUDA_OPT_UNBOUNDED, CUDA_OPT_STOPPED},
                   std::isnan(f_) || any_nan());
        return task;
    }
    bool any_nan() const {
        const auto nan = [](const std::vector<Real> &values) {
            return std::any_of(values.begin(), values.end(), [](Real value) { return std::isnan(value); });
        };
        return nan(x_) || box_.any_nan();
    }

    // Solves from the start until the solve ends or the number of calls is reached. Returns a hash of all points and
    // results.
    uint64_t solve(bool quiet) {
        Hash all;
        evaluated_.clear();
        given_ = shown_ = 0;
        reported_ = lowest_since_ = infinity;
        finite_start_ = false;
        const auto refused = x_;
        const int64_t most = random_.chance(0.2) ? random_.from_to(1, 20) : 300;
        int task = 1;
        run_.begin_solve();
        for (int64_t calls = 0; calls < most && task > 0; calls++) {
            const bool stopping = stop_asked_;
            task = step();
            if (stopping && task > 0) run_.fault("stop_ignored", "after request_stop a task of %d", task);
            const double shown = task;
            all.add(&shown, 1).add(x_.data(), count());
            check_counts();
            if (task == CUDA_OPT_IMPROPER_INPUT) {
                check_refusal(refused);
                break;
            }
            if (task == CUDA_OPT_EVALUATE_FG) {
                run_.note_evaluation();
                evaluate();
            } else if (task == CUDA_OPT_SUPPLY_DIAGONAL) supply_diagonal();
            else if (task == CUDA_OPT_NEW_ITERATE) check_iterate(true);
            else check_end(task);
            all.add(&f_, 1).add(g_.data(), count());
            if (!quiet && random_.chance(0.15)) disturb(true);
            if (!quiet && random_.chance(0.01)) {
                check_code(run_, s_, "request_stop", cuda_opt_request_stop(s_), {0});
                stop_asked_ = true;
            }
            if (random_.chance(0.02) && !stop_asked_) move();
            if (!quiet && random_.chance(0.003)) {
                cuda_opt_destroy(&s_);
                return 0;
            }
            if (!quiet && random_.chance(0.005)) break; // followed by a reset before the end
        }
        run_.end_solve(task <= 0);
        if (task <= 0 && task != CUDA_OPT_IMPROPER_INPUT) {
            const uint64_t before = point();
            check_code(run_, s_, "solve_after_end", Api::solve(s_, x_.data(), &f_, g_.data()), {CUDA_OPT_MISUSE});
            run_.require(point() == before, "touched_after_end", "x was changed by a call after the end");
        }
        if (task == CUDA_OPT_IMPROPER_INPUT) return all.value(); // this return code requires no reset
        if (random_.chance(0.3)) read_diagonal();
        if (random_.chance(0.3)) warm_start();
        else reset();
        return all.value();
    }

    void read_diagonal() {
        std::vector<Real> learned(count(), Real(-1));
        check_code(run_, s_, "get_diagonal", Api::get_diagonal(s_, learned.data()), {0, CUDA_OPT_MISUSE});
        if (integer(CUDA_OPT_METRIC) == CUDA_OPT_METRIC_DIAGONAL || learned[0] == -1) return;
        for (const Real h : learned) // h may be 0 or infinite if 1 / theta is not representable in Real
            run_.require(h >= 0, "diagonal", "an element of the learned diagonal is negative, or NaN");
    }

    void evaluate() {
        for (std::size_t i = 0; i < count(); i++)
            if (!std::isfinite(x_[i]) || !(x_[i] >= lower(i)) || !(x_[i] <= upper(i)))
                run_.fault("x_outside", "x[%zu] = %.17g of %zu bits, bounds %.17g, %.17g, evaluation %lld; %s, %s", i,
                           static_cast<double>(x_[i]), 8 * sizeof(Real), lower(i), upper(i),
                           static_cast<long long>(given_ + 1), function_.words().c_str(), box_.words);
        f_ = function_.evaluate(x_.data(), g_.data());
        given_++;
        run_.trace("  f = %.17g, g[0] = %g", f_, static_cast<double>(g_[0]));
        evaluated_.insert(point());
        const bool finite =
            std::isfinite(f_) && std::all_of(g_.begin(), g_.end(), [](Real g) { return std::isfinite(g); });
        if (given_ == 1) finite_start_ = finite, f_shown_ = f_;
        if (finite) lowest_since_ = std::min(lowest_since_, f_);
    }
    uint64_t point() const { return hash_of(x_.data(), f_, g_.data(), count()); }

    void supply_diagonal() {
        check_iterate(false);
        const auto kind = random_.below(12);
        for (Real &value : diagonal_)
            value = static_cast<Real>(kind < 6    ? 1
                                      : kind < 10 ? random_.power_of_10(-3, 3)
                                                  : random_.pick({1e160, 1e-160, 1e300, 1.0, 1e20, 1e-20}));
        if (random_.chance(0.05))
            diagonal_[static_cast<std::size_t>(random_.below(n_))] = static_cast<Real>(random_.hostile());
    }

    void check_refusal(const std::vector<Real> &before) {
        const bool odd_start = std::any_of(before.begin(), before.end(), [](Real x) { return !std::isfinite(x); });
        if (box_.consistent() && !odd_start) run_.fault("refused", "%s", cuda_opt_message(s_));
        const bool same = std::equal(x_.begin(), x_.end(), before.begin(),
                                     [](Real a, Real b) { return a == b || (std::isnan(a) && std::isnan(b)); });
        run_.require(same, "x_changed_by_refusal", "x was changed though the input was refused");
    }

    void check_counts() {
        for (const int32_t key : int_results)
            if (integer(key) < 0)
                run_.fault("negative_count", "key %d: %lld", key, static_cast<long long>(integer(key)));
        const int64_t evaluations = integer(CUDA_OPT_EVALUATIONS);
        if (evaluations < given_ || evaluations > given_ + 1)
            run_.fault("evaluations", "%lld, but %lld were made", static_cast<long long>(evaluations),
                       static_cast<long long>(given_));
        run_.require(integer(CUDA_OPT_PAIRS) <= m_, "pairs", "more pairs than m");
    }

    // Checks that x, f and g belong to an iterate and that the results agree with them.
    void check_iterate(bool reported) {
        if (evaluated_.count(point()) == 0)
            run_.fault("not_a_triple", "x, f and g are not those of an evaluation: %s", cuda_opt_message(s_));
        if (!finite_start_) return;
        if (reported) {
            reported_ = std::min(reported_, f_);
            lowest_since_ = f_;
            f_before_ = f_shown_;
            f_shown_ = f_;
            shown_++;
        }
        long double squares = 0, x_squares = 0;
        double largest = 0;
        int64_t at_lower = 0, at_upper = 0;
        for (std::size_t i = 0; i < count(); i++) {
            const double x = x_[i], g = g_[i], to_bound = g < 0 ? x - upper(i) : x - lower(i);
            const double projected = g < 0 ? std::max(to_bound, g) : std::min(to_bound, g);
            squares += static_cast<long double>(projected) * projected;
            x_squares += static_cast<long double>(x) * x;
            largest = std::max(largest, std::fabs(projected));
            if (x == lower(i)) at_lower++;
            else if (x == upper(i)) at_upper++;
        }
        pg_norm_ = std::sqrt(squares);
        pg_largest_ = largest;
        x_norm_ = std::sqrt(x_squares);
        check_real("F", CUDA_OPT_F, f_);
        check_real("PG_NORM_INF", CUDA_OPT_PG_NORM_INF, pg_largest_);
        check_real("PG_NORM2", CUDA_OPT_PG_NORM2, pg_norm_);
        check_real("X_NORM2", CUDA_OPT_X_NORM2, x_norm_);
        if (integer(CUDA_OPT_LOWER_COUNT) != at_lower || integer(CUDA_OPT_UPPER_COUNT) != at_upper)
            run_.fault("bound_counts", "%lld and %lld, but they are %lld and %lld",
                       static_cast<long long>(integer(CUDA_OPT_LOWER_COUNT)),
                       static_cast<long long>(integer(CUDA_OPT_UPPER_COUNT)), static_cast<long long>(at_lower),
                       static_cast<long long>(at_upper));
        for (const int32_t key : {CUDA_OPT_STEP, CUDA_OPT_THETA, CUDA_OPT_CAUCHY_T, CUDA_OPT_DIRECTION_NORM2})
            if (std::isnan(real(key))) run_.fault("nan_result", "key %d", key);
    }
    void check_real(const char *name, int32_t key, long double expected) {
        // A norm that is not representable is reported as the largest number.
        if (std::isfinite(expected)) expected = std::min<long double>(expected, std::numeric_limits<double>::max());
        const long double value = real(key), size = std::fabs(expected);
        const long double allowed = 1e-9L * size + (size < 1e-307L ? 1e-307L : 0);
        // The squares of very large and very small numbers are not representable.
        const bool in_range = key == CUDA_OPT_PG_NORM_INF || key == CUDA_OPT_F || (size > 1e-150L && size < 1e150L);
        if (!(std::fabs(value - expected) <= allowed))
            run_.lesser_fault(std::string("result_") + name + (in_range ? "" : "_beyond_squares"),
                              "%.17Lg, but it is %.17Lg; %s", value, expected, function_.words().c_str());
    }

    void check_end(int code) {
        if (given_ == 0) return;
        check_iterate(false);
        if (!finite_start_) return run_.require(code <= 0, "start_not_finite", "");
        const int64_t test = integer(CUDA_OPT_STOP_TEST);
        const bool gradient = test == CUDA_OPT_EPS || test == CUDA_OPT_PGTOL;
        // With a noise level, the best iterate is the one with the smallest projected gradient.
        const bool noisy = real(CUDA_OPT_NOISE) > 0 || real(CUDA_OPT_NOISE_ABS) > 0;
        if (!(f_ <= reported_) && !(code == 0 && gradient) && !noisy)
            run_.fault("not_the_best", "f = %.17g, but an iterate had %.17g; code %d", f_, reported_, code);
        // A function that is not reproducible may not have its lowest value again. Version 3.0 does not save the best
        // iterate.
        const bool to_be_found = function_.honest() && integer(CUDA_OPT_ROBUST) == 1;
        if (code == CUDA_OPT_LINE_SEARCH_FAILED && to_be_found && shown_ == integer(CUDA_OPT_ITERATIONS) &&
            lowest_since_ < f_)
            run_.fault("better_trial_lost", "f = %.17g, but a trial point of the last line search had %.17g; %s", f_,
                       lowest_since_, function_.words().c_str());
        if (code != 0)
            return run_.require(test == 0, "stop_test", "the stopping test is set though the solve did not converge");
        const long double slack = 1 + 1e-9L;
        if (test == CUDA_OPT_EPS) {
            const long double limit = static_cast<long double>(real(CUDA_OPT_EPS)) * std::max(1.0L, x_norm_);
            if (!(pg_norm_ <= limit * slack)) run_.fault("eps_untrue", "%Lg against %Lg", pg_norm_, limit);
        } else if (test == CUDA_OPT_PGTOL) {
            if (!(pg_largest_ <= real(CUDA_OPT_PGTOL) * slack))
                run_.fault("pgtol_untrue", "%Lg against %g", pg_largest_, real(CUDA_OPT_PGTOL));
        } else if (test == CUDA_OPT_F_TARGET) {
            run_.require(f_ <= real(CUDA_OPT_F_TARGET), "target_untrue", "f is above F_TARGET");
        } else if (test == CUDA_OPT_ROUNDING) {
            run_.require(integer(CUDA_OPT_ROBUST) == 1 && real(CUDA_OPT_ROUNDING) > 0, "rounding_untrue",
                         "this test is disabled");
        } else if (test == CUDA_OPT_NOISE) {
            run_.require(integer(CUDA_OPT_ROBUST) == 1 && noisy, "noise_untrue", "this test is disabled");
        } else if (test != CUDA_OPT_FACTR) run_.fault("stop_test", "%lld", static_cast<long long>(test));
    }

    Run &run_;
    Random &random_;
    const int64_t n_;
    const int32_t m_;
    Function function_;
    Bounds<Real> box_;
    cuda_opt *s_ = nullptr;
    std::vector<Real> x_, g_, diagonal_;
    double f_ = 7;
    int task_ = 0;                          // the last task
    std::vector<unsigned char> checkpoint_; // the checkpoint of the last move, which may belong to an earlier solve
    bool moving_ = true;                    // whether the solve moves between handles by checkpoints
    bool warm_ = false;                     // whether the next solve begins with the pairs of the last one
    std::set<uint64_t> evaluated_;
    int64_t given_ = 0, shown_ = 0;     // numbers of evaluations and of reported iterates
    double f_shown_ = 0, f_before_ = 0; // f of the last two iterates that were reported
    bool finite_start_ = false, stop_asked_ = false;
    // lowest f of the reported iterates, and of the trial points since the last of them
    double reported_ = infinity, lowest_since_ = infinity;
    long double pg_norm_ = 0, pg_largest_ = 0, x_norm_ = 0;
};

} // namespace

void solver_episode(Run &run) {
    if (run.random.chance(0.65)) Solver<double>{run}();
    else Solver<float>{run}();
}

} // namespace fuzz
