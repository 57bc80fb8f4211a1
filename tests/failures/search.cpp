// Each allocation of a pattern search fails in turn. The requirements are those of complaint_about_trial().
#include <catch2/catch.hpp>

#include "one_trial.hpp"

namespace failures_search {

using namespace failing;

namespace {

constexpr int64_t n = 4, walks = 300;

class Trial {
  public:
    explicit Trial(int rule, int threads)
        : rule_(rule), threads_(threads), lower_(n, -2), upper_(n, 3), steps_(n, 0.25), points_(n * 2 * walks),
          values_(2 * walks), x_(n), g_(n) {}
    ~Trial() { cuda_opt_destroy(&s); }
    Trial(const Trial &) = delete;
    Trial &operator=(const Trial &) = delete;

    int create() {
        int code = cuda_opt_create_search(&s, n, walks, CUDA_OPT_BACKEND_HOST);
        return code == 0 ? prepare() : code;
    }
    int prepare() {
        int code = 0;
        for (const auto &[key, value] : {std::pair<int32_t, int64_t>(CUDA_OPT_THREADS, threads_),
                                         {CUDA_OPT_AT_SMALLEST_STEP, rule_},
                                         {CUDA_OPT_HALVINGS, 3},
                                         {CUDA_OPT_MAX_ITERATIONS, 12}})
            if (code == 0) code = cuda_opt_set_int(s, key, value);
        if (code == 0) code = cuda_opt_set_bounds(s, lower_.data(), upper_.data());
        if (code == 0) code = cuda_opt_search_set_steps(s, steps_.data());
        return code;
    }
    Outcome solve() {
        Outcome outcome{cuda_opt_search_solve(s, points_.data(), values_.data())};
        while (outcome.code > 0) {
            int64_t batch = 0;
            cuda_opt_get_int(s, CUDA_OPT_BATCH, &batch);
            for (int64_t p = 0; p < batch; p++) {
                for (int64_t j = 0; j < n; j++) x_[at(j)] = points_[at(j * 2 * walks + p)];
                values_[at(p)] = rosenbrock(x_.data(), g_.data(), n);
            }
            outcome.code = cuda_opt_search_solve(s, points_.data(), values_.data());
        }
        if (outcome.code == CUDA_OPT_OUT_OF_MEMORY) return outcome;
        return read(outcome);
    }
    // Returns the f of the best walk, and a hash of the point of the worst walk.
    Outcome read(Outcome outcome) {
        int64_t last = 0;
        for (const int code :
             {cuda_opt_get_real(s, CUDA_OPT_F, &outcome.f), cuda_opt_search_ranked(s, walks - 1, &last),
              cuda_opt_search_walk(s, last, x_.data(), nullptr)})
            if (code != 0) return {code, 0, 0};
        outcome.hash = hash_of(x_.data(), x_.size());
        return outcome;
    }

    static constexpr int end = CUDA_OPT_ITERATION_LIMIT;
    cuda_opt *s = nullptr;

  private:
    static std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }
    const int rule_, threads_;
    std::vector<double> lower_, upper_, steps_, points_, values_, x_, g_;
};

} // namespace

TEST_CASE("A pattern search reports or tolerates each failed allocation", "[failures]") {
    const int rule = GENERATE(0, 1, 2), threads = GENERATE(1, 3);
    INFO("rule " << rule << ", threads: " << threads);
    const std::string wrong = each_in_turn([&](int64_t number, Mode mode) {
        return complaint_about_trial([&] { return Trial(rule, threads); }, threads, number, mode);
    });
    CHECK(wrong == "");
}

} // namespace failures_search
