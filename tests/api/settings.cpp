// Tests of the settings, their defaults, the limits of their ranges and unknown keys, and of the results, which can be
// read at any time but not set.
#include <catch2/catch.hpp>
#include <limits>

#include "../support/harness.hpp"

namespace api_settings {

using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

struct IntegerSetting {
    std::string name;
    int key;
    int64_t value_by_default;
    std::vector<int64_t> good, bad;
};

const std::vector<IntegerSetting> integer_settings = {
    {"max_iterations", CUDA_OPT_MAX_ITERATIONS, 2000, {0, 1, int64_t{1} << 40}, {-1}},
    {"max_evaluations", CUDA_OPT_MAX_EVALUATIONS, 0, {0, 1, int64_t{1} << 40}, {-1}},
    {"maxfev", CUDA_OPT_MAXFEV, 20, {1, 2, 1000}, {0, -1}},
    {"max_cuts", CUDA_OPT_MAX_CUTS, 30, {0, 1}, {-1}},
    {"diagco", CUDA_OPT_DIAGCO, 0, {0, 1}, {-1, 2}},
    {"metric", CUDA_OPT_METRIC, 0, {0, 1, 2, 3}, {-1, 4}},
    {"approximate_cauchy", CUDA_OPT_APPROXIMATE_CAUCHY, 0, {0, 1}, {-1, 2}},
    {"report_iterates", CUDA_OPT_REPORT_ITERATES, 0, {0, 1}, {-1, 2}},
    {"threads", CUDA_OPT_THREADS, 0, {0, 1, 64}, {-1}},
    {"iprint_frequency", CUDA_OPT_IPRINT_FREQUENCY, -1, {-5, -1, 0, 1, 1000}, {}},
    {"iprint_type", CUDA_OPT_IPRINT_TYPE, 0, {0, 1, 2, 3, 4}, {-1, 5}},
    {"robust", CUDA_OPT_ROBUST, 1, {0, 1}, {-1, 2}},
    {"noise_auto", CUDA_OPT_NOISE_AUTO, 0, {0, 1}, {-1, 2}},
    {"history_bits", CUDA_OPT_HISTORY_BITS, 64, {16, 32, 64}, {0, -1, 8, 24, 48, 65, 128}},
    {"product_bits", CUDA_OPT_PRODUCT_BITS, 64, {32, 64}, {0, -1, 16, 33, 48, 65, 128}},
    {"diagonal_every", CUDA_OPT_DIAGONAL_EVERY, 1, {0, 1, 7, int64_t{1} << 40}, {-1}},
    {"f_part", CUDA_OPT_F_PART, 0, {0, 1, 2}, {-1, 3}},
    {"timed", CUDA_OPT_TIMED, 1, {0, 1}, {-1, 2}},
};

struct RealSetting {
    std::string name;
    int key;
    double value_by_default;
    std::vector<double> good, bad;
};

const std::vector<RealSetting> real_settings = {
    {"eps", CUDA_OPT_EPS, 0, {0, 1e-300, 0.5, 2}, {-0.25}},
    {"pgtol", CUDA_OPT_PGTOL, 1e-5, {0, 1e-300, 0.5, 2}, {-0.25}},
    {"factr", CUDA_OPT_FACTR, 1e7, {0, 1, 1e7, 1e12}, {-0.25}},
    {"f_target", CUDA_OPT_F_TARGET, -infinite, {-infinite, -3.5, 0, 1e300}, {}},
    {"gtol", CUDA_OPT_GTOL, 0.9, {0.000101, 0.5, 0.999}, {0.0001, 0, -0.5, 1, 1.5}},
    {"ftol", CUDA_OPT_FTOL, 1e-4, {0, 1e-300, 0.5, 0.999}, {-0.25, 1, 1.5}},
    {"xtol", CUDA_OPT_XTOL, 0.1, {0, 1e-300, 0.5}, {-0.25}},
    {"stpmin", CUDA_OPT_STPMIN, 1e-20, {0, 1e-300, 0.5}, {-0.25, 2e20}},
    {"stpmax", CUDA_OPT_STPMAX, 1e20, {1e-19, 0.5, 1e100}, {0, -0.25, 1e-21}},
    {"max_seconds", CUDA_OPT_MAX_SECONDS, 0, {0, 0.5, 1e9}, {-0.25}},
    {"relative_gtol", CUDA_OPT_RELATIVE_GTOL, 5e-4, {0, 1e-300, 0.5, infinite}, {-0.25}},
    {"rounding", CUDA_OPT_ROUNDING, 100, {0, 1, 1e6}, {-0.25, infinite}},
    {"noise", CUDA_OPT_NOISE, 0, {0, 1e-300, 0.5}, {-0.25, 1, infinite}},
    {"noise_abs", CUDA_OPT_NOISE_ABS, 0, {0, 1e-300, 0.5, 1e300}, {-0.25, infinite}},
    {"f_unbounded", CUDA_OPT_F_UNBOUNDED, -1e300, {-infinite, -3.5, 0, 1e300}, {infinite}},
};

// clang-format off
const std::vector<int> integer_results = {
    CUDA_OPT_ITERATIONS,        CUDA_OPT_EVALUATIONS,     CUDA_OPT_FREE_COUNT,          CUDA_OPT_LOWER_COUNT,
    CUDA_OPT_UPPER_COUNT,       CUDA_OPT_SKIPPED_UPDATES, CUDA_OPT_CAUCHY_SEGMENTS,     CUDA_OPT_LINE_SEARCH_INFO,
    CUDA_OPT_REFRESHES,         CUDA_OPT_CUTS,            CUDA_OPT_CAUCHY_CROSSINGS,    CUDA_OPT_BREAKPOINTS_CROSSED,
    CUDA_OPT_WORKSPACE_BYTES,   CUDA_OPT_STOP_TEST,       CUDA_OPT_PAIRS,               CUDA_OPT_START_PROJECTED,
    CUDA_OPT_DIMENSION,         CUDA_OPT_MEMORY,          CUDA_OPT_PRECISION,           CUDA_OPT_SUBSPACE_TRUNCATIONS,
    CUDA_OPT_CAUCHY_FREE_COUNT, CUDA_OPT_CAUCHY_BREAKPOINTS, CUDA_OPT_SUBSPACE_PROJECTED,
    CUDA_OPT_OPERATOR_APPLICATIONS, CUDA_OPT_OPERATOR_REFUSALS};
const std::vector<int> real_results = {
    CUDA_OPT_F,     CUDA_OPT_PG_NORM2,       CUDA_OPT_PG_NORM_INF, CUDA_OPT_X_NORM2,       CUDA_OPT_STEP,
    CUDA_OPT_THETA, CUDA_OPT_SOLVER_SECONDS, CUDA_OPT_CAUCHY_T,    CUDA_OPT_CAUCHY_T_FIRST,
    CUDA_OPT_DIRECTION_NORM2, CUDA_OPT_SLOPE_START, CUDA_OPT_SLOPE,
    CUDA_OPT_NOISE_ESTIMATE};
// clang-format on

class Settings : public Handle<HostDouble> {
  public:
    Settings() : Handle(10, 5) {}
    int64_t get_int(int key) {
        int64_t value = std::numeric_limits<int64_t>::min();
        CHECK(cuda_opt_get_int(*this, key, &value) == 0);
        return value;
    }
    double get_real(int key) {
        double value = nan_value;
        CHECK(cuda_opt_get_real(*this, key, &value) == 0);
        return value;
    }
    bool message_mentions(const std::string &what) {
        const std::string message = cuda_opt_message(*this);
        UNSCOPED_INFO(message);
        return message.find(what) != std::string::npos;
    }
};

std::string shortest(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

} // namespace

TEST_CASE("Every setting has the default of the header", "[api]") {
    Settings settings;
    for (const IntegerSetting &setting : integer_settings) {
        INFO(setting.name);
        CHECK(settings.get_int(setting.key) == setting.value_by_default);
    }
    for (const RealSetting &setting : real_settings) {
        INFO(setting.name);
        CHECK(settings.get_real(setting.key) == setting.value_by_default);
    }
}

TEST_CASE("Integer settings accept their range and nothing else", "[api]") {
    for (const IntegerSetting &setting : integer_settings) {
        Settings settings;
        INFO(setting.name);
        for (const int64_t value : setting.good) {
            INFO(value);
            CHECK(cuda_opt_set_int(settings, setting.key, value) == 0);
            CHECK(settings.get_int(setting.key) == value);
        }
        for (const int64_t value : setting.bad) {
            INFO(value);
            CHECK(cuda_opt_set_int(settings, setting.key, value) == CUDA_OPT_IMPROPER_INPUT);
            CHECK(settings.message_mentions(std::to_string(value)));
            CHECK(settings.get_int(setting.key) == setting.good.back());
        }
        double real = 0;
        CHECK(cuda_opt_set_real(settings, setting.key, 1) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(settings.message_mentions(" is an integer setting, for cuda_opt_set_int"));
        CHECK(cuda_opt_get_real(settings, setting.key, &real) == CUDA_OPT_IMPROPER_INPUT);
    }
}

TEST_CASE("Real settings accept their range and nothing else", "[api]") {
    for (const RealSetting &setting : real_settings) {
        Settings settings;
        INFO(setting.name);
        // Refused values leave the default. Afterwards each good value is accepted.
        for (const double value : setting.bad) {
            INFO(value);
            CHECK(cuda_opt_set_real(settings, setting.key, value) == CUDA_OPT_IMPROPER_INPUT);
            CHECK(settings.message_mentions(shortest(value)));
            CHECK(settings.get_real(setting.key) == setting.value_by_default);
        }
        CHECK(cuda_opt_set_real(settings, setting.key, nan_value) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(settings.get_real(setting.key) == setting.value_by_default);
        for (const double value : setting.good) {
            INFO(value);
            CHECK(cuda_opt_set_real(settings, setting.key, value) == 0);
            CHECK(settings.get_real(setting.key) == value);
        }
        int64_t integer = 0;
        CHECK(cuda_opt_set_int(settings, setting.key, 1) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(settings.message_mentions(" is a real setting, for cuda_opt_set_real"));
        CHECK(cuda_opt_get_int(settings, setting.key, &integer) == CUDA_OPT_IMPROPER_INPUT);
    }
}

TEST_CASE("Unknown keys are refused with a message that names their number", "[api]") {
    Settings settings;
    int64_t integer = 42;
    double real = 42;
    for (const int key : {0, -1, 99, 118, 199, 215, 299, 325, 399, 413, 98765}) {
        INFO("key " << key);
        CHECK(cuda_opt_set_int(settings, key, 1) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(settings.message_mentions(std::to_string(key)));
        CHECK(cuda_opt_set_real(settings, key, 1) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(cuda_opt_get_int(settings, key, &integer) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(settings.message_mentions(std::to_string(key) + " is not the key of an integer setting or result"));
        CHECK(cuda_opt_get_real(settings, key, &real) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(settings.message_mentions(std::to_string(key) + " is not the key of a real setting or result"));
        CHECK(integer == 42);
        CHECK(real == 42);
    }
}

TEST_CASE("Results can be read before the first call and cannot be set", "[api]") {
    Settings settings;
    for (const int key : integer_results) {
        INFO("key " << key);
        CHECK(settings.get_int(key) >= 0);
        CHECK(cuda_opt_set_int(settings, key, 1) == CUDA_OPT_IMPROPER_INPUT);
    }
    for (const int key : real_results) {
        INFO("key " << key);
        settings.get_real(key);
        CHECK(cuda_opt_set_real(settings, key, 1) == CUDA_OPT_IMPROPER_INPUT);
    }
    CHECK(settings.get_int(CUDA_OPT_ITERATIONS) == 0);
    CHECK(settings.get_int(CUDA_OPT_EVALUATIONS) == 0);
    CHECK(settings.get_int(CUDA_OPT_DIMENSION) == 10);
    CHECK(settings.get_int(CUDA_OPT_MEMORY) == 5);
    CHECK(settings.get_int(CUDA_OPT_PRECISION) == 64);
    CHECK(cuda_opt_backend(settings) == CUDA_OPT_BACKEND_HOST);
    CHECK(Handle<HostFloat>(3, 1) != nullptr);
    int64_t bits = 0;
    CHECK(cuda_opt_get_int(Handle<HostFloat>(3, 1), CUDA_OPT_PRECISION, &bits) == 0);
    CHECK(bits == 32);
}

TEST_CASE("DIAGCO is 1 exactly if METRIC selects the caller's diagonal", "[api]") {
    Settings settings;
    CHECK(cuda_opt_set_int(settings, CUDA_OPT_DIAGCO, 1) == 0);
    CHECK(settings.get_int(CUDA_OPT_METRIC) == CUDA_OPT_METRIC_DIAGONAL);
    CHECK(cuda_opt_set_int(settings, CUDA_OPT_DIAGCO, 0) == 0);
    CHECK(settings.get_int(CUDA_OPT_METRIC) == CUDA_OPT_METRIC_ONE_NUMBER);
    CHECK(cuda_opt_set_int(settings, CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED) == 0);
    CHECK(settings.get_int(CUDA_OPT_DIAGCO) == 0);
    CHECK(cuda_opt_set_int(settings, CUDA_OPT_DIAGCO, 0) == 0); // the caller's diagonal was not selected
    CHECK(settings.get_int(CUDA_OPT_METRIC) == CUDA_OPT_METRIC_LEARNED);
    CHECK(cuda_opt_set_int(settings, CUDA_OPT_DIAGCO, 1) == 0);
    CHECK(cuda_opt_set_int(settings, CUDA_OPT_METRIC, CUDA_OPT_METRIC_ONE_NUMBER) == 0);
    CHECK(settings.get_int(CUDA_OPT_DIAGCO) == 0);
}

TEST_CASE("HISTORY_BITS is the precision of x by default and cannot exceed it", "[api]") {
    const auto bits_of = [](const cuda_opt *s) {
        int64_t bits = 0;
        CHECK(cuda_opt_get_int(s, CUDA_OPT_HISTORY_BITS, &bits) == 0);
        return bits;
    };
    const cudaopt::Minimiser<double> wide(3, 2, CUDA_OPT_BACKEND_HOST);
    cudaopt::Minimiser<float> single(3, 2, CUDA_OPT_BACKEND_HOST);
    CHECK(bits_of(wide) == 64);
    CHECK(bits_of(single) == 32);
    CHECK(cuda_opt_set_int(single, CUDA_OPT_HISTORY_BITS, 64) == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(cuda_opt_message(single), Catch::Contains("CUDA_OPT_HISTORY_BITS is 64, but has to be 32 or 16"));
    CHECK(bits_of(single) == 32);
    CHECK(cuda_opt_set_int(single, CUDA_OPT_HISTORY_BITS, 16) == 0);
    CHECK(bits_of(single) == 16);
    CHECK(cuda_opt_set_int(single, CUDA_OPT_HISTORY_BITS, 24) == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(cuda_opt_message(single), Catch::Contains("is 24, but has to be 32 or 16, because x has 32"));
    CHECK(bits_of(single) == 16);
    CHECK(cuda_opt_set_int(single, CUDA_OPT_HISTORY_BITS, 32) == 0);

    cuda_opt *search = nullptr;
    REQUIRE(cuda_opt_create_search(&search, 2, 3, CUDA_OPT_BACKEND_HOST) == 0);
    CHECK(cuda_opt_set_int(search, CUDA_OPT_HISTORY_BITS, 32) == CUDA_OPT_IMPROPER_INPUT);
    cuda_opt_destroy(&search);
}

TEST_CASE("A reset keeps the settings", "[api]") {
    Settings settings;
    REQUIRE(cuda_opt_set_int(settings, CUDA_OPT_MAXFEV, 7) == 0);
    REQUIRE(cuda_opt_set_real(settings, CUDA_OPT_FTOL, 0.25) == 0);
    REQUIRE(cuda_opt_set_int(settings, CUDA_OPT_HISTORY_BITS, 16) == 0);
    REQUIRE(cuda_opt_reset(settings) == 0);
    CHECK(settings.get_int(CUDA_OPT_MAXFEV) == 7);
    CHECK(settings.get_int(CUDA_OPT_HISTORY_BITS) == 16);
    CHECK(settings.get_real(CUDA_OPT_FTOL) == 0.25);
}

// f = |x - c|^2 / 2 in the unit box, from 0. The first Cauchy point is P(c): two variables stop at their upper bounds,
// one reaches c_i, and one is active.
CONFIGURED_TEST_CASE("The results on the last direction match values computed by hand", "[api]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    const Vector c = {3, 3, 0.5, -1};
    const auto evaluate = [c](const Vector &x, Vector &g) {
        double f = 0;
        for (std::size_t i = 0; i < x.size(); i++) {
            g[i] = x[i] - c[i];
            f += g[i] * g[i] / 2;
        }
        return f;
    };
    Harness<TestType> harness({"distance", Vector(4, 0.0), evaluate, Vector(4, 0.0), Vector(4, 1.0)}, 3);
    while (harness.step() == CUDA_OPT_EVALUATE_FG) {
    }
    REQUIRE(harness.get_int(CUDA_OPT_ITERATIONS) == 1);
    CHECK(harness.get_int(CUDA_OPT_CAUCHY_BREAKPOINTS) == 2);
    CHECK(harness.get_int(CUDA_OPT_CAUCHY_FREE_COUNT) == 1);
    CHECK(harness.get_int(CUDA_OPT_SUBSPACE_PROJECTED) == 0);
    CHECK(harness.get_real(CUDA_OPT_DIRECTION_NORM2) == 1.5);
    CHECK(harness.get_real(CUDA_OPT_SLOPE_START) == -6.25);
    CHECK(harness.get_real(CUDA_OPT_SLOPE) == -4);
}

} // namespace api_settings
