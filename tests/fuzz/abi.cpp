#include "abi.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fuzz {

namespace {

constexpr int64_t any = INT64_MAX;

bool inside(const RealKey &range, double value) {
    return (range.open_below ? value > range.least : value >= range.least) &&
           (range.open_above ? value < range.most : value <= range.most);
}

double real_of(const cuda_opt *s, int32_t key) {
    double value = 0;
    cuda_opt_get_real(s, key, &value);
    return value;
}

int64_t int_of(const cuda_opt *s, int32_t key) {
    int64_t value = 0;
    cuda_opt_get_int(s, key, &value);
    return value;
}

template <class Setting> bool has_key(const std::vector<Setting> &settings, int32_t key) {
    return std::any_of(settings.begin(), settings.end(), [key](const Setting &one) { return one.key == key; });
}

bool has_key(const std::vector<int32_t> &results, int32_t key) {
    return std::find(results.begin(), results.end(), key) != results.end();
}

// Returns an integer that is close to the keys of the header or far from them.
int32_t guess_key(Random &random) {
    if (random.chance(0.3)) return static_cast<int32_t>(random.pick<int64_t>({0, -1, random.hostile_integer()}));
    return static_cast<int32_t>(100 * random.from_to(1, 4) + random.from_to(0, 50));
}

void set_any_int(Run &run, cuda_opt *s, bool started) {
    Random &random = run.random;
    const IntKey &setting =
        int_settings[static_cast<std::size_t>(random.below(static_cast<int64_t>(int_settings.size())))];
    const bool history = setting.key == CUDA_OPT_HISTORY_BITS,
               of_bits = history || setting.key == CUDA_OPT_PRODUCT_BITS;
    int64_t value = of_bits && random.chance(0.5) ? random.pick<int64_t>({64, 32, 16})
                    : random.chance(0.5)          ? random.hostile_integer()
                                                  : random.from_to(0, 40);
    if (setting.key == CUDA_OPT_METRIC && value == CUDA_OPT_INITIAL_HESSIAN_OPERATOR)
        value = CUDA_OPT_INITIAL_HESSIAN_LEARNED; // an operator needs arrays; operator_episode() tests it
    const int code = run.call("cuda_opt_set_int", [&] { return cuda_opt_set_int(s, setting.key, value); });
    run.trace("set_int(%d, %lld) = %d", setting.key, static_cast<long long>(value), code);
    const bool bits = value == 16 || value == 32 || value == 64;
    const bool good = history                                ? bits && value <= int_of(s, CUDA_OPT_PRECISION)
                      : setting.key == CUDA_OPT_PRODUCT_BITS ? value == 32 || value == 64
                                                             : value >= setting.least && value <= setting.most;
    const bool late = started && setting.before_start;
    check_code(run, s, "set_int", code, {!good ? CUDA_OPT_IMPROPER_INPUT : late ? CUDA_OPT_MISUSE : 0});
    int64_t kept = ~value;
    cuda_opt_get_int(s, setting.key, &kept);
    if (code == 0 && kept != value) run.fault("setting_lost", "key %d", setting.key);
}

void set_any_real(Run &run, cuda_opt *s) {
    Random &random = run.random;
    const RealKey &setting =
        real_settings[static_cast<std::size_t>(random.below(static_cast<int64_t>(real_settings.size())))];
    double value = random.chance(0.6) ? random.hostile() : random.power_of_10(-20, 0);
    // Time limits that may be reached are not reproducible, so only limits that are negative or out of reach are set.
    if (setting.key == CUDA_OPT_MAX_SECONDS && value > 0 && value < 1e9) value = -value;
    const double step_min = setting.key == CUDA_OPT_STPMIN ? value : real_of(s, CUDA_OPT_STPMIN);
    const double step_max = setting.key == CUDA_OPT_STPMAX ? value : real_of(s, CUDA_OPT_STPMAX);
    const bool good = inside(setting, value) && step_min <= step_max;
    const int code = run.call("cuda_opt_set_real", [&] { return cuda_opt_set_real(s, setting.key, value); });
    run.trace("set_real(%d, %g) = %d", setting.key, value, code);
    check_code(run, s, "set_real", code, {good ? 0 : CUDA_OPT_IMPROPER_INPUT}, std::isnan(value));
    if (good && real_of(s, setting.key) != value) run.fault("setting_lost", "key %d", setting.key);
}

template <class Value, class Get>
void get_any(Run &run, cuda_opt *s, const char *call, const std::vector<int32_t> &known, const Get &get) {
    Random &random = run.random;
    const int32_t key =
        random.chance(0.3) ? guess_key(random) : known[static_cast<std::size_t>(random.below(int64_t(known.size())))];
    const bool exists = has_key(known, key);
    Value value = 4711;
    const int code = run.call(call, [&] { return get(s, key, &value); });
    if (code != 0 && value != 4711) run.fault("value_touched", "%s of key %d returned %d", call, key, code);
    // The lists of keys in this file have to agree with the header.
    check_code(run, s, call, code, {exists ? 0 : CUDA_OPT_IMPROPER_INPUT});
}

} // namespace

const std::vector<IntKey> int_settings = {{CUDA_OPT_MAX_ITERATIONS, 0, any, false},
                                          {CUDA_OPT_MAX_EVALUATIONS, 0, any, false},
                                          {CUDA_OPT_MAXFEV, 1, any, false},
                                          {CUDA_OPT_MAX_CUTS, 0, any, false},
                                          {CUDA_OPT_DIAGCO, 0, 1, true},
                                          {CUDA_OPT_APPROXIMATE_CAUCHY, 0, 1, false},
                                          {CUDA_OPT_REPORT_ITERATES, 0, 1, false},
                                          {CUDA_OPT_ROBUST, 0, 1, true},
                                          {CUDA_OPT_THREADS, 0, 4096, true},
                                          {CUDA_OPT_IPRINT_FREQUENCY, -any - 1, any, false},
                                          {CUDA_OPT_IPRINT_TYPE, 0, 4, false},
                                          {CUDA_OPT_METRIC, 0, 2, true},
                                          {CUDA_OPT_HISTORY_BITS, 16, 64, true},
                                          {CUDA_OPT_PRODUCT_BITS, 32, 64, false},
                                          {CUDA_OPT_DIAGONAL_EVERY, 0, any, false},
                                          {CUDA_OPT_F_PART, 0, 2, true},
                                          {CUDA_OPT_TIMED, 0, 1, true},
                                          {CUDA_OPT_NOISE_AUTO, 0, 1, false}};
const std::vector<RealKey> real_settings = {{CUDA_OPT_EPS, 0, infinity, false, false},
                                            {CUDA_OPT_PGTOL, 0, infinity, false, false},
                                            {CUDA_OPT_FACTR, 0, infinity, false, false},
                                            {CUDA_OPT_F_TARGET, -infinity, infinity, false, false},
                                            {CUDA_OPT_GTOL, 1e-4, 1, true, true},
                                            {CUDA_OPT_FTOL, 0, 1, false, true},
                                            {CUDA_OPT_XTOL, 0, infinity, false, false},
                                            {CUDA_OPT_STPMIN, 0, infinity, false, false},
                                            {CUDA_OPT_STPMAX, 0, infinity, true, true},
                                            {CUDA_OPT_MAX_SECONDS, 0, infinity, false, false},
                                            {CUDA_OPT_RELATIVE_GTOL, 0, infinity, false, false},
                                            {CUDA_OPT_ROUNDING, 0, infinity, false, true},
                                            {CUDA_OPT_F_UNBOUNDED, -infinity, infinity, false, true},
                                            {CUDA_OPT_NOISE, 0, 1, false, true},
                                            {CUDA_OPT_NOISE_ABS, 0, infinity, false, true}};
const std::vector<int32_t> int_results = {CUDA_OPT_ITERATIONS,
                                          CUDA_OPT_EVALUATIONS,
                                          CUDA_OPT_FREE_COUNT,
                                          CUDA_OPT_LOWER_COUNT,
                                          CUDA_OPT_UPPER_COUNT,
                                          CUDA_OPT_SKIPPED_UPDATES,
                                          CUDA_OPT_CAUCHY_SEGMENTS,
                                          CUDA_OPT_LINE_SEARCH_INFO,
                                          CUDA_OPT_REFRESHES,
                                          CUDA_OPT_CUTS,
                                          CUDA_OPT_CAUCHY_CROSSINGS,
                                          CUDA_OPT_BREAKPOINTS_CROSSED,
                                          CUDA_OPT_WORKSPACE_BYTES,
                                          CUDA_OPT_STOP_TEST,
                                          CUDA_OPT_PAIRS,
                                          CUDA_OPT_START_PROJECTED,
                                          CUDA_OPT_OPERATOR_APPLICATIONS,
                                          CUDA_OPT_OPERATOR_REFUSALS,
                                          CUDA_OPT_DIMENSION,
                                          CUDA_OPT_MEMORY,
                                          CUDA_OPT_PRECISION,
                                          CUDA_OPT_SUBSPACE_TRUNCATIONS,
                                          CUDA_OPT_CAUCHY_FREE_COUNT,
                                          CUDA_OPT_CAUCHY_BREAKPOINTS,
                                          CUDA_OPT_SUBSPACE_PROJECTED};
const std::vector<int32_t> real_results = {
    CUDA_OPT_F,     CUDA_OPT_PG_NORM2,       CUDA_OPT_PG_NORM_INF,    CUDA_OPT_X_NORM2,         CUDA_OPT_STEP,
    CUDA_OPT_THETA, CUDA_OPT_CAUCHY_T,       CUDA_OPT_CAUCHY_T_FIRST, CUDA_OPT_DIRECTION_NORM2, CUDA_OPT_SLOPE_START,
    CUDA_OPT_SLOPE, CUDA_OPT_SOLVER_SECONDS, CUDA_OPT_NOISE_ESTIMATE};

Settings::Settings(const cuda_opt *s) {
    for (const IntKey &setting : int_settings) cuda_opt_get_int(s, setting.key, &integers_.emplace_back());
    for (const RealKey &setting : real_settings) cuda_opt_get_real(s, setting.key, &reals_.emplace_back());
}

void Settings::put_back(Run &run, cuda_opt *s) const {
    cuda_opt_set_real(s, CUDA_OPT_STPMIN, 0); // 0 is below each STPMAX
    for (std::size_t i = 0; i < int_settings.size(); i++) {
        if (cuda_opt_set_int(s, int_settings[i].key, integers_[i]) != 0)
            run.fault("settings", "key %d cannot be restored: %s", int_settings[i].key, cuda_opt_message(s));
    }
    for (const int pass : {0, 1}) // STPMIN may require the new STPMAX, so that it is set again
        for (std::size_t i = 0; i < real_settings.size(); i++)
            if (cuda_opt_set_real(s, real_settings[i].key, reals_[i]) != 0 && pass == 1)
                run.fault("settings", "key %d cannot be restored: %s", real_settings[i].key, cuda_opt_message(s));
}

void check_code(Run &run, const cuda_opt *s, const char *call, int code, std::initializer_list<int> allowed,
                bool nan_given) {
    const char *message = cuda_opt_message(s);
    if (std::find(allowed.begin(), allowed.end(), code) == allowed.end())
        run.fault(std::string("code_of_") + call, "%d: %s", code, message);
    if (std::strcmp(cuda_opt_task_name(code), "unknown") == 0) run.fault("unknown_code", "%s: %d", call, code);
    const std::size_t length = std::strlen(message);
    if (length < 8 || length > 510 || !std::strchr(message, ' ')) run.fault("sentence", "%s: '%s'", call, message);
    // A call without a message of its own leaves an earlier message.
    const bool nan_allowed =
        nan_given || (code >= 0 && std::strcmp(call, "solve") != 0) || code == CUDA_OPT_EVALUATE_BATCH;
    if (!nan_allowed && std::strstr(message, "nan")) run.fault("nan_in_sentence", "%s: '%s'", call, message);
}

void choose_settings(Run &run, cuda_opt *s) {
    Random &random = run.random;
    const auto real = [&](int32_t key, double value) { cuda_opt_set_real(s, key, value); };
    const auto integer = [&](int32_t key, int64_t value) { cuda_opt_set_int(s, key, value); };
    integer(CUDA_OPT_REPORT_ITERATES, random.chance(0.5));
    integer(CUDA_OPT_ROBUST, !random.chance(0.15));
    integer(CUDA_OPT_THREADS, random.pick<int64_t>({1, 1, 1, 2, 3, 0, 40}));
    if (random.chance(0.5)) integer(CUDA_OPT_HISTORY_BITS, random.pick<int64_t>({64, 32, 16}));
    if (random.chance(0.6)) integer(CUDA_OPT_METRIC, random.pick<int64_t>({0, 1, 2, 2}));
    if (random.chance(0.3)) integer(CUDA_OPT_PRODUCT_BITS, 32);
    if (random.chance(0.5)) integer(CUDA_OPT_DIAGONAL_EVERY, random.pick<int64_t>({0, 2, 3, any}));
    if (random.chance(0.5)) real(CUDA_OPT_EPS, random.pick({0.0, 1e-5, 1e-12, 1e-300, 4.9e-324}));
    if (random.chance(0.3)) real(CUDA_OPT_PGTOL, random.pick({1e-6, 1e-300, 1e-3, 4.9e-324}));
    if (random.chance(0.2)) real(CUDA_OPT_FACTR, random.pick({1e7, 10.0, 1e-300}));
    if (random.chance(0.2)) real(CUDA_OPT_GTOL, random.pick({0.9, 0.1, 1.0001e-4, 0.999999999}));
    if (random.chance(0.2)) real(CUDA_OPT_FTOL, random.pick({0.0, 1e-3, 0.5, 0.999999999, 4.9e-324}));
    if (random.chance(0.2)) real(CUDA_OPT_XTOL, random.pick({0.0, 0.1, 1e-300, 1.0, infinity}));
    if (random.chance(0.2)) real(CUDA_OPT_STPMIN, random.pick({0.0, 1e-300, 1e-5, 1.0, 1e20}));
    if (random.chance(0.2)) real(CUDA_OPT_RELATIVE_GTOL, random.pick({0.0, 1e-300, 1e-2, 1e300, DBL_MAX, HUGE_VAL}));
    if (random.chance(0.2)) real(CUDA_OPT_ROUNDING, random.pick({0.0, 1e-300, 1.0, 1e300, DBL_MAX, 1e6}));
    if (random.chance(0.1)) real(CUDA_OPT_NOISE, random.pick({0.0, 1e-300, 1e-10, 1e-3, 0.9}));
    if (random.chance(0.1)) real(CUDA_OPT_NOISE_ABS, random.pick({0.0, 1e-300, 1e-6, 1.0, 1e300}));
    if (random.chance(0.2)) real(CUDA_OPT_F_UNBOUNDED, random.pick({-HUGE_VAL, -1.0, 0.0, 1e300, -1e300, 1e-5}));
    if (random.chance(0.2)) real(CUDA_OPT_STPMAX, random.pick({1e-300, 1.0, 1e10, 1e300, DBL_MAX, 1e-5}));
    if (random.chance(0.2)) integer(CUDA_OPT_MAXFEV, random.pick<int64_t>({1, 2, 3, any}));
    if (random.chance(0.2)) integer(CUDA_OPT_MAX_CUTS, random.pick<int64_t>({0, 1, any}));
    if (random.chance(0.2)) integer(CUDA_OPT_APPROXIMATE_CAUCHY, 1);
    if (random.chance(0.2)) integer(CUDA_OPT_MAX_EVALUATIONS, random.from_to(1, 40));
    if (random.chance(0.2)) integer(CUDA_OPT_MAX_ITERATIONS, random.from_to(0, 20));
    if (random.chance(0.1)) integer(CUDA_OPT_IPRINT_FREQUENCY, random.from_to(0, 3));
    if (random.chance(0.1)) integer(CUDA_OPT_IPRINT_TYPE, random.from_to(0, 4));
}

void disturb_settings(Run &run, cuda_opt *s, bool started) {
    std::vector<int32_t> known;
    switch (run.random.below(5)) {
    case 0: return set_any_int(run, s, started);
    case 1: return set_any_real(run, s);
    case 2:
        known = int_results;
        for (const IntKey &setting : int_settings) known.push_back(setting.key);
        return get_any<int64_t>(run, s, "cuda_opt_get_int", known, cuda_opt_get_int);
    case 3:
        known = real_results;
        for (const RealKey &setting : real_settings) known.push_back(setting.key);
        return get_any<double>(run, s, "cuda_opt_get_real", known, cuda_opt_get_real);
    default: {
        const int32_t key = guess_key(run.random);
        if (!has_key(int_settings, key))
            check_code(run, s, "set_int", cuda_opt_set_int(s, key, 1), {CUDA_OPT_IMPROPER_INPUT});
        if (!has_key(real_settings, key))
            check_code(run, s, "set_real", cuda_opt_set_real(s, key, 1), {CUDA_OPT_IMPROPER_INPUT});
        check_code(run, s, "get_int", cuda_opt_get_int(s, key, nullptr), {CUDA_OPT_MISUSE});
        check_code(run, s, "get_real", cuda_opt_get_real(s, key, nullptr), {CUDA_OPT_MISUSE});
    }
    }
}

void disturb_helpers(Run &run, cuda_opt *s) {
    Random &random = run.random;
    int64_t count = 0;
    double value = 0;
    void *memory = nullptr;
    switch (random.below(4)) {
    case 0: {
        const int64_t bytes = random.pick<int64_t>({0, 1, 64, 1000, -1, INT64_MIN, INT64_MAX, int64_t{1} << 62});
        const int code = run.call("cuda_opt_alloc", [&] { return cuda_opt_alloc(s, &memory, bytes); });
        if (bytes < 0) check_code(run, s, "alloc", code, {CUDA_OPT_MISUSE});
        else check_code(run, s, "alloc", code, {bytes > 1000 ? CUDA_OPT_OUT_OF_MEMORY : 0});
        if (bytes >= 64 && code == 0) {
            double values[8] = {1, 2, 3};
            check_code(run, s, "copy_in", cuda_opt_copy_in(s, memory, values, sizeof values), {0});
            check_code(run, s, "copy_out", cuda_opt_copy_out(s, values, memory, sizeof values), {0});
            run.require(values[1] == 2, "copies", "the copied bytes differ from the original");
        }
        check_code(run, s, "free", cuda_opt_free(s, memory), {0});
        check_code(run, s, "synchronize", cuda_opt_synchronize(s), {0});
        break;
    }
    case 1:
        check_code(run, s, "alloc", cuda_opt_alloc(s, nullptr, 8), {CUDA_OPT_MISUSE});
        check_code(run, s, "copy_in", cuda_opt_copy_in(s, nullptr, &value, 8), {CUDA_OPT_MISUSE});
        check_code(run, s, "copy_out", cuda_opt_copy_out(s, &value, nullptr, 8), {CUDA_OPT_MISUSE});
        check_code(run, s, "copy_in", cuda_opt_copy_in(s, &value, &value, -1), {CUDA_OPT_MISUSE});
        check_code(run, s, "free", cuda_opt_free(s, nullptr), {0});
        break;
    case 2: // without a handle
        for (const int code : {cuda_opt_set_int(nullptr, CUDA_OPT_MAXFEV, 1),
                               cuda_opt_set_real(nullptr, CUDA_OPT_EPS, 1),
                               cuda_opt_get_int(nullptr, CUDA_OPT_MAXFEV, &count),
                               cuda_opt_get_real(nullptr, CUDA_OPT_EPS, &value),
                               cuda_opt_reset(nullptr),
                               cuda_opt_request_stop(nullptr),
                               cuda_opt_backend(nullptr),
                               cuda_opt_set_bounds(nullptr, &value, &value),
                               cuda_opt_set_bounds_f32(nullptr, nullptr, nullptr),
                               cuda_opt_set_diagonal(nullptr, &value),
                               cuda_opt_set_diagonal_f32(nullptr, nullptr),
                               cuda_opt_get_diagonal(nullptr, &value),
                               cuda_opt_get_diagonal_f32(nullptr, nullptr),
                               cuda_opt_set_stream(nullptr, nullptr),
                               cuda_opt_set_log(nullptr, nullptr, nullptr),
                               cuda_opt_solve(nullptr, &value, &value, &value),
                               cuda_opt_solve_f32(nullptr, nullptr, &value, nullptr),
                               cuda_opt_save(nullptr, nullptr, &count),
                               cuda_opt_load(nullptr, &value, 8, &value, &value, &value),
                               cuda_opt_load_f32(nullptr, &value, 8, nullptr, &value, nullptr),
                               cuda_opt_warm_start(nullptr),
                               cuda_opt_search_set_steps(nullptr, &value),
                               cuda_opt_search_solve(nullptr, &value, &value),
                               cuda_opt_search_walk(nullptr, 0, &value, &value),
                               cuda_opt_search_ranked(nullptr, 0, &count),
                               cuda_opt_alloc(nullptr, &memory, 8),
                               cuda_opt_free(nullptr, nullptr),
                               cuda_opt_synchronize(nullptr),
                               cuda_opt_copy_in(nullptr, &value, &value, 8),
                               cuda_opt_copy_out(nullptr, &value, &value, 8),
                               cuda_opt_create(nullptr, 1, 1, CUDA_OPT_BACKEND_HOST),
                               cuda_opt_create_f32(nullptr, 1, 1, CUDA_OPT_BACKEND_HOST),
                               cuda_opt_create_search(nullptr, 1, 1, CUDA_OPT_BACKEND_HOST)})
            check_code(run, nullptr, "NULL", code, {CUDA_OPT_MISUSE});
        cuda_opt_destroy(nullptr);
        break;
    default:
        run.require(std::strlen(cuda_opt_version()) > 2, "version", "no version");
        run.require(std::strlen(cuda_opt_task_name(static_cast<int>(random.hostile_integer()))) > 2, "name", "no name");
        check_code(run, s, "backend", cuda_opt_backend(s), {CUDA_OPT_BACKEND_HOST});
    }
}

} // namespace fuzz
