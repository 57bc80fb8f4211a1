// Each allocation of a batch fails in turn. The requirements are those of complaint_about_trial().
#include <catch2/catch.hpp>

#include "cuda_opt_batch.h"
#include "one_trial.hpp"

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
        const int code = cuda_opt_batch_get_int(s, CUDA_OPT_BATCH_CODE, codes_.data());
        if (outcome.code == CUDA_OPT_OUT_OF_MEMORY) { // the problems do not exist, so that their results are refused
            const bool refused = code == CUDA_OPT_MISUSE &&
                                 cuda_opt_batch_get_real(s, CUDA_OPT_F, f_.data()) == CUDA_OPT_MISUSE &&
                                 is_sentence(cuda_opt_batch_message(s, count / 2));
            return refused ? outcome : Outcome{code, 0, 0};
        }
        if (code != 0) return {code, 0, 0};
        outcome.f = f_[count / 2];
        outcome.hash = hash_of(x_.data(), x_.size());
        return outcome;
    }

    static constexpr int end = CUDA_OPT_CONVERGED;
    cuda_opt *s = nullptr;

  private:
    const int threads_;
    std::vector<double> x_, f_, g_;
    std::vector<int64_t> codes_;
};

} // namespace

TEST_CASE("A batch reports or tolerates each failed allocation", "[failures]") {
    const int threads = GENERATE(1, 3);
    INFO("threads: " << threads);
    const std::string wrong = each_in_turn([&](int64_t number, Mode mode) {
        return complaint_about_trial([&] { return Trial(threads); }, threads, number, mode);
    });
    CHECK(wrong == "");
}
