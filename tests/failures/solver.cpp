// Each allocation of a solve through cuda_opt.h fails in turn. The call must then return CUDA_OPT_OUT_OF_MEMORY with a
// message, or have the result of a solve without a failure. No memory may leak, and after a reset the handle must give
// results that are bitwise identical to those of another handle.
#include <catch2/catch.hpp>

#include "../support/abi.hpp"
#include "trials.hpp"

namespace failures_solver {

using namespace failing;

namespace {

using cudaopt_test::Abi;

struct Shape {
    int64_t n;
    int threads;
    bool bounded, diagonal, log;
    int history_bits = 0; // 0 selects the precision of x
    bool learned = false;
};

int64_t lines = 0;
void count_line(void *, const char *) { lines++; }

// One problem. Its arrays are the caller's and are allocated before anything fails.
template <class Real> class Trial {
  public:
    explicit Trial(const Shape &shape)
        : shape_(shape), x_(size()), g_(size()), lower_(size()), upper_(size()), diagonal_(size(), Real(0.01)) {
        for (std::size_t i = 0; i < size(); i++) {
            lower_[i] = static_cast<Real>(-2 + 0.1 * static_cast<double>(i % 13));
            upper_[i] = static_cast<Real>(0.6 + 0.1 * static_cast<double>(i % 7));
        }
    }
    ~Trial() { cuda_opt_destroy(&s); }
    Trial(const Trial &) = delete;
    Trial &operator=(const Trial &) = delete;

    int create() {
        int code = Abi<Real>::create(&s, shape_.n, 5, CUDA_OPT_BACKEND_HOST);
        if (code == 0) code = cuda_opt_set_int(s, CUDA_OPT_THREADS, shape_.threads);
        if (code == 0) code = cuda_opt_set_int(s, CUDA_OPT_MAX_ITERATIONS, 12);
        if (code == 0 && shape_.history_bits > 0)
            code = cuda_opt_set_int(s, CUDA_OPT_HISTORY_BITS, shape_.history_bits);
        if (code == 0 && shape_.bounded) code = Abi<Real>::set_bounds(s, lower_.data(), upper_.data());
        if (code == 0 && shape_.diagonal) code = cuda_opt_set_int(s, CUDA_OPT_DIAGCO, 1);
        if (code == 0 && shape_.learned) code = cuda_opt_set_int(s, CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED);
        if (code == 0 && shape_.diagonal) code = Abi<Real>::set_diagonal(s, diagonal_.data());
        if (code == 0 && shape_.log) code = cuda_opt_set_int(s, CUDA_OPT_IPRINT_FREQUENCY, 1);
        if (code == 0 && shape_.log) code = cuda_opt_set_int(s, CUDA_OPT_IPRINT_TYPE, 3);
        if (code == 0 && shape_.log) code = cuda_opt_set_log(s, count_line, nullptr);
        return code;
    }
    Outcome solve() {
        for (std::size_t i = 0; i < size(); i++) x_[i] = i % 2 ? Real(0.5) : Real(-1.2);
        Outcome outcome;
        while (outcome.code > 0) {
            outcome.code = Abi<Real>::solve(s, x_.data(), &f_, g_.data());
            if (outcome.code == CUDA_OPT_EVALUATE_FG) f_ = rosenbrock(x_.data(), g_.data(), shape_.n);
        }
        outcome.f = f_;
        outcome.hash = hash_of(x_.data(), size());
        return outcome;
    }
    // Creates a handle and solves with it.
    Outcome attempt() {
        const int code = create();
        return code == 0 ? solve() : Outcome{code, 0, 0};
    }

    cuda_opt *s = nullptr;

  private:
    std::size_t size() const { return static_cast<std::size_t>(shape_.n); }

    const Shape shape_;
    std::vector<Real> x_, g_, lower_, upper_, diagonal_;
    double f_ = 0;
};

std::string told(const char *what, const cuda_opt *s, int code) {
    return std::string(what) + ": code " + std::to_string(code) + ", '" + cuda_opt_message(s) + "'";
}

// Returns an empty string if a solve in which allocations fail may have this outcome, and otherwise the fault.
std::string improper(const cuda_opt *s, const Outcome &outcome, const Outcome &undisturbed) {
    if (outcome == undisturbed) return "";
    if (outcome.code != CUDA_OPT_OUT_OF_MEMORY) return told("a different result", s, outcome.code);
    return is_sentence(cuda_opt_message(s)) ? "" : told("the message is not a sentence", s, outcome.code);
}

std::string complaint_about(const char *what, const cuda_opt *s, const Outcome &outcome, const Outcome &undisturbed) {
    const std::string wrong = improper(s, outcome, undisturbed);
    return wrong.empty() ? "" : std::string(what) + ": " + wrong;
}

template <class Real> Outcome undisturbed(const Shape &shape) { return Trial<Real>(shape).attempt(); }

template <class Real> std::string body(const Shape &shape, int64_t number, Mode mode) {
    std::string wrong;
    Trial<Real> trial(shape);
    Outcome second{CUDA_OPT_OUT_OF_MEMORY};
    arm(number, mode);
    const Outcome first = trial.attempt();
    if (mode == Mode::from_then_on && trial.s) {
        // Solve again while all allocations fail.
        cuda_opt_reset(trial.s);
        if (cuda_opt_backend(trial.s) > 0) second = trial.solve();
        if (!is_sentence(cuda_opt_message(trial.s))) wrong = "the message is not a sentence";
        cuda_opt *none = nullptr;
        const int code = Abi<Real>::create(&none, 3, 3, CUDA_OPT_BACKEND_HOST);
        if (code != 0 && code != CUDA_OPT_OUT_OF_MEMORY) wrong = told("a second handle", none, code);
        cuda_opt_destroy(&none);
    }
    calm();
    // The solve without a failure comes afterwards, so that the first request for threads is made while calls fail.
    const Outcome wanted = undisturbed<Real>(shape);
    if (wrong.empty()) wrong = complaint_about("the solve", trial.s, first, wanted);
    if (wrong.empty() && mode == Mode::from_then_on && trial.s)
        wrong = complaint_about("after a reset, without memory", trial.s, second, wanted);
    if (wrong.empty() && cuda_opt_backend(trial.s) > 0) {
        const int code = cuda_opt_reset(trial.s);
        const Outcome again = trial.solve();
        if (code != 0 || !(again == wanted)) wrong = told("a different result after a reset", trial.s, again.code);
    }
    cuda_opt_destroy(&trial.s);
    if (wrong.empty() && shape.threads == 1 && left_over() != 0)
        wrong = std::to_string(left_over()) + " blocks are not freed";
    return wrong;
}

template <class Real> std::string each_allocation(const Shape &shape) {
    return each_in_turn([&](int64_t number, Mode mode) { return body<Real>(shape, number, mode); });
}

struct Change {
    int32_t key;
    int before, between;
    bool may_need_nothing; // all memory may be allocated already
};

// Runs three solves with one handle. The second has a changed setting, and each of its allocations fails in turn. The
// third has the setting of the first and must have the same result.
std::string each_allocation_after(const Change &change, const Shape &shape, const Outcome &wanted_between) {
    const auto body = [&](int64_t number, Mode mode) -> std::string {
        Trial<double> trial(shape);
        const Outcome wanted = trial.attempt();
        cuda_opt_reset(trial.s);
        cuda_opt_set_int(trial.s, change.key, change.between);
        arm(number, mode);
        const Outcome changed = trial.solve();
        calm();
        const std::string wrong = complaint_about("the solve", trial.s, changed, wanted_between);
        if (!wrong.empty()) return wrong;
        int64_t bytes = -1;
        if (cuda_opt_get_int(trial.s, CUDA_OPT_WORKSPACE_BYTES, &bytes) != 0 || bytes < 0)
            return "CUDA_OPT_WORKSPACE_BYTES cannot be read";
        cuda_opt_reset(trial.s);
        cuda_opt_set_int(trial.s, change.key, change.before);
        return trial.solve() == wanted ? "" : "a different result with the previous value of the setting";
    };
    return each_in_turn(body, change.may_need_nothing);
}

} // namespace

TEMPLATE_TEST_CASE("A solve reports or tolerates each failed allocation", "[failures]", double, float) {
    const bool bounded = GENERATE(false, true), diagonal = GENERATE(false, true);
    INFO("bounded: " << bounded << ", diagonal: " << diagonal);
    const std::string wrong = each_allocation<TestType>({50, 1, bounded, diagonal, false});
    CHECK(wrong == "");
}

TEMPLATE_TEST_CASE("A solve with a log reports or tolerates each failed allocation", "[failures]", double, float) {
    const std::string wrong = each_allocation<TestType>({50, 1, true, false, true});
    CHECK(wrong == "");
}

TEMPLATE_TEST_CASE("A solve on several threads reports or tolerates each failed allocation", "[failures]", double,
                   float) {
    const std::string wrong = each_allocation<TestType>({20000, 4, true, false, false});
    CHECK(wrong == "");
}

TEMPLATE_TEST_CASE("A solve with a lower history precision reports or tolerates each failed allocation", "[failures]",
                   double, float) {
    const int bits = GENERATE(32, 16);
    if (bits == 8 * sizeof(TestType)) return;
    INFO(bits << " bits");
    const std::string wrong = each_allocation<TestType>({50, 1, true, false, false, bits});
    CHECK(wrong == "");
}

TEMPLATE_TEST_CASE("A solve with a learned diagonal reports or tolerates each failed allocation", "[failures]", double,
                   float) {
    const std::string wrong = each_allocation<TestType>({50, 1, true, false, false, 0, true});
    CHECK(wrong == "");
}

// The first call creates other sweeps. If this fails, the handle must work as before with any history precision.
TEST_CASE("A change of the history precision can be undone after a failed allocation", "[failures]") {
    const int between = GENERATE(64, 32, 16);
    INFO("64 bits, then " << between << ", then 64");
    const Shape shape{50, 1, true, false, false, 64}, other{50, 1, true, false, false, between};
    const std::string wrong =
        each_allocation_after({CUDA_OPT_HISTORY_BITS, 64, between, between == 64}, shape, undisturbed<double>(other));
    CHECK(wrong == "");
}

TEST_CASE("A change of the number of threads can be undone after a failed allocation", "[failures]") {
    const int before = GENERATE(1, 4), between = GENERATE(1, 2, 8);
    INFO(before << " threads, then " << between << ", then " << before);
    // The solve for comparison uses one thread, because the thread pool must be created while allocations fail.
    const Shape shape{20000, before, true, false, false}, alone{20000, 1, true, false, false};
    const std::string wrong = each_allocation_after({CUDA_OPT_THREADS, before, between, between <= before}, shape,
                                                    undisturbed<double>(alone));
    CHECK(wrong == "");
}

TEMPLATE_TEST_CASE("A solve has the same result if threads cannot be created", "[failures]", double, float) {
    const Shape shape{20000, 4, true, false, false};
    const std::string wrong = each_in_turn([&](int64_t number, Mode mode) -> std::string {
        arm_threads(number, mode);
        Trial<TestType> trial(shape);
        const Outcome outcome = trial.attempt();
        calm();
        Shape alone = shape;
        alone.threads = 1;
        return complaint_about("the solve", trial.s, outcome, undisturbed<TestType>(alone));
    });
    CHECK(wrong == "");
}

TEST_CASE("cuda_opt_create and cuda_opt_alloc report each failed allocation and leak nothing", "[failures]") {
    const std::string wrong = each_in_turn([](int64_t number, Mode mode) -> std::string {
        void *memory = nullptr;
        cuda_opt *s = nullptr;
        arm(number, mode);
        int code = cuda_opt_create(&s, 3, 3, CUDA_OPT_BACKEND_HOST);
        if (code == 0) code = cuda_opt_alloc(s, &memory, 1000);
        const bool sentence = is_sentence(cuda_opt_message(s));
        cuda_opt_free(s, memory);
        cuda_opt_destroy(&s);
        calm();
        if (failed() != (code == CUDA_OPT_OUT_OF_MEMORY)) return "code " + std::to_string(code);
        if (left_over() != 0) return std::to_string(left_over()) + " blocks are not freed";
        return sentence ? "" : "the message is not a sentence";
    });
    CHECK(wrong == "");
}

} // namespace failures_solver
