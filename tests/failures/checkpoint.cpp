// Each allocation of a load fails in turn. The load returns "out of memory" with a message and leaks nothing. The
// handle can then be used as after a reset, or load the checkpoint once there is enough memory.
#include <catch2/catch.hpp>

#include <vector>

#include "trials.hpp"

namespace failures_checkpoint {

using namespace failing;

namespace {

constexpr int64_t n = 40;

struct Solve {
    cuda_opt *s = nullptr;
    std::vector<double> x = std::vector<double>(n, -1.2), g = std::vector<double>(n),
                        lower = std::vector<double>(n, -2);
    double f = 0;

    explicit Solve(int history_bits) {
        cuda_opt_create(&s, n, 4, CUDA_OPT_BACKEND_HOST);
        cuda_opt_set_int(s, CUDA_OPT_THREADS, 1);
        cuda_opt_set_int(s, CUDA_OPT_MAX_ITERATIONS, 12);
        cuda_opt_set_int(s, CUDA_OPT_HISTORY_BITS, history_bits);
        cuda_opt_set_bounds(s, lower.data(), nullptr);
    }
    ~Solve() { cuda_opt_destroy(&s); }
    Solve(const Solve &) = delete;
    Solve &operator=(const Solve &) = delete;

    Outcome run(int calls) {
        Outcome outcome;
        while (calls-- > 0 && outcome.code > 0) {
            outcome.code = cuda_opt_solve(s, x.data(), &f, g.data());
            if (outcome.code == CUDA_OPT_EVALUATE_FG) f = rosenbrock(x.data(), g.data(), n);
        }
        outcome.f = f;
        outcome.hash = hash_of(x.data(), x.size());
        return outcome;
    }
    int load(const std::vector<unsigned char> &from) {
        return cuda_opt_load(s, from.data(), static_cast<int64_t>(from.size()), x.data(), &f, g.data());
    }
};

std::string complaint(const std::vector<unsigned char> &checkpoint, const Outcome &wanted, int64_t number, Mode mode) {
    std::string wrong;
    {
        Solve to(64);
        arm(number, mode);
        const int code = to.load(checkpoint);
        const bool has_failed = failed();
        calm();
        if (code != (has_failed ? CUDA_OPT_OUT_OF_MEMORY : 0)) wrong = "code " + std::to_string(code);
        if (!is_sentence(cuda_opt_message(to.s))) wrong = "the message is not a sentence";
        if (code != 0 && cuda_opt_save(to.s, nullptr, &number) != CUDA_OPT_MISUSE) wrong = "a solve has begun";
        if (wrong.empty() && code != 0 && to.load(checkpoint) != 0)
            wrong = "the checkpoint cannot be loaded afterwards";
        if (wrong.empty() && !(to.run(1000) == wanted)) wrong = "the solve has a different result";
    }
    if (wrong.empty() && left_over() != 0) wrong = std::to_string(left_over()) + " blocks are not freed";
    return wrong;
}

} // namespace

TEST_CASE("cuda_opt_load reports each failed allocation and can be repeated", "[failures]") {
    for (const int bits : {64, 16}) {
        INFO("history precision of " << bits << " bits");
        Solve from(bits);
        REQUIRE(from.run(9).code > 0);
        int64_t bytes = 0;
        REQUIRE(cuda_opt_save(from.s, nullptr, &bytes) == 0);
        std::vector<unsigned char> checkpoint(static_cast<std::size_t>(bytes));
        REQUIRE(cuda_opt_save(from.s, checkpoint.data(), &bytes) == 0);
        const Outcome wanted = from.run(1000);
        CHECK(each_in_turn([&](int64_t number, Mode mode) { return complaint(checkpoint, wanted, number, mode); }) ==
              "");
    }
}

} // namespace failures_checkpoint
