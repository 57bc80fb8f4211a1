// This file reads and writes settings and results of a handle by key. lbfgsb/settings.hpp has the table of the
// settings.
#include "api/handle.hpp"

using namespace cudaopt;

namespace {

template <class Number> struct ResultRow {
    int32_t key;
    Number Results::*value;
};

const ResultRow<int64_t> int_results[] = {
    {CUDA_OPT_ITERATIONS, &Results::iterations},
    {CUDA_OPT_EVALUATIONS, &Results::evaluations},
    {CUDA_OPT_LOWER_COUNT, &Results::at_lower},
    {CUDA_OPT_UPPER_COUNT, &Results::at_upper},
    {CUDA_OPT_SKIPPED_UPDATES, &Results::skipped_updates},
    {CUDA_OPT_CAUCHY_SEGMENTS, &Results::cauchy_segments},
    {CUDA_OPT_LINE_SEARCH_INFO, &Results::line_search_info},
    {CUDA_OPT_REFRESHES, &Results::refreshes},
    {CUDA_OPT_CUTS, &Results::cuts},
    {CUDA_OPT_CAUCHY_CROSSINGS, &Results::cauchy_crossings},
    {CUDA_OPT_BREAKPOINTS_CROSSED, &Results::breakpoints_crossed},
    {CUDA_OPT_STOP_TEST, &Results::stop_test},
    {CUDA_OPT_START_PROJECTED, &Results::start_projected},
    {CUDA_OPT_SUBSPACE_TRUNCATIONS, &Results::truncations},
    {CUDA_OPT_CAUCHY_FREE_COUNT, &Results::cauchy_free},
    {CUDA_OPT_CAUCHY_BREAKPOINTS, &Results::cauchy_breakpoints},
    {CUDA_OPT_SUBSPACE_PROJECTED, &Results::subspace_projected},
};

const ResultRow<double> real_results[] = {
    {CUDA_OPT_F, &Results::f},
    {CUDA_OPT_PG_NORM2, &Results::pg_norm2},
    {CUDA_OPT_PG_NORM_INF, &Results::pg_norm_max},
    {CUDA_OPT_X_NORM2, &Results::x_norm2},
    {CUDA_OPT_STEP, &Results::step},
    {CUDA_OPT_THETA, &Results::theta},
    {CUDA_OPT_CAUCHY_T, &Results::cauchy_t},
    {CUDA_OPT_CAUCHY_T_FIRST, &Results::cauchy_t_first},
    {CUDA_OPT_DIRECTION_NORM2, &Results::direction_norm2},
    {CUDA_OPT_SLOPE_START, &Results::slope_start},
    {CUDA_OPT_SLOPE, &Results::slope},
    {CUDA_OPT_NOISE_ESTIMATE, &Results::noise_estimate},
};

// Rejects a change of the history precision after a warm start, because the stored correction pairs keep their
// precision.
int check_pairs_kept(cuda_opt &s, int64_t bits) {
    const int64_t stored = s.solver->settings().history_bits;
    if (s.solver->pairs() == 0 || bits == stored) return 0;
    return s.message().refuse_call(
        "CUDA_OPT_HISTORY_BITS cannot become %lld: cuda_opt_warm_start has kept %lld pairs of %lld bits", shown(bits),
        shown(s.solver->pairs()), shown(stored));
}

int check_value(cuda_opt &s, const IntSetting &setting, int64_t value) {
    const bool are_bits = value == 64 || value == 32 || value == 16;
    if (setting.key == CUDA_OPT_HISTORY_BITS && !(are_bits && value <= s.bits))
        return s.message().refuse_input("CUDA_OPT_HISTORY_BITS is %lld, but has to be %s", shown(value),
                                        s.bits == 64 ? "64, 32 or 16" : "32 or 16, because x has 32");
    if (setting.key == CUDA_OPT_PRODUCT_BITS && !(are_bits && value >= 32))
        return s.message().refuse_input("CUDA_OPT_PRODUCT_BITS is %lld, but has to be 64 or 32", shown(value));
    return check_range(s, setting.name, value, setting.least, setting.most);
}

// Rejects a change of settings while the ranks exchange packets. The packet that this rank has prepared for the other
// ranks already contains its settings, and all ranks must have the same settings.
int check_no_exchange(cuda_opt &s) {
    if (!s.solver || !s.solver->exchanging()) return 0;
    return s.message().refuse_call(
        "settings cannot be changed between CUDA_OPT_EXCHANGE and the next call of cuda_opt_solve");
}

int set_int(cuda_opt *s, int32_t key, int64_t value) {
    if (const int code = fault_of(s)) return code;
    if (s->search) return set_search_int(*s, key, value);
    if (s->batch) return set_batch_int(*s, key, value);
    return set_shared_int(*s, key, value);
}

int set_real(cuda_opt *s, int32_t key, double value) {
    if (const int code = fault_of(s)) return code;
    if (s->search) return set_search_real(*s, key, value);
    if (const int code = check_no_exchange(*s)) return code;
    const RealSetting *setting = find(real_settings, key);
    if (!setting) {
        if (const IntSetting *const integer = find(int_settings, key))
            return s->message().refuse_input("CUDA_OPT_%s is an integer setting, for cuda_opt_set_int", integer->name);
        return s->message().refuse_input("%d is not the key of a real setting", key);
    }
    const bool inside = (setting->open_below ? value > setting->least : value >= setting->least) &&
                        (setting->open_above ? value < setting->most : value <= setting->most);
    if (!inside) { // This branch is also taken for NaN, because all comparisons with NaN are false.
        return s->message().refuse_input("CUDA_OPT_%s is %g, but has to be %s %g and %s %g", setting->name, value,
                                         setting->open_below ? "above" : "at least", setting->least,
                                         setting->open_above ? "below" : "at most", setting->most);
    }
    Settings &settings = s->settings();
    const double step_min = key == CUDA_OPT_STPMIN ? value : settings.step_min;
    const double step_max = key == CUDA_OPT_STPMAX ? value : settings.step_max;
    if (step_min > step_max)
        return s->message().refuse_input("CUDA_OPT_%s is %g, but stpmin = %g must not exceed stpmax = %g",
                                         setting->name, value, step_min, step_max);
    settings.*setting->value = value;
    return 0;
}

int get_int(cuda_opt *s, int32_t key, int64_t *value) {
    if (s->search) return get_search_int(*s, key, value);
    if (s->batch) return get_batch_int(*s, key, value);
    const Solver &solver = *s->solver;
    const Results &results = solver.results();
    switch (key) {
    case CUDA_OPT_FREE_COUNT: *value = solver.dimension() - results.at_lower - results.at_upper; return 0;
    case CUDA_OPT_WORKSPACE_BYTES: *value = solver.workspace_bytes(); return 0;
    case CUDA_OPT_PAIRS: *value = solver.pairs(); return 0;
    case CUDA_OPT_DIMENSION: *value = solver.dimension(); return 0;
    case CUDA_OPT_HISTORY_SIZE: *value = solver.memory(); return 0;
    case CUDA_OPT_PRECISION: *value = s->bits; return 0;
    case CUDA_OPT_OPERATOR_APPLICATIONS: *value = solver.state().operator_model().applications(); return 0;
    case CUDA_OPT_OPERATOR_REFUSALS: *value = solver.state().operator_model().refusals(); return 0;
    default: break;
    }
    const auto result = int_result(key);
    if (!result) return get_shared_int(*s, key, value);
    *value = results.*result;
    return 0;
}

int get_real(cuda_opt *s, int32_t key, double *value) {
    if (s->search) return get_search_real(*s, key, value);
    if (const RealSetting *setting = find(real_settings, key)) *value = s->settings().*setting->value;
    else if (s->solver && key == CUDA_OPT_SOLVER_SECONDS) *value = s->solver->seconds();
    else if (const auto result = real_result(key); s->solver && result) *value = s->solver->results().*result;
    else return CUDA_OPT_IMPROPER_INPUT;
    return 0;
}

// Sets *value by get(handle, key, value). If the call fails, the message of the handle is set; otherwise the message
// does not change.
template <class Value, class Get>
int get(const cuda_opt *constant, int32_t key, Value *value, const char *what, const Get &get) {
    // The handle is const in the public interface, because its state as the caller sees it does not change. The cast is
    // needed to set the message, and because a pattern search may first have to copy its results from the device.
    const auto s = const_cast<cuda_opt *>(constant);
    return guarded(s, [=] {
        if (!s || (s->failure && !value)) return static_cast<int>(CUDA_OPT_MISUSE);
        if (s->failure) return s->failure;
        if (!value) return s->message().refuse_call("the pointer to the value of key %d is NULL", key);
        const int code = get(s, key, value);
        if (code != 0)
            s->message().set("%d is not the key of %s%s", key, what,
                             s->search  ? " of a search"
                             : s->batch ? " of a whole batch"
                                        : "");
        return code;
    });
}

} // namespace

int cudaopt::check_range(cuda_opt &s, const char *name, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return 0;
    return s.message().refuse_input("CUDA_OPT_%s is %lld, but has to be from %lld to %lld", name, shown(value),
                                    shown(least), shown(most));
}

int cudaopt::set_shared_int(cuda_opt &s, int32_t key, int64_t value) {
    if (const int code = check_no_exchange(s)) return code;
    const IntSetting *setting = find(int_settings, key);
    if (!setting) {
        if (const RealSetting *const real = find(real_settings, key))
            return s.message().refuse_input("CUDA_OPT_%s is a real setting, for cuda_opt_set_real", real->name);
        return s.message().refuse_input("%d is not the key of an integer setting", key);
    }
    if (s.batch && (setting->rules & no_batch))
        return s.message().refuse_input("CUDA_OPT_%s is not for a handle of cuda_opt_create_batch", setting->name);
    if (s.batch && key == CUDA_OPT_INITIAL_HESSIAN && value == CUDA_OPT_INITIAL_HESSIAN_OPERATOR)
        return s.message().refuse_input("an operator as initial Hessian is not for a handle of cuda_opt_create_batch");
    if (const int code = check_value(s, *setting, value)) return code;
    if ((setting->rules & at_start) && s.started())
        return s.message().refuse_call("CUDA_OPT_%s can be set before the first call of cuda_opt_%ssolve only",
                                       setting->name, s.prefix());
    if (key == CUDA_OPT_HISTORY_BITS)
        if (const int code = check_pairs_kept(s, value)) return code;
    Settings &settings = s.settings();
    if (setting->flag) settings.*setting->flag = value != 0;
    else if (setting->value) settings.*setting->value = value;
    else if (value != 0) settings.metric = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL;
    else if (settings.metric == CUDA_OPT_INITIAL_HESSIAN_DIAGONAL) settings.metric = CUDA_OPT_INITIAL_HESSIAN_SCALAR;
    return 0;
}

int cudaopt::get_shared_int(cuda_opt &s, int32_t key, int64_t *value) {
    const IntSetting *setting = find(int_settings, key);
    if (!setting) return CUDA_OPT_IMPROPER_INPUT;
    const Settings &settings = s.settings();
    *value = setting->flag    ? settings.*setting->flag
             : setting->value ? settings.*setting->value
                              : settings.metric == CUDA_OPT_INITIAL_HESSIAN_DIAGONAL;
    return 0;
}

int64_t Results::*cudaopt::int_result(int32_t key) {
    const ResultRow<int64_t> *result = find(int_results, key);
    return result ? result->value : nullptr;
}

double Results::*cudaopt::real_result(int32_t key) {
    const ResultRow<double> *result = find(real_results, key);
    return result ? result->value : nullptr;
}

int cuda_opt_set_int(cuda_opt *s, int32_t key, int64_t value) { return call(s, set_int, key, value); }
int cuda_opt_set_real(cuda_opt *s, int32_t key, double value) { return call(s, set_real, key, value); }
int cuda_opt_get_int(const cuda_opt *s, int32_t key, int64_t *value) {
    return get(s, key, value, "an integer setting or result", get_int);
}
int cuda_opt_get_real(const cuda_opt *s, int32_t key, double *value) {
    return get(s, key, value, "a real setting or result", get_real);
}
