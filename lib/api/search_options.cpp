// This file reads and writes settings and results of a pattern search by key. Each table has one row per key, with the
// range of valid values that the public header documents.
#include <limits>

#include "api/handle.hpp"

namespace cudaopt {

namespace {

struct IntSearchSetting {
    int32_t key;
    const char *name;
    int64_t SearchSettings::*value;
    int64_t least, most;
    bool any_time; // True if the setting may change during the search.
};

const IntSearchSetting int_search_settings[] = {
    {CUDA_OPT_MAX_ITERATIONS, "MAX_ITERATIONS", &SearchSettings::max_iterations, 0, INT64_MAX, true},
    {CUDA_OPT_MAX_EVALUATIONS, "MAX_EVALUATIONS", &SearchSettings::max_evaluations, 0, INT64_MAX, true},
    {CUDA_OPT_THREADS, "THREADS", &SearchSettings::threads, 0, 4096, false},
    {CUDA_OPT_SEARCH_SEED, "SEARCH_SEED", &SearchSettings::seed, 0, INT64_MAX, false},
    {CUDA_OPT_AT_SMALLEST_STEP, "AT_SMALLEST_STEP", &SearchSettings::at_smallest, 0, 2, false},
    {CUDA_OPT_HALVINGS, "HALVINGS", &SearchSettings::halvings, 1, 1000, false},
    {CUDA_OPT_ROUND_ITERATIONS, "ROUND_ITERATIONS", &SearchSettings::round_iterations, 0, INT64_MAX / 2, false},
};

struct RealSearchSetting {
    int32_t key;
    const char *name;
    double SearchSettings::*value;
    double least;
};

const RealSearchSetting real_search_settings[] = {
    {CUDA_OPT_MAX_SECONDS, "MAX_SECONDS", &SearchSettings::max_seconds, 0},
    {CUDA_OPT_F_TARGET, "F_TARGET", &SearchSettings::f_target, -std::numeric_limits<double>::infinity()},
};

int unknown(cuda_opt &s, int32_t key, const char *what) {
    return s.message().refuse_input("%d is not the key of %s of a search", key, what);
}

// Returns a summary of the search with the best value so far. On the device this requires a reduction.
SearchSummary summary_of(cuda_opt &s) {
    SearchSummary none;
    none.walk = -1;
    return s.search->evaluations() > 0 ? s.search->summary() : none;
}

} // namespace

int set_search_int(cuda_opt &s, int32_t key, int64_t value) {
    const IntSearchSetting *setting = find(int_search_settings, key);
    if (!setting) return unknown(s, key, "an integer setting");
    if (const int code = check_range(s, setting->name, value, setting->least, setting->most)) return code;
    if (!setting->any_time && s.search->started())
        return s.message().refuse_call("CUDA_OPT_%s can be set before the first call of cuda_opt_search_solve only",
                                       setting->name);
    s.search->settings.*setting->value = value;
    return 0;
}

int set_search_real(cuda_opt &s, int32_t key, double value) {
    const RealSearchSetting *setting = find(real_search_settings, key);
    if (!setting) return unknown(s, key, "a real setting");
    if (!(value >= setting->least)) { // This form of the test also rejects NaN.
        return s.message().refuse_input("CUDA_OPT_%s is %g, but has to be at least %g", setting->name, value,
                                        setting->least);
    }
    s.search->settings.*setting->value = value;
    return 0;
}

int get_search_int(cuda_opt &s, int32_t key, int64_t *value) {
    const Search &search = *s.search;
    switch (key) {
    case CUDA_OPT_BATCH: *value = search.batch(); return 0;
    case CUDA_OPT_WALKS: *value = search.walks; return 0;
    case CUDA_OPT_ACTIVE_WALKS: *value = search.active(); return 0;
    case CUDA_OPT_ITERATIONS: *value = search.iterations(); return 0;
    case CUDA_OPT_EVALUATIONS: *value = search.evaluations(); return 0;
    case CUDA_OPT_DIMENSION: *value = search.n; return 0;
    case CUDA_OPT_PRECISION: *value = s.bits; return 0;
    case CUDA_OPT_STOP_TEST: *value = search.stop_test(); return 0;
    case CUDA_OPT_WORKSPACE_BYTES: *value = search.workspace_bytes(); return 0;
    case CUDA_OPT_BEST_WALK: *value = summary_of(s).walk; return 0;
    default: break;
    }
    const IntSearchSetting *setting = find(int_search_settings, key);
    if (!setting) return CUDA_OPT_IMPROPER_INPUT;
    *value = search.settings.*setting->value;
    return 0;
}

int get_search_real(cuda_opt &s, int32_t key, double *value) {
    if (key == CUDA_OPT_F) {
        *value = summary_of(s).value;
        return 0;
    }
    const RealSearchSetting *setting = find(real_search_settings, key);
    if (!setting) return CUDA_OPT_IMPROPER_INPUT;
    *value = s.search->settings.*setting->value;
    return 0;
}

} // namespace cudaopt
