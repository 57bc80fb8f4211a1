// The ranks of one solve are executed one after the other. Each call is checked against the documentation in the
// header: the tasks, codes, messages and f are the same on all ranks, whatever mistake one rank makes. A solve with one
// rank gives the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "../support/abi.hpp"
#include "abi.hpp"
#include "abi_bounds.hpp"
#include "cuda_opt/ranks.h"
#include "functions.hpp"
#include "hash.hpp"

namespace fuzz {

namespace {

// A mistake that one of the ranks makes once, or an action that ends the solve.
enum class Deed { none, forget, swap, fail, stop, other_setting, other_pointer, other_set_up, overlap, out_of_order };

template <class Real> class Ranks {
    using Api = cudaopt_test::Abi<Real>;
    struct Rank {
        cuda_opt *s = nullptr;
        int64_t first = 0, n = 0;
        int task = 0;
        std::vector<double> f; // f of each of its segments
    };

  public:
    explicit Ranks(Run &run)
        : run_(run), random_(run.random),
          n_(random_.chance(0.85) ? random_.from_to(1, 40) : random_.from_to(100, 1500)),
          m_(static_cast<int32_t>(random_.from_to(1, 9))), function_(random_, n_, random_.chance(0.3)), box_(run, n_),
          x_(count()), g_(count()), h_(count(), Real(1)) {
        const auto ranks = random_.from_to(1, 5);
        by_segments_ = random_.chance(0.6);
        std::vector<int64_t> ends;
        for (int64_t r = 1; r < ranks; r++)
            ends.push_back(by_segments_ ? cuda_opt_segment(n_, random_.below(cuda_opt_segments(n_) + 1))
                                        : random_.below(n_ + 1));
        std::sort(ends.begin(), ends.end());
        ends.push_back(n_);
        for (const int64_t end : ends) {
            const int64_t first = members_.empty() ? 0 : members_.back().first + members_.back().n;
            members_.push_back({});
            members_.back().first = first, members_.back().n = end - first;
        }
        f_part_ = random_.pick<int64_t>({CUDA_OPT_F_WHOLE, CUDA_OPT_F_OF_RANK, CUDA_OPT_F_OF_SEGMENTS});
        if (!by_segments_ && f_part_ == CUDA_OPT_F_OF_SEGMENTS) f_part_ = CUDA_OPT_F_WHOLE;
        if (random_.chance(0.6)) deed_ = static_cast<Deed>(random_.from_to(1, static_cast<int>(Deed::out_of_order)));
        culprit_ = static_cast<std::size_t>(random_.below(ranks));
        when_ = random_.from_to(0, 12);
    }
    ~Ranks() { destroy(); }
    Ranks(const Ranks &) = delete;
    Ranks &operator=(const Ranks &) = delete;

    void operator()() {
        run_.trace("%zu ranks of %lld variables, m = %d, %s, %s, deed %d of %zu at %lld", members_.size(),
                   static_cast<long long>(n_), m_, function_.words().c_str(), box_.words, static_cast<int>(deed_),
                   culprit_, static_cast<long long>(when_));
        create();
        for (int64_t solves = random_.from_to(1, 2); solves > 0; solves--) {
            const std::vector<double> start = function_.start(random_);
            const Function function = function_;
            const Random random = random_;
            const bool warm = warm_;
            const uint64_t result = solve(start);
            if (by_segments_ && deed_ == Deed::none && !warm && members_.size() > 1 && random_.chance(0.4)) {
                Ranks one(*this, function);
                Random after = random_;
                random_ = random; // the diagonals are drawn from the same random numbers
                run_.require(one.solve(start) == result, "ranks_bits", "the result differs from that of one rank");
                random_ = after;
            }
            if (deed_ == Deed::other_setting || deed_ == Deed::other_set_up || deed_ == Deed::overlap) return;
            deed_ = Deed::none;
            warm_ = random_.chance(0.4);
            for (Rank &rank : members_)
                check_code(run_, rank.s, "ranks_again", warm_ ? cuda_opt_warm_start(rank.s) : cuda_opt_reset(rank.s),
                           {0, CUDA_OPT_MISUSE});
            if (warm_) continue;
            box_.make_sound();
            for (std::size_t r = 0; r < members_.size(); r++) set_up(r);
        }
    }

  private:
    // Prepares the same solve on one rank.
    Ranks(const Ranks &other, const Function &function)
        : run_(other.run_), random_(other.random_), n_(other.n_), m_(other.m_), function_(function), box_(other.box_),
          x_(count()), g_(count()), h_(count(), Real(1)), by_segments_(true), f_part_(other.f_part_) {
        members_.push_back({});
        members_[0].n = n_;
        const Settings settings(other.members_[0].s);
        check_code(run_, nullptr, "create", Api::create(&members_[0].s, n_, m_, CUDA_OPT_BACKEND_HOST), {0});
        settings.put_back(run_, members_[0].s);
        set_up(0);
    }

    std::size_t count() const { return static_cast<std::size_t>(n_); }
    void destroy() {
        for (Rank &rank : members_) cuda_opt_destroy(&rank.s);
    }
    void create() {
        for (Rank &rank : members_)
            check_code(run_, nullptr, "create", Api::create(&rank.s, n_, m_, CUDA_OPT_BACKEND_HOST), {0});
        choose_settings(run_, members_[0].s);
        const Settings settings(members_[0].s);
        for (Rank &rank : members_) {
            settings.put_back(run_, rank.s);
            cuda_opt_set_int(rank.s, CUDA_OPT_THREADS, random_.from_to(1, 2));
            cuda_opt_set_int(rank.s, CUDA_OPT_REPORT_ITERATES, random_.chance(0.5));
        }
        for (std::size_t r = 0; r < members_.size(); r++) set_up(r);
    }
    void set_up(std::size_t r) {
        Rank &rank = members_[r];
        const bool overlaps = deed_ == Deed::overlap && r == culprit_ && rank.n > 0;
        check_code(run_, rank.s, "set_ranks",
                   cuda_opt_set_ranks(rank.s, static_cast<int32_t>(r), static_cast<int32_t>(members_.size()),
                                      rank.first, rank.n - overlaps),
                   {0});
        check_code(run_, rank.s, "set_int", cuda_opt_set_int(rank.s, CUDA_OPT_F_PART, f_part_), {0});
        if (deed_ == Deed::other_set_up && r == culprit_)
            check_code(run_, rank.s, "set_int", cuda_opt_set_int(rank.s, CUDA_OPT_MAX_CUTS, 17), {0});
        box_.set(rank.s, rank.first);
        check_code(run_, rank.s, "set_diagonal", Api::set_diagonal(rank.s, h_.data() + rank.first), {0});
        int64_t segments = 1;
        for (int64_t k = 0; k < cuda_opt_segments(n_); k++) {
            const int64_t at = cuda_opt_segment(n_, k);
            segments += at >= rank.first && at < rank.first + rank.n;
        }
        rank.f.assign(static_cast<std::size_t>(segments), 0);
    }

    // Returns a hash of all points at which f was requested, and of the result.
    uint64_t solve(const std::vector<double> &start) {
        std::transform(start.begin(), start.end(), x_.begin(), [](double v) { return static_cast<Real>(v); });
        Hash all;
        evaluated_.clear();
        meetings_ = exchanges_ = 0;
        failed_ = false;
        int task = 1;
        run_.begin_solve();
        for (int calls = 0; calls < 3000 && task > 0; calls++) {
            task = call_all();
            if (task == CUDA_OPT_EXCHANGE) {
                gather();
                continue;
            }
            meetings_++;
            all.add(x_.data(), count());
            if (task == CUDA_OPT_EVALUATE_FG) evaluate();
            else if (task == CUDA_OPT_SUPPLY_DIAGONAL)
                for (Real &value : h_) value = static_cast<Real>(random_.power_of_10(-3, 3));
            if (task > 0 && meetings_ == when_) disturb();
        }
        run_.end_solve(task <= 0);
        if (task <= 0) check_end(task);
        const double end = task;
        return all.add(&end, 1).value();
    }

    // Calls each rank until all ranks have a common task.
    int call_all() {
        for (std::size_t r = 0; r < members_.size(); r++) {
            Rank &rank = members_[r];
            const bool other = r == culprit_ && deed_ == Deed::other_pointer && meetings_ > 0 && meetings_ == when_;
            do {
                rank.task = run_.call("cuda_opt_solve", [&] {
                    return Api::solve(rank.s, x_.data() + rank.first, other ? &elsewhere_ : rank.f.data(),
                                      g_.data() + rank.first);
                });
                run_.trace("rank %zu: solve = %d: %s", r, rank.task, cuda_opt_message(rank.s));
            } while (rank.task == CUDA_OPT_NEW_ITERATE);
            if (rank.task != members_[0].task)
                run_.fault("ranks_tasks", "%d on rank 0, %d on rank %zu", members_[0].task, rank.task, r);
        }
        return members_[0].task;
    }

    void gather() {
        std::vector<char *> sends, receives;
        int64_t bytes = 0;
        for (Rank &rank : members_) {
            void *send = nullptr, *receive = nullptr;
            int64_t own = 0;
            check_code(run_, rank.s, "gather", cuda_opt_gather(rank.s, &send, &receive, &own), {0});
            run_.require(sends.empty() || own == bytes, "ranks_bytes", "packets of different sizes");
            bytes = own;
            sends.push_back(static_cast<char *>(send)), receives.push_back(static_cast<char *>(receive));
        }
        const bool now = exchanges_++ == when_;
        if (now && deed_ == Deed::forget) return;
        if (now && deed_ == Deed::swap) std::swap(sends[0], sends[culprit_]);
        for (char *to : receives)
            for (std::size_t r = 0; r < sends.size(); r++)
                std::memcpy(to + static_cast<int64_t>(r) * bytes, sends[r], static_cast<std::size_t>(bytes));
        if (now && deed_ == Deed::fail) {
            for (Rank &rank : members_)
                check_code(run_, rank.s, "gather_failed", cuda_opt_gather_failed(rank.s, "the wire is cut"),
                           {CUDA_OPT_EXCHANGE_FAILED});
            failed_ = true;
        }
    }

    void evaluate() {
        for (std::size_t i = 0; i < count(); i++)
            if (!std::isfinite(x_[i]) || !(x_[i] >= box_.lower(i)) || !(x_[i] <= box_.upper(i)))
                run_.fault("ranks_outside", "x[%zu] = %.17g", i, static_cast<double>(x_[i]));
        run_.note_evaluation();
        const double f = function_.evaluate(x_.data(), g_.data());
        evaluated_.insert(hash_of(x_.data(), f + 0.0, g_.data(), count()));
        bool given = false;
        for (Rank &rank : members_) {
            std::fill(rank.f.begin(), rank.f.end(), 0.0);
            if (f_part_ == CUDA_OPT_F_WHOLE || (!given && rank.n > 0)) rank.f[0] = f;
            given = given || rank.n > 0;
        }
    }

    // Makes the mistake after the work of the caller and before the next calls.
    void disturb() {
        Rank &rank = members_[culprit_];
        int64_t bytes = 0;
        double value = 0;
        switch (deed_) {
        case Deed::stop: check_code(run_, rank.s, "request_stop", cuda_opt_request_stop(rank.s), {0}); break;
        case Deed::other_setting:
            check_code(run_, rank.s, "set_real", cuda_opt_set_real(rank.s, CUDA_OPT_FACTR, 3), {0});
            break;
        case Deed::out_of_order:
            check_code(run_, rank.s, "rank_save", cuda_opt_save(rank.s, nullptr, &bytes), {CUDA_OPT_MISUSE});
            check_code(run_, rank.s, "rank_set_ranks", cuda_opt_set_ranks(rank.s, 0, 1, 0, n_), {CUDA_OPT_MISUSE});
            check_code(run_, rank.s, "rank_failed", cuda_opt_gather_failed(rank.s, "no"), {CUDA_OPT_MISUSE});
            check_code(run_, rank.s, "rank_get_real", cuda_opt_get_real(rank.s, CUDA_OPT_F, &value), {0});
            break;
        default: break;
        }
    }

    void check_end(int code) {
        const Rank &first = members_[0];
        const bool broken = failed_ || code == CUDA_OPT_MISUSE;
        for (const Rank &rank : members_) {
            if (!failed_) check_code(run_, rank.s, "ranks_end", code, {code}, true);
            if (!failed_ && std::strcmp(cuda_opt_message(rank.s), cuda_opt_message(first.s)) != 0 &&
                deed_ != Deed::swap && deed_ != Deed::forget)
                run_.fault("ranks_sentence", "'%s' and '%s'", cuda_opt_message(first.s), cuda_opt_message(rank.s));
            for (const int32_t key : {CUDA_OPT_F, CUDA_OPT_PG_NORM2}) {
                double of_first = 0, other = 0;
                cuda_opt_get_real(first.s, key, &of_first);
                cuda_opt_get_real(rank.s, key, &other);
                if (!(of_first == other || (of_first != of_first && other != other)))
                    run_.fault("ranks_result", "key %d: %.17g and %.17g", key, of_first, other);
            }
        }
        if (code == CUDA_OPT_MISUSE && deed_ == Deed::none) run_.fault("ranks_misuse", "%s", cuda_opt_message(first.s));
        if (code == CUDA_OPT_OUT_OF_MEMORY) run_.fault("ranks_memory", "%s", cuda_opt_message(first.s));
        if (code == CUDA_OPT_IMPROPER_INPUT && deed_ != Deed::other_set_up && deed_ != Deed::overlap &&
            box_.consistent() && !std::any_of(x_.begin(), x_.end(), [](Real v) { return !std::isfinite(v); }))
            run_.fault("ranks_refused", "%s", cuda_opt_message(first.s));
        if (broken || evaluated_.empty() || code == CUDA_OPT_IMPROPER_INPUT) return;
        const double f = first.f[0] + 0.0;
        if (evaluated_.count(hash_of(x_.data(), f, g_.data(), count())) == 0)
            run_.fault("ranks_end_point", "x, f and g at the end were not evaluated: f = %.17g, code %d", f, code);
    }

    Run &run_;
    Random &random_;
    const int64_t n_;
    const int32_t m_;
    Function function_;
    Bounds<Real> box_;
    std::vector<Real> x_, g_, h_;
    bool by_segments_ = false, failed_ = false, warm_ = false;
    int64_t f_part_ = CUDA_OPT_F_WHOLE;
    std::vector<Rank> members_;
    Deed deed_ = Deed::none;
    std::size_t culprit_ = 0;
    // when_: when the mistake is made; meetings_, exchanges_: counts of the common tasks and exchanges of this solve
    int64_t when_ = 0, meetings_ = 0, exchanges_ = 0;
    std::set<uint64_t> evaluated_;
    double elsewhere_ = 0;
};

} // namespace

void ranks_episode(Run &run) {
    if (run.random.chance(0.65)) Ranks<double>{run}();
    else Ranks<float>{run}();
}

} // namespace fuzz
