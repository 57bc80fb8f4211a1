// This file implements the functions of the C ABI for the pattern search, and reads and writes its settings and
// results. The functions check their arguments and translate failures into return codes and messages.
#include <limits>

#include "api/handle.hpp"
#include "backend/makers.hpp"

using namespace cudaopt;

namespace {

int fill(cuda_opt &s, int64_t n, int64_t walks, int32_t backend) {
    Message &message = s.failure_message;
    if (n < 1 || n > std::numeric_limits<int>::max())
        return message.refuse_input("the number of variables n is %lld, but has to be from 1 to 2147483647", shown(n));
    if (walks < 1) return message.refuse_input("the number of walks is %lld, but has to be at least 1", shown(walks));
    if (walks > std::numeric_limits<int64_t>::max() / 64 / n) {
        message.set("out of memory: the points of %lld walks of %lld variables alone take n * walks * 8 = %.4g bytes",
                    shown(walks), shown(n), 8.0 * static_cast<double>(walks) * static_cast<double>(n));
        return CUDA_OPT_OUT_OF_MEMORY;
    }
    if (const int code = choose_backend(s, backend)) return code;
    s.search =
        std::make_unique<Search>(static_cast<int>(n), walks, makers_of(s.backend).search_sweeps(s.memory->device()));
    return 0;
}

int require_search(cuda_opt *s, const char *call) {
    if (const int code = fault_of(s)) return code;
    if (s->search) return 0;
    return s->message().refuse_call("%s needs a handle of cuda_opt_create_search", call);
}

// Copies n values from the handle's memory space to a vector on the host. If the address `from` is NULL, the vector
// becomes empty.
int copy(cuda_opt &s, const char *name, const double *from, std::vector<double> &to) {
    if (const int code = check_space(s, name, from, true)) return code;
    std::vector<double> values(from ? static_cast<std::size_t>(s.search->n) : 0);
    if (from) s.memory->copy_out(values.data(), from, values.size() * sizeof(double), s.search->stream);
    to.swap(values);
    return 0;
}

// Performs the checks that are common to all functions that read walks, the independent searches of a pattern search.
int before_reading(cuda_opt *s, const char *call, int64_t number) {
    if (const int code = require_search(s, call)) return code;
    if (s->search->evaluations() == 0) return s->message().refuse_call("%s has to come after the first values", call);
    if (number >= 0 && number < s->search->walks) return 0;
    return s->message().refuse_input("%s: there is no walk %lld, they are counted from 0 to %lld", call, shown(number),
                                     shown(s->search->walks - 1));
}

int set_steps(cuda_opt *s, const double *steps) {
    if (const int code = require_search(s, "cuda_opt_search_set_steps")) return code;
    if (const int code = before_start(*s, 0, "cuda_opt_search_set_steps")) return code;
    return copy(*s, "steps", steps, s->search->steps);
}

int solve(cuda_opt *s, double *points, const double *values) {
    if (const int code = require_search(s, "cuda_opt_search_solve")) return code;
    Search &search = *s->search;
    if (!search.started()) {
        if (const int code = check_space(*s, "points", points, false)) return code;
        if (const int code = check_space(*s, "values", values, false)) return code;
        const double most = 2.0 * static_cast<double>(search.walks) * sizeof *values;
        if (const int code =
                check_apart(*s, {{"points", points, search.n * most, true}, {"values", values, most, true}}))
            return code;
    } else if (points != search.points() || values != search.values())
        return s->message().refuse_call("points and values have to be the same at each call of one search; call "
                                        "cuda_opt_reset to start with others");
    return search.resume(points, values);
}

int walk_at(cuda_opt *s, int64_t walk, double *x, double *f) {
    if (const int code = before_reading(s, "cuda_opt_search_walk", walk)) return code;
    const double value = s->search->read(walk, x);
    if (f) *f = value;
    return 0;
}

int ranked(cuda_opt *s, int64_t rank, int64_t *walk) {
    if (const int code = before_reading(s, "cuda_opt_search_ranked", rank)) return code;
    if (!walk) return s->message().refuse_call("cuda_opt_search_ranked: walk is NULL");
    *walk = s->search->best_walk(rank);
    return 0;
}

// The settings, one row per key, with the range of valid values that the public header documents.
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

namespace cudaopt {

int set_search_bounds(cuda_opt &s, const double *lower, const double *upper) {
    if (const int code = before_start(s, 0, "cuda_opt_set_bounds")) return code;
    if (const int code = copy(s, "lower", lower, s.search->lower)) return code;
    return copy(s, "upper", upper, s.search->upper);
}

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

int cuda_opt_create_search(cuda_opt **out, int64_t n, int64_t walks, int32_t backend) {
    return make_handle(out, [=](cuda_opt &s) { return fill(s, n, walks, backend); });
}
int cuda_opt_search_set_steps(cuda_opt *s, const double *steps) { return call(s, set_steps, steps); }
int cuda_opt_search_solve(cuda_opt *s, double *points, const double *values) { return call(s, solve, points, values); }
int cuda_opt_search_walk(cuda_opt *s, int64_t walk, double *x, double *f) { return call(s, walk_at, walk, x, f); }
int cuda_opt_search_ranked(cuda_opt *s, int64_t rank, int64_t *walk) { return call(s, ranked, rank, walk); }
