// Each allocation of ranks fails in turn. The ranks are handles in one thread, which calls them one after the other.
#include <catch2/catch.hpp>

#include "cuda_opt/ranks.h"
#include "trials.hpp"

namespace failures_ranks {

using namespace failing;

namespace {

constexpr int64_t n = 600;
constexpr int ranks = 3;
constexpr int64_t first_of[ranks + 1] = {0, 300, 300, n}; // the second rank has no variables

class Trial {
  public:
    explicit Trial(int64_t metric) : metric_(metric), x_(n), g_(n), h_(n, 0.01), told_(n) {}
    ~Trial() { destroy(); }
    Trial(const Trial &) = delete;
    Trial &operator=(const Trial &) = delete;

    void destroy() {
        for (cuda_opt *&one : s) cuda_opt_destroy(&one);
    }
    // Returns 0 or the code of the first call that has failed, and checks the message of its handle.
    int create() {
        for (int rank = 0; rank < ranks; rank++) {
            int code = cuda_opt_create(&s[rank], n, 5, CUDA_OPT_BACKEND_HOST);
            if (code == 0)
                code = cuda_opt_set_ranks(s[rank], rank, ranks, first_of[rank], first_of[rank + 1] - first_of[rank]);
            if (code == 0) code = prepare(rank);
            if (code == 0) continue;
            speaks = is_sentence(cuda_opt_message(s[rank]));
            return code;
        }
        return 0;
    }
    int prepare(int rank) {
        cuda_opt_set_int(s[rank], CUDA_OPT_THREADS, 1);
        cuda_opt_set_int(s[rank], CUDA_OPT_MAX_ITERATIONS, 100);
        cuda_opt_set_int(s[rank], CUDA_OPT_F_PART, CUDA_OPT_F_WHOLE);
        cuda_opt_set_int(s[rank], CUDA_OPT_METRIC, metric_);
        cuda_opt_set_diagonal(s[rank], h_.data() + first_of[rank]);
        return cuda_opt_set_uniform_bounds(s[rank], -1.5, 0.8);
    }
    // Solves on all ranks. `agree` remains true if all ranks have the same tasks and end with the same code and
    // message.
    Outcome solve() {
        for (std::size_t i = 0; i < n; i++) x_[i] = i % 2 ? 0.5 : -1.2;
        Outcome outcome;
        while (outcome.code > 0) {
            int codes[ranks];
            for (int rank = 0; rank < ranks; rank++)
                codes[rank] =
                    cuda_opt_solve(s[rank], x_.data() + first_of[rank], &f_[rank], g_.data() + first_of[rank]);
            outcome.code = codes[0];
            for (cuda_opt *one : s) cuda_opt_get_diagonal(one, told_.data()); // refused if there is no diagonal
            for (int rank = 1; rank < ranks; rank++) agree = agree && codes[rank] == codes[0];
            if (!agree) return outcome;
            if (outcome.code == CUDA_OPT_EXCHANGE) gather();
            if (outcome.code == CUDA_OPT_EVALUATE_FG) {
                const double f = rosenbrock(x_.data(), g_.data(), n);
                for (double &of_rank : f_) of_rank = f;
            }
        }
        for (const cuda_opt *one : s) {
            speaks = speaks && is_sentence(cuda_opt_message(one));
            agree = agree && std::strcmp(cuda_opt_message(one), cuda_opt_message(s[0])) == 0;
        }
        outcome.f = f_[0];
        outcome.hash = hash_of(x_.data(), x_.size());
        return outcome;
    }
    Outcome attempt() {
        const int code = create();
        return code == 0 ? solve() : Outcome{code, 0, 0};
    }

    cuda_opt *s[ranks] = {};
    bool agree = true, speaks = true;

  private:
    void gather() {
        void *sends[ranks], *receives[ranks];
        int64_t bytes[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            cuda_opt_gather(s[rank], &sends[rank], &receives[rank], &bytes[rank]);
            agree = agree && bytes[rank] == bytes[0];
        }
        if (!agree) return;
        for (void *to : receives)
            for (int rank = 0; rank < ranks; rank++)
                std::memcpy(static_cast<char *>(to) + rank * bytes[0], sends[rank], static_cast<std::size_t>(bytes[0]));
    }

    const int64_t metric_;
    std::vector<double> x_, g_, h_, told_;
    double f_[ranks] = {};
};

std::string body(int64_t metric, int64_t number, Mode mode) {
    std::string wrong;
    Trial trial(metric), other(metric);
    arm(number, mode);
    const Outcome first = trial.attempt();
    calm();
    const Outcome wanted = other.attempt();
    if (wanted.code != 0) wrong = "a solve without a failure does not converge: code " + std::to_string(wanted.code);
    if (!(first == wanted) && first.code != CUDA_OPT_OUT_OF_MEMORY) wrong = "code " + std::to_string(first.code);
    if (!trial.speaks) wrong = "the message is not a sentence";
    if (!trial.agree) wrong = "the ranks have different tasks, codes or messages";
    const bool all_there = cuda_opt_backend(trial.s[ranks - 1]) > 0;
    if (wrong.empty() && all_there) {
        int code = 0;
        for (int rank = 0; rank < ranks && code == 0; rank++) {
            code = cuda_opt_reset(trial.s[rank]);
            if (code == 0)
                code =
                    cuda_opt_set_ranks(trial.s[rank], rank, ranks, first_of[rank], first_of[rank + 1] - first_of[rank]);
            if (code == 0) code = trial.prepare(rank);
        }
        const Outcome again = code == 0 ? trial.solve() : Outcome{code, 0, 0};
        if (!(again == wanted) || !trial.agree)
            wrong = "a different result after a reset: code " + std::to_string(again.code) + ", '" +
                    cuda_opt_message(trial.s[0]) + "'";
    }
    trial.destroy();
    other.destroy();
    if (wrong.empty() && left_over() != 0) wrong = std::to_string(left_over()) + " blocks are not freed";
    return wrong;
}

} // namespace

TEST_CASE("All ranks report or tolerate each failed allocation alike", "[failures]") {
    const int64_t metric =
        GENERATE(as<int64_t>(), CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_DIAGONAL, CUDA_OPT_METRIC_LEARNED);
    INFO("initial Hessian " << metric);
    const std::string wrong = each_in_turn([&](int64_t number, Mode mode) { return body(metric, number, mode); });
    CHECK(wrong == "");
}

} // namespace failures_ranks
