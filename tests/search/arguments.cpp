// Each invalid input gives its return code and a message with the values, by functor and by batches.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"
#include "naive.hpp"
#include "objectives.hpp"

using namespace search_test;
using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

void check_sentence(int code, int wanted, const std::string &message, const std::vector<std::string> &named) {
    INFO(message);
    CHECK(code == wanted);
    for (const std::string &part : named) CHECK(message.find(part) != std::string::npos);
}

void check_refused(const Problem &p, int wanted, const std::vector<std::string> &named) {
    cudaopt::HostSearch<Bowl> search(Bowl(), p.lower, p.upper, p.options);
    const int code = search.run();
    check_sentence(code, wanted, search.message(), named);
    CHECK(search.code() == wanted);
    CHECK(search.summary().evaluations == 0);
    CHECK(search.walk_point(0).empty());
    CHECK(search.walk_values().empty());
    CHECK(search.best_walks(1).empty());
}

// A search by batches whose first call is refused.
void check_first_call(const Problem &p, int wanted, const std::vector<std::string> &named) {
    BatchSearch search(p, CUDA_OPT_BACKEND_HOST);
    const int code = search.step([](const Vector &) { return 0; });
    check_sentence(code, wanted, search.message(), named);
    CHECK(search.get_int(CUDA_OPT_EVALUATIONS) == 0);
}

void check_creation(int64_t n, int64_t walks, int wanted, const std::vector<std::string> &named) {
    cuda_opt *s = nullptr;
    const int code = cuda_opt_create_search(&s, n, walks, CUDA_OPT_BACKEND_HOST);
    check_sentence(code, wanted, cuda_opt_message(s), named);
    double x = 0;
    CHECK(cuda_opt_search_solve(s, &x, &x) < 0);
    CHECK(cuda_opt_set_bounds(s, &x, &x) < 0);
    int64_t value = 0;
    CHECK(cuda_opt_get_int(s, CUDA_OPT_WALKS, &value) < 0);
    cuda_opt_destroy(&s);
}

} // namespace

TEST_CASE("An invalid number of variables or walks or iterations is refused", "[search]") {
    check_creation(0, 5, CUDA_OPT_IMPROPER_INPUT, {"variables", "0"});
    check_creation(int64_t{1} << 31, 5, CUDA_OPT_IMPROPER_INPUT, {"variables", "2147483648"});
    check_creation(3, 0, CUDA_OPT_IMPROPER_INPUT, {"walks", "0"});
    check_creation(3, -7, CUDA_OPT_IMPROPER_INPUT, {"walks", "-7"});
    CHECK(cuda_opt_create_search(nullptr, 3, 5, CUDA_OPT_BACKEND_HOST) == CUDA_OPT_MISUSE);

    check_refused(problem_of(0, 5, 5), CUDA_OPT_IMPROPER_INPUT, {"0 lower", "0 upper"});
    check_refused(problem_of(3, 0, 5), CUDA_OPT_IMPROPER_INPUT, {"walks", "0"});
    check_refused(problem_of(3, 5, -1), CUDA_OPT_IMPROPER_INPUT, {"iterations", "-1"});
}

TEST_CASE("Walks that do not fit into memory are refused with their size in bytes", "[search]") {
    check_creation(20, int64_t{1} << 60, CUDA_OPT_OUT_OF_MEMORY, {"1152921504606846976 walks", "n * walks * 8"});
    // 2^50 bytes of points: more than a machine maps.
    const std::vector<std::string> named = {"17592186044416 walks", "1125899906842624"};
    check_refused(problem_of(8, int64_t{1} << 44, 5), CUDA_OPT_OUT_OF_MEMORY, named);
    // Nor a history: 2^47 numbers; more than 2^60 bytes.
    Problem long_one = problem_of(8, 5, int64_t{1} << 47);
    long_one.options.history = true;
    check_refused(long_one, CUDA_OPT_OUT_OF_MEMORY, {"5 walks", "320 bytes", "the history 1125899906842632"});
    long_one.options.iterations = std::numeric_limits<int64_t>::max();
    check_refused(long_one, CUDA_OPT_OUT_OF_MEMORY, {"the history of 9223372036854775807 iterations", "2^60 bytes"});
}

CONFIGURED_TEST_CASE("A search by batches that does not fit into memory is refused with its size in bytes", "[search]",
                     HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    cuda_opt *s = nullptr;
    REQUIRE(cuda_opt_create_search(&s, 8, int64_t{1} << 44, TestType::backend) == 0);
    const Vector lower(8, 0), upper(8, 1);
    void *memory = nullptr;
    REQUIRE(cuda_opt_alloc(s, &memory, 16 * sizeof(double)) == 0);
    double *const box = static_cast<double *>(memory);
    REQUIRE(cuda_opt_copy_in(s, box, lower.data(), 8 * sizeof(double)) == 0);
    REQUIRE(cuda_opt_copy_in(s, box + 8, upper.data(), 8 * sizeof(double)) == 0);
    REQUIRE(cuda_opt_set_bounds(s, box, box + 8) == 0);
    const int code = cuda_opt_search_solve(s, box, box); // no point is written
    check_sentence(code, CUDA_OPT_OUT_OF_MEMORY, cuda_opt_message(s), {"17592186044416 walks", "1125899906842624"});
    CHECK(cuda_opt_search_solve(s, box, box) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_free(s, memory) == 0);
    cuda_opt_destroy(&s);
}

TEST_CASE("A box that is missing or not finite or empty is refused", "[search]") {
    struct Case {
        double lower, upper;
        std::vector<std::string> named;
    };
    const Case cases[] = {
        {-infinite, 1, {"variable 2", "-inf", "finite"}}, {0, infinite, {"variable 2", "inf", "finite"}},
        {nan_value, 1, {"variable 2", "nan", "finite"}},  {3, 1, {"variable 2", "3", "1", "exceed"}},
        {-1.5e308, 1.5e308, {"variable 2", "distance"}},
    };
    for (const Case &c : cases) {
        Problem p = problem_of(4, 5, 5);
        p.lower[2] = c.lower;
        p.upper[2] = c.upper;
        check_refused(p, CUDA_OPT_IMPROPER_INPUT, c.named);
        check_first_call(p, CUDA_OPT_IMPROPER_INPUT, c.named);
    }
    Problem p = problem_of(4, 5, 5);
    p.upper.pop_back();
    check_refused(p, CUDA_OPT_IMPROPER_INPUT, {"4 lower", "3 upper"});

    cuda_opt *s = nullptr;
    REQUIRE(cuda_opt_create_search(&s, 2, 5, CUDA_OPT_BACKEND_HOST) == 0);
    double points[20], values[10];
    const int code = cuda_opt_search_solve(s, points, values);
    check_sentence(code, CUDA_OPT_IMPROPER_INPUT, cuda_opt_message(s), {"cuda_opt_set_bounds", "lower"});
    const double lower[] = {0, 0}, upper[] = {1, 1};
    CHECK(cuda_opt_set_bounds(s, lower, upper) == 0);
    CHECK(cuda_opt_search_solve(s, points, values) == CUDA_OPT_EVALUATE_BATCH); // corrected, it goes on
    cuda_opt_destroy(&s);
}

TEST_CASE("Options of a search outside their ranges are refused", "[search]") {
    for (const double bad : {0.0, -1.0, infinite, nan_value}) {
        Problem p = problem_of(3, 5, 5);
        p.options.steps = {1, bad, 1};
        check_refused(p, CUDA_OPT_IMPROPER_INPUT, {"variable 1", "step"});
        check_first_call(p, CUDA_OPT_IMPROPER_INPUT, {"variable 1", "step"});
    }
    Problem p = problem_of(3, 5, 5);
    p.options.steps = {1, 1};
    check_refused(p, CUDA_OPT_IMPROPER_INPUT, {"2 steps", "3 variables"});
    p.options.steps.clear();
    p.options.halvings = 0;
    check_refused(p, CUDA_OPT_IMPROPER_INPUT, {"halvings", "0"});
    Problem rounds = problem_of(3, 5, 5);
    rounds.options.round_iterations = -1;
    check_refused(rounds, CUDA_OPT_IMPROPER_INPUT, {"round", "-1"});
    rounds.options.round_iterations = 20;
    rounds.options.at_smallest = cudaopt::AtSmallestStep::stop;
    check_refused(rounds, CUDA_OPT_IMPROPER_INPUT, {"rounds of 20", "smallest step"});
    check_first_call(rounds, CUDA_OPT_IMPROPER_INPUT, {"AT_SMALLEST_STEP is 1", "ROUND_ITERATIONS 20"});
    Problem wide = problem_of(3, 5, 5);
    wide.upper[1] = 1e300; // in double precision there is nothing wrong with it
    cudaopt::HostSearch<Bowl, 0, float> single(Bowl(), wide.lower, wide.upper, wide.options);
    check_sentence(single.run(), CUDA_OPT_IMPROPER_INPUT, single.message(), {"variable 1", "inf"});
    Problem lanes = problem_of(3, 5, 5);
    lanes.options.lanes = 16;
    check_refused(lanes, CUDA_OPT_IMPROPER_INPUT, {"lanes", "16"});
    cudaopt::HostSearch<Bowl, 4> search(Bowl(), p.lower, p.upper, problem_of(3, 5, 5).options);
    const int code = search.run();
    check_sentence(code, CUDA_OPT_IMPROPER_INPUT, search.message(), {"3 bounds", "n = 4"});
}

TEST_CASE("A search of a function that is NaN everywhere ends with NOT_FINITE", "[search]") {
    const Problem p = problem_of(3, 7, 5);
    cudaopt::HostSearch<Nowhere> search(Nowhere(), p.lower, p.upper, p.options);
    const int code = search.run();
    check_sentence(code, CUDA_OPT_NOT_FINITE, search.message(), {"NaN", "217 points"}); // 7 (1 + 2 3 5)
    CHECK(search.summary().value == infinite);

    BatchSearch batches(p, CUDA_OPT_BACKEND_HOST);
    const int code_of_batches = batches.run([](const Vector &) { return nan_value; });
    check_sentence(code_of_batches, CUDA_OPT_NOT_FINITE, batches.message(), {"NaN", "217 points"});
}

TEST_CASE("Settings and calls of another kind of handle are refused", "[search]") {
    BatchSearch search(problem_of(3, 5, 5), CUDA_OPT_BACKEND_HOST);
    cuda_opt *s = search;
    double x[3] = {}, f = 0;
    CHECK(cuda_opt_solve(s, x, &f, x) == CUDA_OPT_MISUSE);
    CHECK(std::string(cuda_opt_message(s)).find("cuda_opt_solve") != std::string::npos);
    CHECK(cuda_opt_set_diagonal(s, x) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_int(s, CUDA_OPT_MAXFEV, 3) == CUDA_OPT_IMPROPER_INPUT);
    CHECK(cuda_opt_set_real(s, CUDA_OPT_EPS, 3) == CUDA_OPT_IMPROPER_INPUT);
    CHECK(cuda_opt_set_real(s, CUDA_OPT_F_TARGET, nan_value) == CUDA_OPT_IMPROPER_INPUT);
    int64_t number = 0;
    CHECK(cuda_opt_get_int(s, CUDA_OPT_PAIRS, &number) == CUDA_OPT_IMPROPER_INPUT);
    CHECK(cuda_opt_get_real(s, CUDA_OPT_THETA, &f) == CUDA_OPT_IMPROPER_INPUT);
    for (const auto &[key, bad] : {std::pair<int, int>{CUDA_OPT_HALVINGS, 0},
                                   {CUDA_OPT_HALVINGS, 1001},
                                   {CUDA_OPT_AT_SMALLEST_STEP, 3},
                                   {CUDA_OPT_ROUND_ITERATIONS, -1},
                                   {CUDA_OPT_SEARCH_SEED, -1}})
        CHECK(cuda_opt_set_int(s, key, bad) == CUDA_OPT_IMPROPER_INPUT);

    std::vector<double> both(static_cast<std::size_t>(2 * 2 * search.get_int(CUDA_OPT_WALKS) * 8));
    CHECK(cuda_opt_search_solve(s, both.data(), both.data() + 1) == CUDA_OPT_MISUSE);
    CHECK(std::string(search.message()).find("points, of ") == 0);

    CHECK(cuda_opt_search_walk(s, 0, x, &f) == CUDA_OPT_MISUSE); // before the first values
    search.step([](const Vector &) { return 1; });
    search.step([](const Vector &) { return 1; });
    CHECK(cuda_opt_set_int(s, CUDA_OPT_SEARCH_SEED, 3) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_int(s, CUDA_OPT_ROUND_ITERATIONS, 3) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_search_set_steps(s, nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_bounds(s, x, x) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_search_solve(s, x, x) == CUDA_OPT_MISUSE); // other arrays
    CHECK(cuda_opt_search_walk(s, 5, x, &f) == CUDA_OPT_IMPROPER_INPUT);
    CHECK(cuda_opt_search_walk(s, -1, x, &f) == CUDA_OPT_IMPROPER_INPUT);
    CHECK(cuda_opt_search_ranked(s, 5, &number) == CUDA_OPT_IMPROPER_INPUT);
    CHECK(cuda_opt_search_ranked(s, 0, nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_search_walk(s, 4, nullptr, nullptr) == 0);
    CHECK(cuda_opt_search_solve(nullptr, x, x) == CUDA_OPT_MISUSE);

    cudaopt::Minimiser<double> solver(3, 5, CUDA_OPT_BACKEND_HOST);
    CHECK(cuda_opt_search_solve(solver, x, x) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_search_ranked(solver, 0, &number) == CUDA_OPT_MISUSE);
    CHECK(std::string(solver.message()).find("cuda_opt_create_search") != std::string::npos);
}
