// This file implements the functions of the C ABI for batches. They check their arguments and translate failures into
// return codes and messages.
#include "cuda_opt_batch.h"

#include <limits>

#include "api/handle.hpp"

using namespace cudaopt;

namespace {

int fill(cuda_opt &s, int64_t n, int64_t count, int32_t m, int32_t backend, int bits) {
    Message &message = s.failure_message;
    s.bits = bits;
    if (n < 1 || n > batch::most_variables)
        return message.refuse_input(
            "the number of variables n is %lld, but has to be from 1 to %d in a batch; cuda_opt_create is for more",
            shown(n), batch::most_variables);
    if (count < 1)
        return message.refuse_input("the number of problems is %lld, but has to be at least 1", shown(count));
    if (m < 0 || m > batch::most_pairs)
        return message.refuse_input(
            "the number of correction pairs m is %d, but has to be from 0, the default, to %d in a batch", m,
            batch::most_pairs);
    if (m == 0) m = batch::default_pairs;
    const batch::Shape plain{static_cast<int>(n), m, false}, in_metric{plain.n, m, true};
    const int64_t block = bits == 64 ? batch::block_bytes<double>(in_metric) : batch::block_bytes<float>(in_metric);
    if (count > std::numeric_limits<int64_t>::max() / 4 / block) {
        message.set("out of memory: %lld problems of %lld bytes each take %.4g bytes", shown(count), shown(block),
                    static_cast<double>(count) * static_cast<double>(block));
        return CUDA_OPT_OUT_OF_MEMORY;
    }
    if (const int code = choose_backend(s, backend)) return code;
    const bool cuda = s.backend == CUDA_OPT_BACKEND_CUDA;
    const auto machine = [=](batch::Shape shape, bool bounds = true) {
        if (bits == 64)
            return cuda ? make_cuda_batch<double>(shape, count, bounds) : make_host_batch<double>(shape, bounds);
        return cuda ? make_cuda_batch<float>(shape, count, bounds) : make_host_batch<float>(shape, bounds);
    };
    s.batch = std::make_unique<Batch>(plain.n, count, m,
                                      BatchMachines{machine(plain), machine(plain, false), machine(in_metric)});
    s.batch->settings.history_bits = bits;
    return 0;
}

int require_batch(cuda_opt *s, const char *call) {
    if (const int code = fault_of(s)) return code;
    if (s->batch) return 0;
    return s->message().refuse_call("%s needs a handle of cuda_opt_create_batch", call);
}

int take_arrays(cuda_opt &s, void *x, double *f, void *g) {
    if (const int code = check_space(s, "x", x, false)) return code;
    if (const int code = check_space(s, "f", f, false)) return code;
    if (const int code = check_space(s, "g", g, false)) return code;
    BatchArrays &arrays = s.batch->arrays;
    const double count = static_cast<double>(s.batch->count), row = s.batch->n * s.bits / 8.0;
    const double bounds = arrays.bounds_for_each ? count * row : row;
    const double diagonal = arrays.diagonal_for_each ? count * row : row;
    if (const int code = check_apart(s, {{"x", x, count * row, true},
                                         {"f", f, count * sizeof *f, true},
                                         {"g", g, count * row, true},
                                         {"the lower bounds", arrays.lower, bounds},
                                         {"the upper bounds", arrays.upper, bounds},
                                         {"the diagonal", arrays.diagonal, diagonal}}))
        return code;
    if (s.batch->settings.metric == Metric::callers && !arrays.diagonal)
        return s.message().refuse_call("the initial Hessian is the caller's diagonal, but neither "
                                       "cuda_opt_batch_set_diagonal nor cuda_opt_set_diagonal has given an array");
    arrays.x = x, arrays.f = f, arrays.g = g;
    return 0;
}

int solve(cuda_opt *s, int bits, void *x, double *f, void *g) {
    if (const int code = require_batch(s, "cuda_opt_batch_solve")) return code;
    const BatchArrays &arrays = s->batch->arrays;
    if (!s->batch->started() || bits != s->bits) {
        if (const int code = before_start(*s, bits, "cuda_opt_batch_solve")) return code;
        if (const int code = take_arrays(*s, x, f, g)) return code;
    } else if (x != arrays.x || f != arrays.f || g != arrays.g)
        return s->message().refuse_call(
            "x, f and g have to be the same at each call of one batch; call cuda_opt_reset to start with others");
    return s->batch->resume();
}

// Performs the checks that are common to all functions that read results of a batch.
int before_reading(cuda_opt *s, const char *call, const void *values) {
    if (const int code = require_batch(s, call)) return code;
    if (s->batch->has_problems() && values) return 0;
    return s->message().refuse_call(!values ? "%s: values is NULL"
                                    : s->batch->started()
                                        ? "%s: there was no memory for the problems, the batch has not begun"
                                        : "%s has to come after the first call of cuda_opt_batch_solve",
                                    call);
}

// Reads a result of all problems. kind: the kind of this result, for the message.
template <class Number> int read(cuda_opt &s, int32_t key, const char *kind, Number Results::*member, Number *values) {
    if (!member) return s.message().refuse_input("%d is not the key of %s result of a problem", key, kind);
    static_assert(sizeof(Number) == sizeof(int64_t));
    const Results results;
    const auto *const begin = reinterpret_cast<const char *>(&results);
    s.batch->read(reinterpret_cast<const char *>(&(results.*member)) - begin, values);
    return 0;
}

int get_int(cuda_opt *s, int32_t key, int64_t *values) {
    if (const int code = before_reading(s, "cuda_opt_batch_get_int", values)) return code;
    if (key == CUDA_OPT_BATCH_CODE) {
        s->batch->read_codes(values);
        return 0;
    }
    return read(*s, key, "an integer", int_result(key), values);
}

int get_real(cuda_opt *s, int32_t key, double *values) {
    const int code = before_reading(s, "cuda_opt_batch_get_real", values);
    return code != 0 ? code : read(*s, key, "a real", real_result(key), values);
}

} // namespace

namespace cudaopt {

int set_batch_bounds(cuda_opt *s, const char *call, int bits, const void *lower, const void *upper, bool for_each) {
    if (const int code = require_batch(s, call)) return code;
    if (const int code = before_start(*s, bits, call)) return code;
    if (const int code = check_space(*s, "lower", lower, true)) return code;
    if (const int code = check_space(*s, "upper", upper, true)) return code;
    BatchArrays &arrays = s->batch->arrays;
    arrays.lower = lower, arrays.upper = upper;
    arrays.bounds_for_each = for_each;
    return 0;
}

int set_batch_diagonal(cuda_opt *s, const char *call, int bits, const void *diagonal, bool for_each) {
    if (const int code = require_batch(s, call)) return code;
    if (const int code = before_start(*s, bits, call)) return code;
    if (const int code = check_space(*s, "the diagonal", diagonal, true)) return code;
    s->batch->arrays.diagonal = diagonal;
    s->batch->arrays.diagonal_for_each = for_each;
    return 0;
}

int set_batch_int(cuda_opt &s, int32_t key, int64_t value) {
    if (key == CUDA_OPT_BATCH_PACKED) {
        if (const int code = check_range(s, "BATCH_PACKED", value, 0, 1)) return code;
        if (const int code = before_start(s, 0, "CUDA_OPT_BATCH_PACKED")) return code;
        s.batch->packed = value;
        return 0;
    }
    return set_shared_int(s, key, value);
}

int get_batch_int(cuda_opt &s, int32_t key, int64_t *value) {
    const Batch &batch = *s.batch;
    switch (key) {
    case CUDA_OPT_BATCH: *value = batch.active(); return 0;
    case CUDA_OPT_BATCH_COUNT: *value = batch.count; return 0;
    case CUDA_OPT_BATCH_PACKED: *value = batch.packed; return 0;
    case CUDA_OPT_DIMENSION: *value = batch.n; return 0;
    case CUDA_OPT_HISTORY_SIZE: *value = batch.m; return 0;
    case CUDA_OPT_PRECISION: *value = s.bits; return 0;
    case CUDA_OPT_WORKSPACE_BYTES: *value = batch.workspace_bytes(); return 0;
    default: return get_shared_int(s, key, value);
    }
}

} // namespace cudaopt

int cuda_opt_create_batch(cuda_opt **out, int64_t n, int64_t count, int32_t m, int32_t backend) {
    return make_handle(out, [=](cuda_opt &s) { return fill(s, n, count, m, backend, 64); });
}
int cuda_opt_create_batch_f32(cuda_opt **out, int64_t n, int64_t count, int32_t m, int32_t backend) {
    return make_handle(out, [=](cuda_opt &s) { return fill(s, n, count, m, backend, 32); });
}
int cuda_opt_batch_set_bounds(cuda_opt *s, const double *lower, const double *upper) {
    return call(s, set_batch_bounds, "cuda_opt_batch_set_bounds", 64, lower, upper, true);
}
int cuda_opt_batch_set_bounds_f32(cuda_opt *s, const float *lower, const float *upper) {
    return call(s, set_batch_bounds, "cuda_opt_batch_set_bounds", 32, lower, upper, true);
}
int cuda_opt_batch_set_diagonal(cuda_opt *s, const double *diagonal) {
    return call(s, set_batch_diagonal, "cuda_opt_batch_set_diagonal", 64, diagonal, true);
}
int cuda_opt_batch_set_diagonal_f32(cuda_opt *s, const float *diagonal) {
    return call(s, set_batch_diagonal, "cuda_opt_batch_set_diagonal", 32, diagonal, true);
}
int cuda_opt_batch_solve(cuda_opt *s, double *x, double *f, double *g) { return call(s, solve, 64, x, f, g); }
int cuda_opt_batch_solve_f32(cuda_opt *s, float *x, double *f, float *g) { return call(s, solve, 32, x, f, g); }
const int64_t *cuda_opt_batch_active(const cuda_opt *s) {
    return fault_of(s) == 0 && s->batch && s->batch->active() > 0 ? s->batch->list() : nullptr;
}
int cuda_opt_batch_get_int(cuda_opt *s, int32_t key, int64_t *values) { return call(s, get_int, key, values); }
int cuda_opt_batch_get_real(cuda_opt *s, int32_t key, double *values) { return call(s, get_real, key, values); }
const char *cuda_opt_batch_message(cuda_opt *s, int64_t problem) {
    const char *words = nullptr;
    guarded(s, [&] {
        if (const int code = before_reading(s, "cuda_opt_batch_message", &problem)) return code;
        if (problem < 0 || problem >= s->batch->count)
            return s->message().refuse_input(
                "cuda_opt_batch_message: there is no problem %lld, they are counted from 0 to %lld", shown(problem),
                shown(s->batch->count - 1));
        words = s->batch->describe(problem);
        return 0;
    });
    return words ? words : cuda_opt_message(s);
}
