// Pattern searches with one handle. Each call is checked against the documentation in the header.
#include <algorithm>
#include <cmath>

#include "abi.hpp"
#include "functions.hpp"

namespace fuzz {

namespace {

class Search {
  public:
    explicit Search(Run &run)
        : run_(run), random_(run.random), n_(random_.from_to(1, 5)), walks_(random_.from_to(1, 60)),
          function_(random_, n_, true), lower_(static_cast<std::size_t>(n_)), upper_(lower_), steps_(lower_),
          points_(static_cast<std::size_t>(2 * n_ * walks_)), values_(static_cast<std::size_t>(2 * walks_)) {
        const int code = run.call("cuda_opt_create_search",
                                  [&] { return cuda_opt_create_search(&s_, n_, walks_, CUDA_OPT_BACKEND_HOST); });
        check_code(run, s_, "create_search", code, {0});
        const bool odd = random_.chance(0.1);
        for (std::size_t j = 0; j < lower_.size(); j++) {
            lower_[j] = random_.uniform(-3, 1);
            upper_[j] = lower_[j] + random_.pick({0.0, 1e-300, 1.0, 5.0, 1e300});
            steps_[j] = random_.pick({1e-300, 0.1, 1.0, 1e300});
            if (odd) (random_.chance(0.5) ? lower_ : random_.chance(0.5) ? upper_ : steps_)[j] = random_.hostile();
        }
        sound_ = !odd;
    }
    ~Search() { cuda_opt_destroy(&s_); }
    Search(const Search &) = delete;
    Search &operator=(const Search &) = delete;

    void operator()() {
        run_.trace("search of %lld variables, %lld walks, %s", static_cast<long long>(n_),
                   static_cast<long long>(walks_), function_.words().c_str());
        integer(CUDA_OPT_THREADS, random_.pick<int64_t>({1, 2, 0, 17}));
        integer(CUDA_OPT_SEARCH_SEED, random_.pick<int64_t>({0, 1, INT64_MAX, 12345}));
        const int64_t rule = random_.from_to(0, 2), round = random_.chance(0.3) ? random_.from_to(1, 12) : 0;
        integer(CUDA_OPT_AT_SMALLEST_STEP, rule);
        integer(CUDA_OPT_ROUND_ITERATIONS, round);
        if (rule == 1 && round > 0) sound_ = false; // this combination is refused
        integer(CUDA_OPT_HALVINGS, random_.pick<int64_t>({1, 2, 16, 1000}));
        integer(CUDA_OPT_MAX_ITERATIONS, random_.pick<int64_t>({1, 5, 30, 0}));
        if (random_.chance(0.2)) integer(CUDA_OPT_MAX_EVALUATIONS, random_.from_to(1, 2000));
        if (random_.chance(0.2)) check_code(run_, s_, "set_real", cuda_opt_set_real(s_, CUDA_OPT_F_TARGET, 0.1), {0});
        for (int64_t k = random_.below(6); k > 0; k--) disturb(false);
        check_code(run_, s_, "set_bounds", cuda_opt_set_bounds(s_, lower_.data(), upper_.data()), {0});
        const double *steps = random_.chance(0.5) ? steps_.data() : nullptr;
        check_code(run_, s_, "set_steps", cuda_opt_search_set_steps(s_, steps), {0});
        for (int64_t k = random_.from_to(1, 3); k > 0 && s_; k--) search();
    }

  private:
    void integer(int32_t key, int64_t value) { check_code(run_, s_, "set_int", cuda_opt_set_int(s_, key, value), {0}); }
    int64_t count(int32_t key) const {
        int64_t value = -1;
        cuda_opt_get_int(s_, key, &value);
        return value;
    }

    void disturb(bool started) {
        int64_t number = 0;
        double value = 0;
        const auto key = static_cast<int32_t>(random_.from_to(95, 125));
        switch (random_.below(8)) {
        case 0: number = cuda_opt_set_int(s_, key, random_.chance(0.5) ? -1 : INT64_MIN); break;
        case 1: number = cuda_opt_set_real(s_, static_cast<int32_t>(random_.from_to(200, 210)), std::nan("")); break;
        case 2: number = cuda_opt_get_int(s_, static_cast<int32_t>(random_.from_to(98, 345)), &number); break;
        case 3: number = cuda_opt_get_real(s_, static_cast<int32_t>(random_.from_to(198, 412)), &value); break;
        case 4: return disturb_helpers(run_, s_);
        case 5: {
            const int code = misused(started);
            return check_code(run_, s_, "misuse", code, {CUDA_OPT_MISUSE});
        }
        case 6: {
            const int64_t walk = random_.chance(0.5) ? random_.from_to(-1, walks_) : random_.hostile_integer();
            std::vector<double> x(lower_.size());
            const bool there = walk >= 0 && walk < walks_;
            const int wanted = evaluations_ == 0 ? CUDA_OPT_MISUSE : there ? 0 : CUDA_OPT_IMPROPER_INPUT;
            check_code(run_, s_, "search_walk", cuda_opt_search_walk(s_, walk, x.data(), &value), {wanted});
            check_code(run_, s_, "search_ranked", cuda_opt_search_ranked(s_, walk, &number), {wanted});
            if (wanted == 0) check_in_box(x.data(), 1);
            return;
        }
        default: return;
        }
        check_code(run_, s_, "search_key", static_cast<int>(number > 0 ? 0 : number),
                   {0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_MISUSE}, true);
    }
    int misused(bool started) {
        double value = 0;
        switch (random_.below(started ? 5 : 3)) {
        case 0: return cuda_opt_solve(s_, &value, &value, &value);
        case 1: return cuda_opt_set_diagonal(s_, &value);
        case 2: return cuda_opt_set_log(s_, nullptr, nullptr);
        case 3: return cuda_opt_set_bounds(s_, lower_.data(), upper_.data());
        default: return cuda_opt_search_solve(s_, &value, &value);
        }
    }

    void check_in_box(const double *x, std::size_t stride) {
        for (std::size_t j = 0; j < lower_.size(); j++)
            if (!(x[j * stride] >= lower_[j] && x[j * stride] <= upper_[j]))
                run_.fault("search_point_outside", "coordinate %zu: %.17g in %.17g, %.17g", j, x[j * stride], lower_[j],
                           upper_[j]);
    }

    void search() {
        std::vector<double> x(lower_.size()), g(lower_.size());
        evaluations_ = 0;
        double best = infinity;
        int task = CUDA_OPT_EVALUATE_BATCH;
        run_.begin_solve();
        for (int64_t calls = 0; calls < 200 && task > 0; calls++) {
            task = run_.call("cuda_opt_search_solve",
                             [&] { return cuda_opt_search_solve(s_, points_.data(), values_.data()); });
            run_.trace("search_solve = %d: %s", task, cuda_opt_message(s_));
            check_code(run_, s_, "search_solve", task,
                       {CUDA_OPT_EVALUATE_BATCH, CUDA_OPT_CONVERGED, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_ITERATION_LIMIT,
                        CUDA_OPT_EVALUATION_LIMIT, CUDA_OPT_NOT_FINITE, CUDA_OPT_STOPPED},
                       !sound_);
            if (task == CUDA_OPT_IMPROPER_INPUT) {
                run_.require(!sound_, "search_refused", cuda_opt_message(s_));
                return;
            }
            const int64_t batch = count(CUDA_OPT_BATCH);
            run_.require((batch > 0) == (task > 0) && batch <= 2 * walks_, "batch", "the number of points is wrong");
            if (count(CUDA_OPT_EVALUATIONS) != evaluations_ && task > 0)
                run_.fault("search_evaluations", "the count is wrong");
            for (int64_t p = 0; p < batch; p++) {
                check_in_box(points_.data() + p, static_cast<std::size_t>(2 * walks_));
                for (std::size_t j = 0; j < x.size(); j++)
                    x[j] = points_[j * static_cast<std::size_t>(2 * walks_) + static_cast<std::size_t>(p)];
                double &value = values_[static_cast<std::size_t>(p)];
                value = function_.evaluate(x.data(), g.data());
                if (std::isfinite(value)) best = std::min(best, value);
            }
            evaluations_ += batch;
            if (batch > 0) run_.note_evaluation();
            if (random_.chance(0.1)) {
                // The library does not receive the values before the next call.
                const int64_t given = evaluations_;
                evaluations_ = count(CUDA_OPT_EVALUATIONS);
                disturb(true);
                evaluations_ = given;
            }
            if (random_.chance(0.005)) check_code(run_, s_, "request_stop", cuda_opt_request_stop(s_), {0});
            if (random_.chance(0.005)) return cuda_opt_destroy(&s_);
        }
        run_.end_solve(task <= 0);
        if (task <= 0 && evaluations_ > 0) check_end(task, best);
        check_code(run_, s_, "reset", cuda_opt_reset(s_), {0});
        evaluations_ = 0;
    }

    void check_end(int code, double best) {
        double f = 0, value = 0;
        int64_t walk = -1;
        cuda_opt_get_real(s_, CUDA_OPT_F, &f);
        if (count(CUDA_OPT_EVALUATIONS) == 0) return; // the search was stopped before it read the first values
        std::vector<double> x(lower_.size()), g(lower_.size());
        if (code != CUDA_OPT_STOPPED && f != best)
            run_.fault("search_best", "%.17g, but the lowest evaluated f is %.17g", f, best);
        check_code(run_, s_, "search_ranked", cuda_opt_search_ranked(s_, 0, &walk), {0});
        if (walk != count(CUDA_OPT_BEST_WALK)) run_.fault("search_rank", "walk %lld", static_cast<long long>(walk));
        check_code(run_, s_, "search_walk", cuda_opt_search_walk(s_, walk, x.data(), &value), {0});
        check_in_box(x.data(), 1);
        if (value != f) run_.fault("search_walk", "%.17g, but F is %.17g", value, f);
        if (std::isfinite(f) && function_.evaluate(x.data(), g.data()) != f)
            run_.fault("search_point", "f differs from f at the point of the best walk");
        check_code(run_, s_, "search_solve", cuda_opt_search_solve(s_, points_.data(), values_.data()),
                   {CUDA_OPT_MISUSE});
    }

    Run &run_;
    Random &random_;
    const int64_t n_, walks_;
    Function function_;
    std::vector<double> lower_, upper_, steps_, points_, values_;
    cuda_opt *s_ = nullptr;
    bool sound_ = true;
    int64_t evaluations_ = 0;
};

} // namespace

void search_episode(Run &run) { Search{run}(); }

} // namespace fuzz
