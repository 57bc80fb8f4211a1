// The ranks of one solve are threads. Each has its part of the variables and its own function, and f is the sum of the
// functions. Whatever one rank does, all ranks terminate with the same code and the same message.
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../ranks/meeting.hpp"
#include "../support/abi.hpp"
#include "abi.hpp"
#include "functions.hpp"

namespace fuzz {

namespace {

// An event that happens once. wrong_call: one rank calls with another array. damage: an exchange damages a packet.
enum class Event { none, stop, stop_by_other_thread, failed_rank, log_that_throws, failed_gather, wrong_call, damage };

template <class Real> class Threads {
    using Api = cudaopt_test::Abi<Real>;
    using Meeting = cudaopt_test::Meeting;
    struct Rank {
        cuda_opt *s = nullptr;
        int64_t first = 0, n = 0;
        std::vector<Real> x, g;
        double f = 0;
        Function function;
        int code = 1;
        std::string message;
        int64_t calls = 0, evaluations = 0, outside = 0;
    };

  public:
    explicit Threads(Run &run)
        : run_(run), random_(run.random), ranks_(static_cast<int>(random_.from_to(1, 4))),
          m_(static_cast<int32_t>(random_.from_to(1, 8))), bounded_(random_.chance(0.6)) {
        for (int r = 0; r < ranks_; r++) {
            const bool empty = ranks_ > 1 && random_.chance(0.15);
            const int64_t n = empty ? 0 : random_.chance(0.2) ? random_.from_to(100, 600) : random_.from_to(1, 20);
            Rank rank{nullptr, n_, n, {}, {}, 0, Function(random_, std::max<int64_t>(n, 1), random_.chance(0.7)),
                      1,       ""};
            for (const double value : rank.function.start(random_)) rank.x.push_back(static_cast<Real>(value));
            rank.x.resize(static_cast<std::size_t>(n));
            rank.g.resize(rank.x.size());
            n_ += n;
            members_.push_back(std::move(rank));
        }
        if (n_ == 0) n_ = members_[0].n = 1, members_[0].x.resize(1), members_[0].g.resize(1);
        for (std::size_t r = 1; r < members_.size(); r++) members_[r].first = members_[r - 1].first + members_[r - 1].n;
        if (random_.chance(0.5)) event_ = static_cast<Event>(random_.from_to(1, static_cast<int>(Event::damage)));
        culprit_ = static_cast<int>(random_.below(ranks_));
        when_ = random_.from_to(1, 25);
    }
    ~Threads() {
        for (Rank &rank : members_) cuda_opt_destroy(&rank.s);
    }
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;

    void operator()() {
        run_.trace("%d ranks in threads, %lld variables, m = %d, event %d on %d at %lld", ranks_,
                   static_cast<long long>(n_), m_, static_cast<int>(event_), culprit_, static_cast<long long>(when_));
        create();
        run_.begin_solve();
        int64_t calls = 0, evaluations = 0;
        const std::string thrown = run_.call("ranks in threads", [&]() -> std::string {
            try {
                cudaopt_test::run_ranks(ranks_, [&](int rank, Meeting &meeting) { solve(rank, meeting); });
            } catch (const std::exception &exception) {
                return exception.what();
            }
            return {};
        });
        for (const Rank &rank : members_) calls += rank.calls, evaluations += rank.evaluations;
        run_.add_calls(calls);
        if (evaluations > 0) run_.note_evaluation();
        run_.end_solve(true);
        if (!thrown.empty()) run_.fault("threads_apart", "%s", thrown.c_str());
        check_end();
    }

  private:
    void create() {
        for (int r = 0; r < ranks_; r++) {
            Rank &rank = members_[static_cast<std::size_t>(r)];
            check_code(run_, nullptr, "create", Api::create(&rank.s, n_, m_, CUDA_OPT_BACKEND_HOST), {0});
            check_code(run_, rank.s, "set_ranks", cuda_opt_set_ranks(rank.s, r, ranks_, rank.first, rank.n), {0});
        }
        choose_settings(run_, members_[0].s);
        cuda_opt_set_int(members_[0].s, CUDA_OPT_METRIC, random_.pick<int64_t>({0, 2}));
        cuda_opt_set_int(members_[0].s, CUDA_OPT_MAX_ITERATIONS, random_.from_to(1, 60));
        cuda_opt_set_int(members_[0].s, CUDA_OPT_MAX_EVALUATIONS, random_.from_to(1, 300)); // it might not converge
        const Settings settings(members_[0].s);
        for (Rank &rank : members_) {
            settings.put_back(run_, rank.s);
            cuda_opt_set_int(rank.s, CUDA_OPT_F_PART, CUDA_OPT_F_OF_RANK);
            cuda_opt_set_int(rank.s, CUDA_OPT_THREADS, random_.from_to(1, 2));
            cuda_opt_set_int(rank.s, CUDA_OPT_IPRINT_FREQUENCY, random_.chance(0.3) ? 1 : -1);
            if (bounded_)
                check_code(run_, rank.s, "set_uniform_bounds", Api::set_uniform_bounds(rank.s, Real(-1), Real(1.5)),
                           {0});
        }
        if (event_ == Event::log_that_throws) {
            cuda_opt *const s = members_[static_cast<std::size_t>(culprit_)].s;
            cuda_opt_set_int(s, CUDA_OPT_IPRINT_FREQUENCY, 1);
            cuda_opt_set_log(
                s,
                [](void *lines, const char *) {
                    if (--*static_cast<int64_t *>(lines) == 0) throw 1;
                },
                &when_);
        }
    }

    // The thread of one rank. It draws no random numbers, because the generator belongs to the main thread.
    void solve(int r, Meeting &meeting) {
        Rank &rank = members_[static_cast<std::size_t>(r)];
        int64_t exchanges = 0, tasks = 0;
        for (int task = 1; task > 0;) {
            const bool now = r == culprit_ && tasks++ == when_;
            if (now && event_ == Event::stop) cuda_opt_request_stop(rank.s);
            if (now && event_ == Event::stop_by_other_thread)
                std::thread([&] { cuda_opt_request_stop(rank.s); }).join();
            if (now && event_ == Event::failed_rank) cuda_opt_fail_rank(rank.s, "no more of it");
            double elsewhere = 0;
            double *const f = now && event_ == Event::wrong_call ? &elsewhere : &rank.f;
            task = Api::solve(rank.s, rank.x.data(), f, rank.g.data());
            rank.calls++;
            if (task == CUDA_OPT_EVALUATE_FG) evaluate(rank);
            if (task == CUDA_OPT_EXCHANGE) task = exchange(r, rank, exchanges++ == when_, meeting);
            rank.code = task;
        }
        rank.message = cuda_opt_message(rank.s);
    }
    void evaluate(Rank &rank) const {
        for (const Real value : rank.x)
            rank.outside += !std::isfinite(value) || (bounded_ && (value < Real(-1) || value > Real(1.5)));
        rank.evaluations++;
        rank.f = rank.n > 0 ? rank.function.evaluate(rank.x.data(), rank.g.data()) : 0;
    }
    int exchange(int r, Rank &rank, bool now, Meeting &meeting) {
        if (now && event_ == Event::failed_gather) return cuda_opt_gather_failed(rank.s, "the wire is cut");
        void *send, *receive;
        int64_t bytes;
        meeting.gather(r, rank.s);
        if (now && event_ == Event::damage && cuda_opt_gather(rank.s, &send, &receive, &bytes) == 0)
            static_cast<unsigned char *>(receive)[culprit_ * bytes + (37 * when_) % bytes] ^= 0x20; // in every copy
        return CUDA_OPT_EXCHANGE;
    }

    void check_end() {
        const Rank &first = members_[0];
        for (const Rank &rank : members_) {
            // A rank that has failed may have lost its x.
            const bool failed = &rank == &members_[static_cast<std::size_t>(culprit_)] && event_ != Event::none;
            if (rank.outside > 0 && !failed)
                run_.fault("threads_outside", "%lld components", static_cast<long long>(rank.outside));
            check_code(run_, rank.s, "threads_end", rank.code, {rank.code}, true);
            if (rank.code > 0) run_.fault("threads_task", "%d", rank.code);
            // A rank that receives its own packet damaged reports another message, because it sent other bytes.
            if (event_ == Event::damage) continue;
            if (rank.code != first.code || rank.message != first.message)
                run_.fault("threads_ends", "%d: %s; %d: %s", first.code, first.message.c_str(), rank.code,
                           rank.message.c_str());
        }
        const bool may_misuse = event_ == Event::failed_rank || event_ == Event::log_that_throws ||
                                event_ == Event::wrong_call || event_ == Event::damage;
        if (first.code == CUDA_OPT_MISUSE && !may_misuse) run_.fault("threads_misuse", "%s", first.message.c_str());
        if (first.code == CUDA_OPT_OUT_OF_MEMORY) run_.fault("threads_memory", "%s", first.message.c_str());
    }

    Run &run_;
    Random &random_;
    const int ranks_;
    const int32_t m_;
    const bool bounded_;
    int64_t n_ = 0;
    std::vector<Rank> members_;
    Event event_ = Event::none;
    int culprit_ = 0;
    int64_t when_ = 0;
};

} // namespace

void threads_episode(Run &run) {
    if (run.random.chance(0.65)) Threads<double>{run}();
    else Threads<float>{run}();
}

} // namespace fuzz
