// Batches with one handle. Each call is checked against the documentation in the header, and the result of each problem
// against that of a batch with this problem alone.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "abi.hpp"
#include "cuda_opt_batch.h"
#include "functions.hpp"

namespace fuzz {

namespace {

// The data of a problem and its results.
template <class Real> struct Member {
    Function function;
    std::vector<Real> start, lower, upper, diagonal;
    bool bounds_sound;
    std::vector<Real> x, g;
    double f = 0;
    int64_t code = 0, evaluations = 0;
    double lowest = infinity; // lowest f of the evaluations with finite f and g
};

template <class Real> class Batch {
  public:
    static constexpr bool wide = sizeof(Real) == 8;

    explicit Batch(Run &run)
        : run_(run), random_(run.random), n_(random_.pick<int64_t>({1, 2, 3, 4, 5, 8, 13})),
          count_(random_.from_to(1, 12)), m_(static_cast<int32_t>(random_.pick<int64_t>({1, 2, 3, 5, 20}))) {
        const double largest = wide ? 1e300 : 1e30;
        for (int64_t p = 0; p < count_; p++) {
            Member<Real> one{Function(random_, n_, random_.chance(0.6)), {}, {}, {}, {}, true, {}, {}};
            const Box box(random_, n_, largest);
            const auto start = one.function.start(random_);
            one.bounds_sound = box.sound;
            for (std::size_t i = 0; i < static_cast<std::size_t>(n_); i++) {
                one.start.push_back(static_cast<Real>(start[i]));
                one.lower.push_back(static_cast<Real>(box.lower.empty() ? -infinity : box.lower[i]));
                one.upper.push_back(static_cast<Real>(box.upper.empty() ? infinity : box.upper[i]));
                const double weight = std::pow(10, random_.from_to(-6, 6));
                one.diagonal.push_back(static_cast<Real>(
                    random_.chance(0.02) ? random_.pick({0.0, -1.0, double(NAN), infinity, 1e-300, 1e300}) : weight));
            }
            members_.push_back(std::move(one));
        }
        packed_ = random_.chance(0.4);
        robust_ = random_.chance(0.85);
        threads_ = random_.pick<int64_t>({1, 1, 2, 3, 17});
        eps_ = random_.pick({1e-5, 1e-3, 1e-12, 0.0});
        iterations_ = random_.pick<int64_t>({1, 7, 40, 100});
        evaluations_ = random_.chance(0.2) ? random_.from_to(1, 60) : 0;
        approximate_ = random_.chance(0.2);
        metric_ = random_.pick<int64_t>({0, 0, 1, 2});
        every_ = random_.pick<int64_t>({0, 1, 1, 2, 7});
    }

    void operator()() {
        run_.trace("batch of %lld problems of %lld variables, m = %d, %s precision", static_cast<long long>(count_),
                   static_cast<long long>(n_), m_, wide ? "double" : "single");
        cuda_opt *s = nullptr;
        const std::vector<Member<Real>> fresh = members_;
        const bool to_its_end = solve(s, members_, true);
        if (to_its_end && !stopped_) {
            const auto which = static_cast<std::size_t>(random_.below(count_));
            std::vector<Member<Real>> alone{fresh[which]};
            cuda_opt *other = nullptr;
            solve(other, alone, false);
            compare(members_[which], alone[0]);
            cuda_opt_destroy(&other);
        }
        if (s && random_.chance(0.5)) check_code(run_, s, "batch_reset", cuda_opt_reset(s), {0});
        cuda_opt_destroy(&s);
    }

  private:
    static int call(cuda_opt *s, double *x, double *f, double *g) { return cuda_opt_batch_solve(s, x, f, g); }
    static int call(cuda_opt *s, float *x, double *f, float *g) { return cuda_opt_batch_solve_f32(s, x, f, g); }
    static int bound(cuda_opt *s, const double *l, const double *u) { return cuda_opt_batch_set_bounds(s, l, u); }
    static int bound(cuda_opt *s, const float *l, const float *u) { return cuda_opt_batch_set_bounds_f32(s, l, u); }
    static int weigh(cuda_opt *s, const double *h) { return cuda_opt_batch_set_diagonal(s, h); }
    static int weigh(cuda_opt *s, const float *h) { return cuda_opt_batch_set_diagonal_f32(s, h); }

    void set(cuda_opt *s) {
        const auto integer = [&](int32_t key, int64_t value) {
            check_code(run_, s, "batch_set_int", cuda_opt_set_int(s, key, value), {0});
        };
        integer(CUDA_OPT_BATCH_PACKED, packed_);
        integer(CUDA_OPT_ROBUST, robust_);
        integer(CUDA_OPT_THREADS, threads_);
        integer(CUDA_OPT_MAX_ITERATIONS, iterations_);
        integer(CUDA_OPT_MAX_EVALUATIONS, evaluations_);
        integer(CUDA_OPT_APPROXIMATE_CAUCHY, approximate_);
        integer(CUDA_OPT_METRIC, metric_);
        integer(CUDA_OPT_DIAGONAL_EVERY, every_);
        check_code(run_, s, "batch_set_real", cuda_opt_set_real(s, CUDA_OPT_EPS, eps_), {0});
    }

    // Makes one call in a wrong order or with hostile arguments.
    void disturb(cuda_opt *s, bool started) {
        double value = 0;
        int64_t number = 0;
        std::vector<double> values(static_cast<std::size_t>(count_));
        std::vector<int64_t> numbers(values.size());
        switch (random_.below(9)) {
        case 0:
            return check_code(run_, s, "batch_misuse", cuda_opt_solve(s, &value, &value, &value), {CUDA_OPT_MISUSE});
        case 1: return check_code(run_, s, "batch_misuse", cuda_opt_warm_start(s), {CUDA_OPT_MISUSE});
        case 2: return check_code(run_, s, "batch_misuse", cuda_opt_search_solve(s, &value, &value), {CUDA_OPT_MISUSE});
        case 3: return check_code(run_, s, "batch_misuse", cuda_opt_save(s, nullptr, &number), {CUDA_OPT_MISUSE});
        case 4: {
            const int64_t problem = random_.hostile_integer();
            if (std::strlen(cuda_opt_batch_message(s, problem)) < 8)
                run_.fault("batch_message", "the message is too short");
            return;
        }
        case 5:
            return check_code(run_, s, "batch_get_int",
                              cuda_opt_batch_get_int(s, static_cast<int32_t>(random_.from_to(98, 505)), numbers.data()),
                              {0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_MISUSE}, true);
        case 6:
            return check_code(
                run_, s, "batch_get_real",
                cuda_opt_batch_get_real(s, static_cast<int32_t>(random_.from_to(198, 412)), values.data()),
                {0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_MISUSE}, true);
        case 7: return disturb_helpers(run_, s);
        default:
            if (started)
                check_code(run_, s, "batch_pointers", call(s, static_cast<Real *>(nullptr), &value, nullptr),
                           {CUDA_OPT_MISUSE});
        }
    }

    // Returns whether the solve has ended.
    bool solve(cuda_opt *&s, std::vector<Member<Real>> &members, bool with_disturbances) {
        const auto count = static_cast<int64_t>(members.size());
        const auto create = wide ? cuda_opt_create_batch : cuda_opt_create_batch_f32;
        const int made =
            run_.call("cuda_opt_create_batch", [&] { return create(&s, n_, count, m_, CUDA_OPT_BACKEND_HOST); });
        check_code(run_, s, "create_batch", made, {0});
        set(s);
        std::vector<Real> x, lower, upper;
        for (const Member<Real> &one : members) {
            x.insert(x.end(), one.start.begin(), one.start.end());
            lower.insert(lower.end(), one.lower.begin(), one.lower.end());
            upper.insert(upper.end(), one.upper.begin(), one.upper.end());
        }
        std::vector<Real> g(x.size(), Real(NAN)), diagonal(x.size(), Real(NAN));
        std::vector<double> f(members.size(), NAN);
        check_code(run_, s, "batch_set_bounds", bound(s, lower.data(), upper.data()), {0});
        if (metric_ == CUDA_OPT_METRIC_DIAGONAL) {
            if (with_disturbances && random_.chance(0.1)) // no diagonal is given
                check_code(run_, s, "batch_no_diagonal", call(s, x.data(), f.data(), g.data()), {CUDA_OPT_MISUSE});
            check_code(run_, s, "batch_set_diagonal", weigh(s, diagonal.data()), {0});
        }
        const int64_t stop_at = with_disturbances && random_.chance(0.05) ? random_.below(20) : -1;
        int task = CUDA_OPT_EVALUATE_BATCH;
        run_.begin_solve();
        for (int64_t round = 0; round < 4000 && task > 0; round++) {
            if (with_disturbances && random_.chance(0.05)) disturb(s, round > 0);
            if (round == stop_at) {
                cuda_opt_request_stop(s);
                stopped_ = true;
            }
            task = run_.call("cuda_opt_batch_solve", [&] { return call(s, x.data(), f.data(), g.data()); });
            run_.trace("batch_solve = %d: %s", task, cuda_opt_message(s));
            if (task == CUDA_OPT_MISUSE || task == CUDA_OPT_OUT_OF_MEMORY) run_.fault("batch_solve", "%d", task);
            evaluate(s, members, task, x, f, g, diagonal);
        }
        run_.end_solve(task <= 0);
        if (task > 0) return false;
        finish(s, members, task, x, f, g);
        return true;
    }

    void evaluate(cuda_opt *s, std::vector<Member<Real>> &members, int task, std::vector<Real> &x,
                  std::vector<double> &f, std::vector<Real> &g, std::vector<Real> &diagonal) {
        int64_t active = -1;
        std::fill(diagonal.begin(), diagonal.end(), Real(NAN));
        cuda_opt_get_int(s, CUDA_OPT_BATCH, &active);
        const int64_t *const list = cuda_opt_batch_active(s);
        if ((active > 0) != (task > 0) || (list != nullptr) != (task > 0) ||
            active > static_cast<int64_t>(members.size()))
            run_.fault("batch_active", "%lld after task %d", static_cast<long long>(active), task);
        for (int64_t k = 0; k < active; k++) {
            if (k > 0 && list[k] <= list[k - 1])
                run_.fault("batch_list", "the list of active problems is not ascending");
            Member<Real> &one = members[static_cast<std::size_t>(list[k])];
            const auto row = static_cast<std::size_t>(packed_ ? k : list[k]);
            Real *const at = x.data() + row * one.start.size(), *const gradient = g.data() + row * one.start.size();
            check_in_box(one, at);
            run_.note_evaluation();
            f[row] = one.function.evaluate(at, gradient);
            std::copy(one.diagonal.begin(), one.diagonal.end(),
                      diagonal.begin() + static_cast<int64_t>(row * one.start.size()));
            one.evaluations++;
            bool finite = std::isfinite(f[row]);
            for (std::size_t i = 0; i < one.start.size(); i++) finite = finite && std::isfinite(gradient[i]);
            if (finite) one.lowest = std::min(one.lowest, f[row]);
        }
    }

    void check_in_box(const Member<Real> &one, const Real *x) const {
        for (std::size_t i = 0; i < one.start.size(); i++)
            if (!(x[i] >= one.lower[i] && x[i] <= one.upper[i] && std::isfinite(x[i])))
                const_cast<Run &>(run_).fault("batch_outside", "%.17g in %.17g, %.17g", static_cast<double>(x[i]),
                                              static_cast<double>(one.lower[i]), static_cast<double>(one.upper[i]));
    }

    void finish(cuda_opt *s, std::vector<Member<Real>> &members, int task, const std::vector<Real> &x,
                const std::vector<double> &f, const std::vector<Real> &g) {
        std::vector<int64_t> codes(members.size()), evaluations(members.size());
        check_code(run_, s, "batch_codes", cuda_opt_batch_get_int(s, CUDA_OPT_BATCH_CODE, codes.data()), {0}, true);
        check_code(run_, s, "batch_counts", cuda_opt_batch_get_int(s, CUDA_OPT_EVALUATIONS, evaluations.data()), {0},
                   true);
        const auto first = std::find_if(codes.begin(), codes.end(), [](int64_t code) { return code != 0; });
        if (task != (first == codes.end() ? 0 : *first))
            run_.fault("batch_code", "%d is not the code of the first problem that failed", task);
        for (std::size_t p = 0; p < members.size(); p++) {
            Member<Real> &one = members[p];
            const auto n = static_cast<std::size_t>(n_);
            one.x.assign(x.begin() + static_cast<int64_t>(p * n), x.begin() + static_cast<int64_t>((p + 1) * n));
            one.g.assign(g.begin() + static_cast<int64_t>(p * n), g.begin() + static_cast<int64_t>((p + 1) * n));
            one.f = f[p];
            one.code = codes[p];
            const bool refused = one.code == CUDA_OPT_IMPROPER_INPUT;
            if (one.code > 0) run_.fault("batch_end", "problem %zu has not ended", p);
            if (!one.bounds_sound && !refused)
                run_.fault("batch_bounds", "problem %zu: %lld", p, static_cast<long long>(one.code));
            if (refused) {
                if (one.evaluations != 0 || std::memcmp(one.x.data(), one.start.data(), n * sizeof(Real)) != 0)
                    run_.fault("batch_refused", "problem %zu was refused, but was evaluated or changed", p);
                continue;
            }
            check_in_box(one, one.x.data());
            if (!stopped_ && evaluations[p] != one.evaluations)
                run_.fault("batch_evaluations", "problem %zu: %lld, but %lld were made", p,
                           static_cast<long long>(evaluations[p]), static_cast<long long>(one.evaluations));
            if (std::isfinite(one.f) && one.code == 0 && !(one.f >= one.lowest || one.lowest == infinity))
                run_.fault("batch_f", "problem %zu: %.17g is below each evaluated f", p, one.f);
            if (std::strlen(cuda_opt_batch_message(s, static_cast<int64_t>(p))) < 8)
                run_.fault("batch_words", "no message");
        }
        check_code(run_, s, "batch_again",
                   call(s, const_cast<Real *>(x.data()), const_cast<double *>(f.data()), const_cast<Real *>(g.data())),
                   {CUDA_OPT_MISUSE}, true);
    }

    // The result of a problem does not depend on the other problems of the batch.
    void compare(const Member<Real> &among_others, const Member<Real> &alone) {
        const auto same = [](const auto &a, const auto &b) {
            return std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
        };
        if (among_others.code != alone.code || among_others.evaluations != alone.evaluations ||
            !same(among_others.x, alone.x) ||
            (alone.evaluations > 0 && among_others.f != alone.f &&
             !(alone.f != alone.f && among_others.f != among_others.f)))
            run_.fault("batch_neighbours", "code %lld and f = %.17g, but alone %lld and %.17g",
                       static_cast<long long>(among_others.code), among_others.f, static_cast<long long>(alone.code),
                       alone.f);
    }

    Run &run_;
    Random &random_;
    const int64_t n_, count_;
    const int32_t m_;
    std::vector<Member<Real>> members_;
    bool packed_ = false, robust_ = true, approximate_ = false, stopped_ = false;
    int64_t threads_ = 1, iterations_ = 0, evaluations_ = 0, metric_ = 0, every_ = 1;
    double eps_ = 0;
};

} // namespace

void batch_episode(Run &run) {
    if (run.random.chance(0.7)) Batch<double>{run}();
    else Batch<float>{run}();
}

} // namespace fuzz
