// Damaged checkpoints. Each is refused, unless the damage did not change any byte. A refusal does not change the
// handle, x, f or g.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "../support/abi.hpp"
#include "abi.hpp"
#include "functions.hpp"

namespace fuzz {

namespace {

using Bytes = std::vector<unsigned char>;

std::ptrdiff_t place(Random &random, std::size_t size) { return random.below(static_cast<int64_t>(size)); }

void flip_bytes(Random &random, Bytes &bytes) {
    for (int64_t k = random.from_to(1, 4); k > 0; k--)
        bytes[static_cast<std::size_t>(place(random, bytes.size()))] ^=
            static_cast<unsigned char>(random.from_to(1, 255));
}

// Exchanges two byte ranges of equal length, which may be aligned to their length.
void exchange_words(Random &random, Bytes &bytes) {
    const auto width = random.pick<int64_t>({1, 2, 4, 8, 8, 8, 16, 32}), size = static_cast<int64_t>(bytes.size());
    const int64_t step = random.chance(0.8) ? width : 1, places = (size - 2 * width) / step;
    if (places < 1) return;
    const int64_t first = random.below(places) * step, rest = (size - first - 2 * width) / step;
    const int64_t second = first + width + (rest > 0 ? random.below(rest) * step : 0);
    std::swap_ranges(bytes.begin() + first, bytes.begin() + first + width, bytes.begin() + second);
}

void damage(Random &random, Bytes &bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    switch (random.below(8)) {
    case 0:
    case 1: return flip_bytes(random, bytes);
    case 2:
    case 3:
    case 4: return exchange_words(random, bytes);
    case 5: return bytes.resize(static_cast<std::size_t>(random.below(size)));
    case 6: { // a range is lost: it is filled with zeros or with the bytes before it
        const int64_t from = random.below(size), count = std::min(random.from_to(1, 600), size - from);
        if (random.chance(0.5) || from < count) std::fill_n(bytes.begin() + from, count, 0);
        else std::copy_n(bytes.begin() + (from - count), count, bytes.begin() + from);
        return;
    }
    default: // bytes are inserted or missing
        const int64_t at = random.below(size);
        if (random.chance(0.5)) bytes.insert(bytes.begin() + at, static_cast<std::size_t>(random.from_to(1, 64)), 0);
        else bytes.erase(bytes.begin() + at, bytes.begin() + std::min(size, at + random.from_to(1, 64)));
    }
}

template <class Real> class Damage {
    using Api = cudaopt_test::Abi<Real>;
    // A handle and its arrays.
    struct Solve {
        cuda_opt *s = nullptr;
        std::vector<Real> x, g, diagonal;
        double f = 7;
        Function function;
        Random random;
    };

  public:
    explicit Damage(Run &run)
        : run_(run), random_(run.random), n_(random_.from_to(1, 12)), m_(static_cast<int32_t>(random_.from_to(1, 6))),
          lower_(static_cast<std::size_t>(n_), Real(-30)), upper_(lower_.size(), Real(30)),
          bounded_(random_.chance(0.5)) {}

    void operator()() {
        Solve saved = made(), target = made();
        run(saved, random_.from_to(1, 40), true);
        const Bytes good = cuda_opt_save(saved.s, nullptr, &bytes_) == 0 ? save(run_, saved.s) : Bytes();
        cuda_opt_destroy(&saved.s);
        if (!good.empty()) {
            prepare(target);
            Solve twin = target; // the same solve without loads
            twin.s = nullptr;
            refuse_damaged(target, good);
            compare(target, twin);
        }
        cuda_opt_destroy(&target.s);
    }

  private:
    Solve made() {
        Solve one{nullptr, {}, {}, {}, 7, Function(random_, n_, true), random_};
        for (const double value : one.function.start(random_)) one.x.push_back(static_cast<Real>(value));
        one.g.assign(one.x.size(), Real(3));
        one.diagonal.assign(one.x.size(), Real(1));
        create(one);
        choose_settings(run_, one.s);
        cuda_opt_set_int(one.s, CUDA_OPT_THREADS, 1);
        cuda_opt_set_int(one.s, CUDA_OPT_IPRINT_FREQUENCY, -1);
        return one;
    }
    void create(Solve &one) {
        check_code(run_, nullptr, "create", Api::create(&one.s, n_, m_, CUDA_OPT_BACKEND_HOST), {0});
        if (bounded_) check_code(run_, one.s, "set_bounds", Api::set_bounds(one.s, lower_.data(), upper_.data()), {0});
        check_code(run_, one.s, "set_diagonal", Api::set_diagonal(one.s, one.diagonal.data()), {0});
    }
    // counted: whether the solve and its calls count in the statistics.
    int run(Solve &one, int64_t calls, bool counted) {
        int task = 1;
        if (counted) run_.begin_solve();
        for (; calls > 0 && task > 0; calls--) {
            task = run_.call("cuda_opt_solve", [&] { return Api::solve(one.s, one.x.data(), &one.f, one.g.data()); });
            if (task == CUDA_OPT_EVALUATE_FG) {
                run_.note_evaluation();
                one.f = one.function.evaluate(one.x.data(), one.g.data());
            } else if (task == CUDA_OPT_SUPPLY_DIAGONAL) {
                for (Real &value : one.diagonal) value = static_cast<Real>(one.random.power_of_10(-3, 3));
            }
        }
        if (counted) run_.end_solve(task <= 0);
        return task;
    }
    // Brings a handle into its state before the loads: fresh, or with pairs that a warm start keeps. The same
    // state of the random numbers gives the same result.
    void prepare(Solve &one) {
        history_ = random_.from_to(0, 40);
        start_ = one.x;
        settings_ = std::make_unique<Settings>(one.s);
        before_ = {one.x, one.g, one.diagonal, one.f, one.function, one.random};
        begin(one);
    }
    void begin(Solve &one) {
        if (history_ < 10) return;
        run(one, history_, true);
        check_code(run_, one.s, "warm_start", cuda_opt_warm_start(one.s), {0});
        one.x = start_;
    }

    void refuse_damaged(Solve &target, const Bytes &good) {
        const auto x = target.x, g = target.g;
        const double f = target.f;
        const std::vector<double> results = results_of(target.s);
        for (int64_t k = random_.from_to(20, 120); k > 0; k--) {
            Bytes damaged = good;
            damage(random_, damaged);
            if (damaged == good) continue;
            run_.note_damaged_checkpoint();
            const int code = run_.call("cuda_opt_load", [&] {
                return Api::load(target.s, damaged.data(), static_cast<int64_t>(damaged.size()), target.x.data(),
                                 &target.f, target.g.data());
            });
            run_.trace("load = %d: %s", code, cuda_opt_message(target.s));
            check_code(run_, target.s, "load_damaged", code, {CUDA_OPT_IMPROPER_INPUT});
            run_.require(same(target.x, x) && same(target.g, g) && std::memcmp(&target.f, &f, sizeof f) == 0,
                         "arrays_touched", "x, f or g was changed though the checkpoint was refused");
            run_.require(same(results_of(target.s), results), "handle_touched",
                         "a setting or a result was changed though the checkpoint was refused");
        }
    }

    // The target continues with the same results as its twin.
    void compare(Solve &target, Solve &twin) {
        twin.x = before_.x, twin.g = before_.g, twin.diagonal = before_.diagonal, twin.f = before_.f;
        twin.function = before_.function, twin.random = before_.random;
        create(twin);
        settings_->put_back(run_, twin.s);
        begin(twin);
        const int task = run(target, 200, true), expected = run(twin, 200, false);
        const bool alike = task == expected && same(target.x, twin.x) && same(target.g, twin.g) &&
                           std::memcmp(&target.f, &twin.f, sizeof twin.f) == 0;
        cuda_opt_destroy(&twin.s);
        run_.require(alike, "other_bits", "refused checkpoints have changed the later solve");
    }

    template <class Vector> static bool same(const Vector &a, const Vector &b) {
        return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
    }
    static std::vector<double> results_of(cuda_opt *s) {
        std::vector<double> all;
        for (const auto &[key, least, most, before_start] : int_settings) all.push_back(integer(s, key));
        // The workspace may have grown, which does not affect the solve.
        for (const int32_t key : int_results)
            if (key != CUDA_OPT_WORKSPACE_BYTES) all.push_back(integer(s, key));
        for (const RealKey &setting : real_settings) all.push_back(real(s, setting.key));
        for (const int32_t key : real_results)
            if (key != CUDA_OPT_SOLVER_SECONDS) all.push_back(real(s, key));
        return all;
    }
    static double integer(cuda_opt *s, int32_t key) {
        int64_t value = 0;
        cuda_opt_get_int(s, key, &value);
        return static_cast<double>(value);
    }
    static double real(cuda_opt *s, int32_t key) {
        double value = 0;
        cuda_opt_get_real(s, key, &value);
        return value;
    }

    struct Before {
        std::vector<Real> x, g, diagonal;
        double f;
        Function function;
        Random random;
    };
    Run &run_;
    Random &random_;
    const int64_t n_;
    const int32_t m_;
    std::vector<Real> lower_, upper_;
    const bool bounded_;
    int64_t history_ = 0, bytes_ = 0;
    std::vector<Real> start_;
    std::unique_ptr<Settings> settings_;
    Before before_{{}, {}, {}, 0, Function(run_.random, n_, true), Random(0)};
};

} // namespace

void checkpoints_episode(Run &run) {
    if (run.random.chance(0.6)) Damage<double>{run}();
    else Damage<float>{run}();
}

} // namespace fuzz
