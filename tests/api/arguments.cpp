// Tests of invalid arguments. Each is refused with its return code and a message that names the values.
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

bool mentions(const std::string &message, const std::string &what) { return message.find(what) != std::string::npos; }

// The return code of create() and the handle that it returns.
template <class Configuration> struct Creation {
    explicit Creation(int64_t n, int32_t m, int32_t backend = Configuration::backend)
        : code(Abi<typename Configuration::Real>::create(&handle, n, m, backend)) {}
    ~Creation() { cuda_opt_destroy(&handle); }
    std::string message() const { return cuda_opt_message(handle); }

    cuda_opt *handle = nullptr;
    int code;
};

// A handle whose creation failed has a message and can be destroyed. All other functions refuse it.
void check_failed_handle(cuda_opt *handle) {
    CHECK(cuda_opt_backend(handle) < 0);
    double x = 0, f = 0, g = 0;
    const std::string reason = cuda_opt_message(handle);
    CHECK(!reason.empty());
    CHECK(cuda_opt_solve(handle, &x, &f, &g) < 0);
    CHECK(cuda_opt_set_bounds(handle, &x, &x) < 0);
    CHECK(cuda_opt_set_uniform_bounds(handle, 0, 1) < 0);
    CHECK(cuda_opt_reset(handle) < 0);
    void *memory = nullptr;
    CHECK(cuda_opt_alloc(handle, &memory, 8) < 0);
    CHECK(memory == nullptr);
}

// Checks that the first call refuses the problem, names the numbers in its message, and does not change x.
template <class Configuration> void check_refused(const Problem &problem, const std::vector<std::string> &named) {
    Harness<Configuration> harness(problem, 3);
    CHECK(harness.step() == CUDA_OPT_IMPROPER_INPUT);
    const Outcome outcome = harness.outcome();
    CHECK(outcome.evaluations == 0);
    INFO(outcome.message);
    for (const std::string &number : named) CHECK(mentions(outcome.message, number));
    using Real = typename Configuration::Real;
    for (std::size_t i = 0; i < problem.start.size(); i++) {
        const Real before = static_cast<Real>(problem.start[i]);
        if (!(outcome.x[i] == before || (std::isnan(before) && std::isnan(outcome.x[i]))))
            FAIL_CHECK("the refused call has changed x");
    }
}

Problem zeros(int64_t n) {
    return {"zeros", Vector(static_cast<std::size_t>(n), 0.0), extended_rosenbrock(2).evaluate};
}

} // namespace

CONFIGURED_TEST_CASE("n has to be positive", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const int64_t n : {int64_t{0}, int64_t{-1}, int64_t{-123456789012}, std::numeric_limits<int64_t>::min()}) {
        INFO("n = " << n);
        const Creation<TestType> creation(n, 5);
        CHECK(creation.code == CUDA_OPT_IMPROPER_INPUT);
        CHECK(creation.code == -3);
        REQUIRE(creation.handle);
        CHECK(mentions(creation.message(), std::to_string(n)));
        CHECK(mentions(creation.message(), "n"));
        check_failed_handle(creation.handle);
    }
}

CONFIGURED_TEST_CASE("m must not be negative", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const int32_t m : {-1, -7, std::numeric_limits<int32_t>::min()}) {
        INFO("m = " << m);
        const Creation<TestType> creation(10, m);
        CHECK(creation.code == CUDA_OPT_IMPROPER_INPUT);
        REQUIRE(creation.handle);
        CHECK(mentions(creation.message(), std::to_string(m)));
        CHECK(mentions(creation.message(), "m"));
        check_failed_handle(creation.handle);
    }
}

CONFIGURED_TEST_CASE("With m = 0 the number of pairs is 40 on the host up to 1,000 variables, and 10 otherwise",
                     "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const auto pairs_of = [](int64_t n, int32_t m) {
        const Creation<TestType> creation(n, m);
        REQUIRE(creation.code == 0);
        int64_t pairs = 0;
        REQUIRE(cuda_opt_get_int(creation.handle, CUDA_OPT_HISTORY_SIZE, &pairs) == 0);
        return pairs;
    };
    const bool on_host = TestType::backend == CUDA_OPT_BACKEND_HOST;
    for (const int64_t n : {1, 39, 1000}) CHECK(pairs_of(n, 0) == (on_host ? 40 : 10));
    for (const int64_t n : {1001, 1000000}) CHECK(pairs_of(n, 0) == 10);
    for (const int32_t m : {1, 10, 41}) CHECK(pairs_of(500, m) == m);
}

CONFIGURED_TEST_CASE("The backend has to be one of the three", "[api]", HostDouble, HostFloat) {
    for (const int32_t backend : {-1, 3, 77}) {
        const Creation<TestType> creation(10, 5, backend);
        CHECK(creation.code == CUDA_OPT_IMPROPER_INPUT);
        REQUIRE(creation.handle);
        CHECK(mentions(creation.message(), std::to_string(backend)));
        check_failed_handle(creation.handle);
    }
}

CONFIGURED_TEST_CASE("A workspace that does not fit into memory ends with OUT_OF_MEMORY", "[api]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    struct Size {
        int64_t n;
        int32_t m;
    };
    for (const Size &size :
         {Size{int64_t{1} << 55, 5}, Size{int64_t{1} << 44, 7}, Size{std::numeric_limits<int64_t>::max(), 5},
          Size{std::numeric_limits<int64_t>::max(), std::numeric_limits<int32_t>::max()},
          Size{1, std::numeric_limits<int32_t>::max()}}) {
        INFO("n = " << size.n << ", m = " << size.m);
        Creation<TestType> creation(size.n, size.m);
        int code = creation.code;
        if (code == 0) {
            // No array of this length exists. The workspace is allocated before the arrays are accessed.
            using Real = typename TestType::Real;
            Handle<TestType> other(1, 1);
            Array<Real> x(other, 1), g(other, 1);
            Array<double> f(other, 1);
            code = Abi<Real>::solve(creation.handle, x.data(), f.data(), g.data());
        }
        CHECK(code == CUDA_OPT_OUT_OF_MEMORY);
        CHECK(mentions(creation.message(), "bytes"));
        CHECK(creation.message().find_first_of("0123456789") != std::string::npos);
    }
}

TEST_CASE("Without a GPU the backend AUTO uses the host and the backend CUDA is unavailable", "[api]") {
    const std::string reason = unavailable(CUDA_OPT_BACKEND_CUDA);
    Creation<HostDouble> automatic(10, 3, CUDA_OPT_BACKEND_AUTO);
    REQUIRE(automatic.code == 0);
    if (reason.empty()) {
        CHECK(cuda_opt_backend(automatic.handle) == CUDA_OPT_BACKEND_CUDA);
        return;
    }
    CHECK(cuda_opt_backend(automatic.handle) == CUDA_OPT_BACKEND_HOST);
    Creation<HostDouble> cuda(10, 3, CUDA_OPT_BACKEND_CUDA);
    CHECK(cuda.code == CUDA_OPT_BACKEND_UNAVAILABLE);
    REQUIRE(cuda.handle);
    CHECK(mentions(cuda.message(), "CUDA"));
    check_failed_handle(cuda.handle);
}

TEST_CASE("The functions of the C interface refuse NULL instead of a handle", "[api]") {
    double real = 0;
    float single = 0;
    int64_t integer = 0;
    void *memory = nullptr;
    CHECK(cuda_opt_create(nullptr, 10, 5, CUDA_OPT_BACKEND_HOST) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_create_f32(nullptr, 10, 5, CUDA_OPT_BACKEND_HOST) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_bounds(nullptr, &real, &real) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_bounds_f32(nullptr, &single, &single) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_uniform_bounds(nullptr, 0, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_uniform_bounds_f32(nullptr, 0, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_diagonal(nullptr, &real) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_diagonal_f32(nullptr, &single) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_stream(nullptr, nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_log(nullptr, nullptr, nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_solve(nullptr, &real, &real, &real) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_solve_f32(nullptr, &single, &real, &single) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_reset(nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_request_stop(nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_int(nullptr, CUDA_OPT_MAXFEV, 3) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_real(nullptr, CUDA_OPT_EPS, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_get_int(nullptr, CUDA_OPT_MAXFEV, &integer) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_get_real(nullptr, CUDA_OPT_EPS, &real) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_backend(nullptr) < 0);
    REQUIRE(cuda_opt_message(nullptr));
    CHECK(std::string(cuda_opt_message(nullptr)) != "");
    CHECK(cuda_opt_alloc(nullptr, &memory, 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_free(nullptr, &real) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_in(nullptr, &real, &real, 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_out(nullptr, &real, &real, 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_synchronize(nullptr) == CUDA_OPT_MISUSE);
    cuda_opt_destroy(nullptr);
    cuda_opt *none = nullptr;
    cuda_opt_destroy(&none);
    CHECK(none == nullptr);
}

TEST_CASE("Destroying sets the handle to NULL", "[api]") {
    cuda_opt *handle = nullptr;
    REQUIRE(cuda_opt_create(&handle, 3, 2, CUDA_OPT_BACKEND_HOST) == 0);
    cuda_opt_destroy(&handle);
    CHECK(handle == nullptr);
    double x = 0;
    CHECK(cuda_opt_solve(handle, &x, &x, &x) == CUDA_OPT_MISUSE);
}

CONFIGURED_TEST_CASE("NULL instead of an array or of the address of a result is refused", "[api]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    Handle<TestType> handle(2, 3);
    Array<Real> x(handle, 2), g(handle, 2);
    Array<double> f(handle, 1);
    x.write({0, 0});
    CHECK(Abi<Real>::solve(handle, nullptr, f.data(), g.data()) == CUDA_OPT_MISUSE);
    CHECK(mentions(cuda_opt_message(handle), "x"));
    CHECK(Abi<Real>::solve(handle, x.data(), nullptr, g.data()) == CUDA_OPT_MISUSE);
    CHECK(mentions(cuda_opt_message(handle), "f"));
    CHECK(Abi<Real>::solve(handle, x.data(), f.data(), nullptr) == CUDA_OPT_MISUSE);
    CHECK(mentions(cuda_opt_message(handle), "g"));
    CHECK(cuda_opt_get_int(handle, CUDA_OPT_MAXFEV, nullptr) == CUDA_OPT_MISUSE);
    CHECK(mentions(cuda_opt_message(handle), "NULL"));
    CHECK(cuda_opt_get_real(handle, CUDA_OPT_EPS, nullptr) == CUDA_OPT_MISUSE);
    double value = 0;
    CHECK(cuda_opt_alloc(handle, nullptr, 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_in(handle, nullptr, &value, 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_in(handle, f.data(), nullptr, 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_out(handle, nullptr, f.data(), 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_out(handle, &value, nullptr, 8) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_free(handle, nullptr) == 0);

    // The handle can still be used.
    CHECK(cuda_opt_reset(handle) == 0);
    CHECK(Abi<Real>::solve(handle, x.data(), f.data(), g.data()) == CUDA_OPT_EVALUATE_FG);
}

CONFIGURED_TEST_CASE("Negative and excessive numbers of bytes are refused", "[api]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    Handle<TestType> handle(2, 3);
    Array<double> f(handle, 1);
    double value = 0;
    void *memory = nullptr;
    CHECK(cuda_opt_alloc(handle, &memory, -8) == CUDA_OPT_MISUSE);
    CHECK(memory == nullptr);
    CHECK(cuda_opt_copy_in(handle, f.data(), &value, -16) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_copy_out(handle, &value, f.data(), -24) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_alloc(handle, &memory, std::numeric_limits<int64_t>::max()) == CUDA_OPT_OUT_OF_MEMORY);
    CHECK(memory == nullptr);
}

CONFIGURED_TEST_CASE("A lower bound above the upper bound is refused with its index", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const std::size_t where : {std::size_t{0}, std::size_t{37}, std::size_t{70000}}) {
        Problem problem = in_box(zeros(70001), -1, 1);
        problem.lower[where] = 5.25;
        problem.upper[where] = 3.75;
        check_refused<TestType>(problem, {"index " + std::to_string(where), "70001"});
    }
    // If there are several, the message names the first.
    Problem several = in_box(zeros(70001), -1, 1);
    several.lower[777] = several.lower[60000] = 5.25;
    check_refused<TestType>(several, {"index 777"});
}

CONFIGURED_TEST_CASE("NaN in a bound is refused with its index", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const bool in_lower : {true, false}) {
        INFO((in_lower ? "lower" : "upper"));
        Problem problem = in_box(zeros(3000), -1, 1);
        (in_lower ? problem.lower : problem.upper)[2718] = nan_value;
        check_refused<TestType>(problem, {"index 2718"});
        (in_lower ? problem.upper : problem.lower).clear();
        check_refused<TestType>(problem, {"index 2718"});
    }
}

CONFIGURED_TEST_CASE("Infinite bounds that leave no finite x are refused with their index", "[api]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double side : {infinite, -infinite}) {
        Problem problem = in_box(zeros(100), -1, 1);
        problem.lower[31] = problem.upper[31] = side;
        check_refused<TestType>(problem, {"index 31"});
    }
}

CONFIGURED_TEST_CASE("A start that is not finite is refused with its index", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Problem problem = zeros(4001);
    problem.start[3999] = nan_value;
    check_refused<TestType>(problem, {"index 3999"});
    check_refused<TestType>(in_box(problem, -1, 1), {"index 3999"});
    problem.start[3999] = infinite;
    check_refused<TestType>(problem, {"index 3999"});
}

TEST_CASE("The version and the names of tasks and return codes match the header", "[api]") {
    const std::string version = std::to_string(CUDA_OPT_VERSION_MAJOR) + "." + std::to_string(CUDA_OPT_VERSION_MINOR) +
                                "." + std::to_string(CUDA_OPT_VERSION_PATCH);
    CHECK(cuda_opt_version() == version);
    const std::vector<std::pair<int, std::string>> names = {
        {CUDA_OPT_EVALUATE_FG, "CUDA_OPT_EVALUATE_FG"},
        {CUDA_OPT_SUPPLY_DIAGONAL, "CUDA_OPT_SUPPLY_DIAGONAL"},
        {CUDA_OPT_NEW_ITERATE, "CUDA_OPT_NEW_ITERATE"},
        {CUDA_OPT_EVALUATE_BATCH, "CUDA_OPT_EVALUATE_BATCH"},
        {CUDA_OPT_EXCHANGE, "CUDA_OPT_EXCHANGE"},
        {CUDA_OPT_CONVERGED, "CUDA_OPT_CONVERGED"},
        {CUDA_OPT_LINE_SEARCH_FAILED, "CUDA_OPT_LINE_SEARCH_FAILED"},
        {CUDA_OPT_BAD_DIAGONAL, "CUDA_OPT_BAD_DIAGONAL"},
        {CUDA_OPT_APPLY_OPERATOR, "CUDA_OPT_APPLY_OPERATOR"},
        {CUDA_OPT_BAD_OPERATOR, "CUDA_OPT_BAD_OPERATOR"},
        {CUDA_OPT_IMPROPER_INPUT, "CUDA_OPT_IMPROPER_INPUT"},
        {CUDA_OPT_ITERATION_LIMIT, "CUDA_OPT_ITERATION_LIMIT"},
        {CUDA_OPT_EVALUATION_LIMIT, "CUDA_OPT_EVALUATION_LIMIT"},
        {CUDA_OPT_TIME_LIMIT, "CUDA_OPT_TIME_LIMIT"},
        {CUDA_OPT_NOT_FINITE, "CUDA_OPT_NOT_FINITE"},
        {CUDA_OPT_UNBOUNDED, "CUDA_OPT_UNBOUNDED"},
        {CUDA_OPT_CUDA_FAILURE, "CUDA_OPT_CUDA_FAILURE"},
        {CUDA_OPT_OUT_OF_MEMORY, "CUDA_OPT_OUT_OF_MEMORY"},
        {CUDA_OPT_BACKEND_UNAVAILABLE, "CUDA_OPT_BACKEND_UNAVAILABLE"},
        {CUDA_OPT_EXCHANGE_FAILED, "CUDA_OPT_EXCHANGE_FAILED"},
        {CUDA_OPT_MISUSE, "CUDA_OPT_MISUSE"},
        {CUDA_OPT_STOPPED, "CUDA_OPT_STOPPED"},
    };
    for (const auto &[task, name] : names) CHECK(cuda_opt_task_name(task) == name);
    for (const int task : {7, 99, -5, -99}) CHECK(cuda_opt_task_name(task) == std::string("unknown"));
}
