// Each allocation of a batch failing in turn.
#include <catch2/catch.hpp>

#include "cuda_opt_batch.h"
#include "trials.hpp"

using namespace failing;

namespace {

constexpr int64_t n = 4, count = 40;

class Trial {
  public:
    explicit Trial(int threads) : threads_(threads), x_(n * count), f_(count), g_(n * count), codes_(count) {}
    ~Trial() { cuda_opt_destroy(&s); }
    Trial(const Trial &) = delete;
    Trial &operator=(const Trial &) = delete;

    int create() {
        const int code = cuda_opt_create_batch(&s, n, count, 3, CUDA_OPT_BACKEND_HOST);
        return code == 0 ? prepare() : code;
    }
    int prepare() {
        const int code = cuda_opt_set_int(s, CUDA_OPT_THREADS, threads_);
        return code == 0 ? cuda_opt_set_uniform_bounds(s, -1.5, 0.8) : code;
    }
    Outcome solve() {
        for (std::size_t i = 0; i < x_.size(); i++) x_[i] = -1.2 + 0.01 * static_cast<double>(i);
        Outcome outcome{cuda_opt_batch_solve(s, x_.data(), f_.data(), g_.data())};
        while (outcome.code > 0) {
            int64_t active = 0;
            cuda_opt_get_int(s, CUDA_OPT_BATCH, &active);
            const int64_t *const list = cuda_opt_batch_active(s);
            for (int64_t k = 0; k < active; k++)
                f_[static_cast<std::size_t>(list[k])] = rosenbrock(x_.data() + list[k] * n, g_.data() + list[k] * n, n);
            outcome.code = cuda_opt_batch_solve(s, x_.data(), f_.data(), g_.data());
        }
        if (outcome.code == CUDA_OPT_OUT_OF_MEMORY) return outcome;
        const int code = cuda_opt_batch_get_int(s, CUDA_OPT_BATCH_CODE, codes_.data());
        if (code != 0) return {code, 0, 0};
        outcome.f = f_[count / 2];
        outcome.hash = hash_of(x_.data(), x_.size());
        return outcome;
    }
    Outcome attempt() {
        const int code = create();
        return code == 0 ? solve() : Outcome{code, 0, 0};
    }

    cuda_opt *s = nullptr;

  private:
    const int threads_;
    std::vector<double> x_, f_, g_;
    std::vector<int64_t> codes_;
};

std::string body(int threads, int64_t number, Mode mode) {
    std::string wrong;
    Trial trial(threads);
    arm(number, mode);
    const Outcome first = trial.attempt();
    const bool sentence = is_sentence(cuda_opt_message(trial.s));
    calm();
    Trial other(threads);
    const Outcome wanted = other.attempt();
    if (wanted.code != 0) wrong = "it does not converge: code " + std::to_string(wanted.code);
    if (!(first == wanted) && first.code != CUDA_OPT_OUT_OF_MEMORY) wrong = "code " + std::to_string(first.code);
    if (!sentence) wrong = "no sentence";
    if (wrong.empty() && cuda_opt_backend(trial.s) > 0) {
        cuda_opt_reset(trial.s);
        const int code = trial.prepare();
        const Outcome again = trial.solve();
        if (code != 0 || !(again == wanted))
            wrong = "other bits after a reset: code " + std::to_string(again.code) + ", '" + cuda_opt_message(trial.s) +
                    "'";
    }
    cuda_opt_destroy(&trial.s);
    cuda_opt_destroy(&other.s);
    if (wrong.empty() && threads == 1 && left_over() != 0)
        wrong = std::to_string(left_over()) + " blocks are left over";
    return wrong;
}

} // namespace

TEST_CASE("Each allocation of a batch fails in turn", "[failures]") {
    const int threads = GENERATE(1, 3);
    INFO("threads: " << threads);
    const std::string wrong = each_in_turn([&](int64_t number, Mode mode) { return body(threads, number, mode); });
    CHECK(wrong == "");
}
