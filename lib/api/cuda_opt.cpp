// This file implements the functions of the C ABI for one solve. They check their arguments and translate failures into
// return codes and messages. No exception reaches the caller.
#include "api/handle.hpp"

using namespace cudaopt;

namespace cudaopt {

int choose_backend(cuda_opt &s, int32_t wanted) {
    if (wanted != CUDA_OPT_BACKEND_AUTO && wanted != CUDA_OPT_BACKEND_CUDA && wanted != CUDA_OPT_BACKEND_HOST)
        return s.message().refuse_input(
            "the backend is %d, but has to be CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST (0, 1 or 2)", wanted);
    const char *const why_not = wanted == CUDA_OPT_BACKEND_HOST ? nullptr : cuda_unavailable();
    if (why_not && wanted == CUDA_OPT_BACKEND_CUDA) {
        s.message().set("the CUDA backend was requested, but %s", why_not);
        return CUDA_OPT_BACKEND_UNAVAILABLE;
    }
    s.backend = why_not || wanted == CUDA_OPT_BACKEND_HOST ? CUDA_OPT_BACKEND_HOST : CUDA_OPT_BACKEND_CUDA;
    s.memory = s.backend == CUDA_OPT_BACKEND_CUDA ? make_cuda_memory() : make_host_memory();
    return 0;
}

int require_solver(cuda_opt *s, const char *call) {
    if (const int code = fault_of(s)) return code;
    if (s->solver) return 0;
    return s->message().refuse_call("%s is not for a handle of cuda_opt_create_%s", call,
                                    s->search ? "search" : "batch");
}

int require_no_log(cuda_opt &s, const char *call) {
    if (!s.solver || !s.solver->writing_log()) return 0;
    return s.message().refuse_call("%s was called by the function of the log, during a call of cuda_opt_solve", call);
}

int check_space(cuda_opt &s, const char *name, const void *pointer, bool may_be_null) {
    if (!pointer && may_be_null) return 0;
    if (!pointer) return s.message().refuse_call("%s is NULL", name);
    const bool cuda = s.backend == CUDA_OPT_BACKEND_CUDA;
    return guarded(&s, [&] {
        Space where = Space::unknown;
        if (s.memory->accepts(pointer, where)) return 0;
        if (where == Space::other_device)
            return s.message().refuse_call("%s points to memory of CUDA device %d, but the handle is of CUDA device %d",
                                           name, s.memory->device_of(pointer), s.memory->device());
        return s.message().refuse_call("%s points to %s memory, but the %s backend needs it in %s memory", name,
                                       where == Space::device ? "device" : "host", cuda ? "CUDA" : "host",
                                       cuda ? "device" : "host");
    });
}

int check_apart(cuda_opt &s, std::initializer_list<Extent> arrays) {
    // Arrays of 1e12 bytes or more are not checked for overlap. Such arrays do not fit into memory, and the solve
    // reports this instead.
    constexpr double most = 1e12;
    const auto share = [=](const Extent &a, const Extent &b) {
        const auto from_a = reinterpret_cast<uintptr_t>(a.begin), from_b = reinterpret_cast<uintptr_t>(b.begin);
        const double bytes = from_a <= from_b ? a.bytes : b.bytes;
        return a.begin && b.begin && a.bytes > 0 && b.bytes > 0 && bytes < most &&
               static_cast<double>(from_a <= from_b ? from_b - from_a : from_a - from_b) < bytes;
    };
    for (const Extent *one = arrays.begin(); one != arrays.end(); one++)
        for (const Extent *other = one + 1; other != arrays.end(); other++)
            if ((one->written || other->written) && share(*one, *other))
                return s.message().refuse_call(
                    "%s, of %.0f bytes, and %s, of %.0f bytes, overlap: each needs memory of its own", one->name,
                    one->bytes, other->name, other->bytes);
    return 0;
}

int before_start(cuda_opt &s, int bits, const char *call) {
    if (bits != 0 && bits != s.bits)
        return s.message().refuse_call("%s%s is for %s precision, but the handle was made for %s", call,
                                       bits == 64 ? "" : "_f32", bits == 64 ? "double" : "single",
                                       s.bits == 64 ? "double" : "single");
    if (!s.started()) return 0;
    return s.message().refuse_call("%s has to come before the first call of cuda_opt_%ssolve, or after cuda_opt_reset",
                                   call, s.prefix());
}

int before_solve(cuda_opt *s, int bits, const char *call) {
    const int code = require_solver(s, call);
    return code != 0 ? code : before_start(*s, bits, call);
}

int take_arrays(cuda_opt *s, int bits, const char *call, void *x, double *f, void *g) {
    if (const int code = before_solve(s, bits, call)) return code;
    // A rank may store no variables. Its arrays may then be NULL.
    const bool empty = s->solver->own_dimension() == 0;
    if (const int code = check_space(*s, "x", x, empty)) return code;
    if (const int code = check_space(*s, "f", f, false)) return code;
    if (const int code = check_space(*s, "g", g, empty)) return code;
    UserArrays &arrays = s->solver->arrays;
    const double bytes = static_cast<double>(s->solver->own_dimension()) * s->bits / 8;
    // The arrays of an earlier solve with an operator may not exist any more.
    const double of_operator = s->solver->uses_operator() ? bytes : 0;
    if (const int code = check_apart(*s, {{"x", x, bytes, true},
                                          {"f", f, sizeof *f, true},
                                          {"g", g, bytes, true},
                                          {"the operator's argument", arrays.operator_in, of_operator, true},
                                          {"the operator's result", arrays.operator_out, of_operator, true},
                                          {"the mask of the free variables", arrays.operator_free, of_operator, true},
                                          {"the lower bounds", arrays.lower, bytes},
                                          {"the upper bounds", arrays.upper, bytes},
                                          {"the diagonal", arrays.diagonal, bytes},
                                          {"the scales", arrays.scales, bytes}}))
        return code;
    arrays.x = x, arrays.f = f, arrays.g = g;
    return 0;
}

} // namespace cudaopt

namespace {

// The inner products of the m correction pairs need about 16 matrices of (2m)^2 doubles. A value of m for which they
// exceed this number of bytes is rejected as a probable mistake.
constexpr double most_dense_bytes = 4e9;
double dense_bytes(int32_t m) { return 16.0 * 8 * (2.0 * m) * (2.0 * m); }

// Returns the number of correction pairs of a handle that is created with m = 0 (docs/termination.md, "Which m"). It
// depends on nothing that is measured, so that the same calls give the same iterates.
int32_t default_pairs(int64_t n, int backend) {
    constexpr int64_t few_variables = 1000;
    return backend == CUDA_OPT_BACKEND_HOST && n <= few_variables ? 40 : 10;
}

int fill(cuda_opt &s, int64_t n, int32_t m, int32_t backend, int bits) {
    Message &message = s.failure_message;
    s.bits = bits;
    if (n < 1) return message.refuse_input("the number of variables n is %lld, but has to be at least 1", shown(n));
    if (m < 0)
        return message.refuse_input(
            "the number of correction pairs m is %d, but has to be at least 1, or 0 for the default", m);
    if (dense_bytes(m) > most_dense_bytes) {
        message.set("out of memory: the inner products of m = %d pairs alone take %.3g bytes; 3 to 20 pairs are usual",
                    m, dense_bytes(m));
        return CUDA_OPT_OUT_OF_MEMORY;
    }
    if (const int code = choose_backend(s, backend)) return code;
    if (m == 0) m = default_pairs(n, s.backend);
    s.solver = std::make_unique<Solver>(n, m, bits, s.backend, s.memory->device(),
                                        bits == 64 ? make_sweeps<double> : make_sweeps<float>);
    return 0;
}

int set_bounds(cuda_opt *s, int bits, const void *lower, const void *upper) {
    if (s && s->search && bits == 64)
        return set_search_bounds(*s, static_cast<const double *>(lower), static_cast<const double *>(upper));
    if (s && s->batch) return set_batch_bounds(s, "cuda_opt_set_bounds", bits, lower, upper, false);
    if (const int code = before_solve(s, bits, "cuda_opt_set_bounds")) return code;
    if (const int code = check_space(*s, "lower", lower, true)) return code;
    if (const int code = check_space(*s, "upper", upper, true)) return code;
    s->solver->arrays.lower = lower;
    s->solver->arrays.upper = upper;
    return 0;
}

// Sets one lower and one upper bound for all variables. The precision of the handle represents both numbers exactly,
// because the public function for each precision takes arguments of that precision.
int set_uniform_bounds(cuda_opt *s, int bits, double lower, double upper) {
    constexpr const char *call = "cuda_opt_set_uniform_bounds";
    if (const int code = s && s->batch ? before_start(*s, bits, call) : before_solve(s, bits, call)) return code;
    if (!(lower <= upper && lower != infinity && upper != -infinity)) {
        const bool nan = lower != lower || upper != upper;
        return s->message().refuse_input("%s: l = %.17g, u = %.17g for all variables",
                                         nan ? "a bound is NaN" : "the bounds leave no finite x", lower, upper);
    }
    const auto store = [=](auto &arrays) { arrays.lower_all = lower, arrays.upper_all = upper; };
    s->batch ? store(s->batch->arrays) : store(s->solver->arrays);
    return 0;
}

// Checks that the scales of the variables do not change after a warm start, because the stored correction pairs are in
// the units of the previous scales. The check detects a change between an array and a common scale, and a change of the
// common scale. It does not detect a change of the values in an array.
int check_units_kept(cuda_opt &s, bool array, double all) {
    const UserArrays &arrays = s.solver->arrays;
    const bool same = array ? arrays.scales != nullptr : !arrays.scales && all == arrays.scale_all;
    if (same || s.solver->pairs() == 0) return 0;
    return s.message().refuse_call("the scales of the variables cannot be changed: cuda_opt_warm_start has kept %lld "
                                   "pairs in units of the former ones; cuda_opt_reset drops them",
                                   shown(s.solver->pairs()));
}

int set_scales(cuda_opt *s, int bits, const void *scales) {
    if (const int code = before_solve(s, bits, "cuda_opt_set_scales")) return code;
    if (const int code = check_space(*s, "the array of scales", scales, true)) return code;
    if (const int code = check_units_kept(*s, scales != nullptr, s->solver->arrays.scale_all)) return code;
    s->solver->arrays.scales = scales;
    return 0;
}

int set_uniform_scale(cuda_opt *s, double scale) {
    if (const int code = before_solve(s, 0, "cuda_opt_set_uniform_scale")) return code;
    if (!(scale > 0 && scale < infinity))
        return s->message().refuse_input(
            "the scale of all variables is %.17g, but scales have to be positive and finite", scale);
    UserArrays &arrays = s->solver->arrays;
    if (!arrays.scales)
        if (const int code = check_units_kept(*s, false, scale)) return code;
    arrays.scale_all = scale;
    return 0;
}

int set_diagonal(cuda_opt *s, int bits, const void *diagonal) {
    if (s && s->batch) return set_batch_diagonal(s, "cuda_opt_set_diagonal", bits, diagonal, false);
    if (const int code = before_solve(s, bits, "cuda_opt_set_diagonal")) return code;
    if (const int code = check_space(*s, "the diagonal", diagonal, true)) return code;
    s->solver->arrays.diagonal = diagonal;
    return 0;
}

template <class Real> int get_diagonal(cuda_opt *s, Real *to) {
    constexpr int bits = 8 * sizeof(Real);
    if (const int code = require_solver(s, "cuda_opt_get_diagonal")) return code;
    Solver &solver = *s->solver;
    // A rank may store no variables. Its arrays may then be NULL.
    const bool empty = solver.own_dimension() == 0;
    if (bits != s->bits || (!to && !empty) || !solver.can_save())
        return s->message().refuse_call("cuda_opt_get_diagonal: %s",
                                        bits != s->bits ? "the handle is of another precision"
                                        : !to && !empty
                                            ? "the array is NULL"
                                            : "no solve has begun, or a failure of the machine has ended it");
    solver.read_diagonal(to);
    return 0;
}

int set_stream(cuda_opt *s, void *stream) {
    if (const int code = fault_of(s)) return code;
    if (const int code = before_start(*s, 0, "cuda_opt_set_stream")) return code;
    s->stream() = stream;
    return 0;
}

int set_log(cuda_opt *s, void (*write_line)(void *user, const char *line), void *user) {
    if (const int code = require_solver(s, "cuda_opt_set_log")) return code;
    s->solver->set_log(write_line, user);
    return 0;
}

int reset(cuda_opt *s) {
    if (const int code = fault_of(s)) return code;
    if (const int code = require_no_log(*s, "cuda_opt_reset")) return code;
    s->check.reset();
    if (s->search) s->search->reset();
    else if (s->batch) s->batch->reset();
    else s->solver->reset();
    return 0;
}

// Checks the arrays of a call of cuda_opt_solve. They must be the same as in the previous calls of the solve.
int check_call(cuda_opt *s, int bits, void *x, double *f, void *g) {
    Solver &solver = *s->solver;
    const UserArrays &arrays = solver.arrays;
    if (!solver.started()) {
        if (const int code = take_arrays(s, bits, "cuda_opt_solve", x, f, g)) return code;
        if (solver.settings().metric == Metric::callers && !arrays.diagonal && solver.own_dimension() > 0)
            return s->message().refuse_call(
                "the initial Hessian is the caller's diagonal, but cuda_opt_set_diagonal has given no array");
        if (const int code = check_operator(*s)) return code;
    } else if (x != arrays.x || f != arrays.f || g != arrays.g || bits != s->bits)
        return s->message().refuse_call("x, f and g have to be the same at each call of one solve, and of %d bits; "
                                        "call cuda_opt_reset to start with others",
                                        s->bits);
    return 0;
}

int solve(cuda_opt *s, int bits, void *x, double *f, void *g) {
    if (const int code = require_solver(s, "cuda_opt_solve")) return code;
    if (const int code = require_no_log(*s, "cuda_opt_solve")) return code;
    Solver &solver = *s->solver;
    const int code = check_call(s, bits, x, f, g);
    if (code != 0 && (!solver.ranks() || (solver.ended() && !solver.exchanging()))) return code;
    // If one rank of several has invalid arrays, the other ranks must learn of this failure from the next exchange of
    // packets between the ranks. Therefore the solve continues until that exchange.
    if (code != 0) solver.ranks()->fail(code, solver.message().text());
    return solver.resume();
}

// Returns whether the arguments of a copy of `bytes` bytes are valid. An address may be NULL only if there are no bytes
// to copy.
bool are_copyable(const void *to, const void *from, int64_t bytes) { return bytes == 0 || (bytes > 0 && to && from); }

// Calls action() for a helper function of the C ABI (memory, streams) after checking the handle. `arguments_good`
// states whether the other arguments are valid.
template <class Action> int help(cuda_opt *s, bool arguments_good, const Action &action) {
    return guarded(s, [&] {
        if (const int code = fault_of(s)) return code;
        if (!arguments_good) return s->message().refuse_call("a pointer is NULL, or a number of bytes is negative");
        action();
        return 0;
    });
}

} // namespace

int cuda_opt_create(cuda_opt **out, int64_t n, int32_t m, int32_t backend) {
    return make_handle(out, [=](cuda_opt &s) { return fill(s, n, m, backend, 64); });
}
int cuda_opt_create_f32(cuda_opt **out, int64_t n, int32_t m, int32_t backend) {
    return make_handle(out, [=](cuda_opt &s) { return fill(s, n, m, backend, 32); });
}

void cuda_opt_destroy(cuda_opt **s) {
    // cuda_opt_destroy() has no return code. If the handle is invalid, or if its log function makes this call, it
    // therefore returns without freeing anything.
    if (!s || (*s && require_no_log(**s, "cuda_opt_destroy") != 0)) return;
    delete *s;
    *s = nullptr;
}

int cuda_opt_set_bounds(cuda_opt *s, const double *lower, const double *upper) {
    return call(s, set_bounds, 64, lower, upper);
}
int cuda_opt_set_bounds_f32(cuda_opt *s, const float *lower, const float *upper) {
    return call(s, set_bounds, 32, lower, upper);
}
int cuda_opt_set_uniform_bounds(cuda_opt *s, double lower, double upper) {
    return call(s, set_uniform_bounds, 64, lower, upper);
}
int cuda_opt_set_uniform_bounds_f32(cuda_opt *s, float lower, float upper) {
    return call(s, set_uniform_bounds, 32, lower, upper);
}
int cuda_opt_set_scales(cuda_opt *s, const double *scales) { return call(s, set_scales, 64, scales); }
int cuda_opt_set_scales_f32(cuda_opt *s, const float *scales) { return call(s, set_scales, 32, scales); }
int cuda_opt_set_uniform_scale(cuda_opt *s, double scale) { return call(s, set_uniform_scale, scale); }
int cuda_opt_set_diagonal(cuda_opt *s, const double *diagonal) { return call(s, set_diagonal, 64, diagonal); }
int cuda_opt_set_diagonal_f32(cuda_opt *s, const float *diagonal) { return call(s, set_diagonal, 32, diagonal); }
int cuda_opt_get_diagonal(cuda_opt *s, double *diagonal) { return call(s, get_diagonal<double>, diagonal); }
int cuda_opt_get_diagonal_f32(cuda_opt *s, float *diagonal) { return call(s, get_diagonal<float>, diagonal); }
int cuda_opt_set_stream(cuda_opt *s, void *stream) { return call(s, set_stream, stream); }
int cuda_opt_set_log(cuda_opt *s, void (*write_line)(void *user, const char *line), void *user) {
    return call(s, set_log, write_line, user);
}
int cuda_opt_solve(cuda_opt *s, double *x, double *f, double *g) { return call(s, solve, 64, x, f, g); }
int cuda_opt_solve_f32(cuda_opt *s, float *x, double *f, float *g) { return call(s, solve, 32, x, f, g); }
int cuda_opt_reset(cuda_opt *s) { return call(s, reset); }

// The following functions cannot fail unless the handle is invalid.

int cuda_opt_request_stop(cuda_opt *s) {
    if (const int code = fault_of(s)) return code;
    s->stop_requested() = true;
    return 0;
}

const char *cuda_opt_message(const cuda_opt *s) {
    if (!s) return "the handle is NULL: cuda_opt_create has not made it, or cuda_opt_destroy has freed it";
    return s->message().text();
}

int cuda_opt_backend(const cuda_opt *s) {
    const int fault = fault_of(s);
    return fault != 0 ? fault : s->backend;
}

const char *cuda_opt_version(void) { return "0.2.0"; }

const char *cuda_opt_task_name(int task) {
    switch (task) {
    case CUDA_OPT_EVALUATE_FG: return "CUDA_OPT_EVALUATE_FG";
    case CUDA_OPT_SUPPLY_DIAGONAL: return "CUDA_OPT_SUPPLY_DIAGONAL";
    case CUDA_OPT_NEW_ITERATE: return "CUDA_OPT_NEW_ITERATE";
    case CUDA_OPT_EVALUATE_BATCH: return "CUDA_OPT_EVALUATE_BATCH";
    case CUDA_OPT_APPLY_OPERATOR: return "CUDA_OPT_APPLY_OPERATOR";
    case CUDA_OPT_EXCHANGE: return "CUDA_OPT_EXCHANGE";
    case CUDA_OPT_CONVERGED: return "CUDA_OPT_CONVERGED";
    case CUDA_OPT_LINE_SEARCH_FAILED: return "CUDA_OPT_LINE_SEARCH_FAILED";
    case CUDA_OPT_BAD_DIAGONAL: return "CUDA_OPT_BAD_DIAGONAL";
    case CUDA_OPT_BAD_OPERATOR: return "CUDA_OPT_BAD_OPERATOR";
    case CUDA_OPT_IMPROPER_INPUT: return "CUDA_OPT_IMPROPER_INPUT";
    case CUDA_OPT_ITERATION_LIMIT: return "CUDA_OPT_ITERATION_LIMIT";
    case CUDA_OPT_EVALUATION_LIMIT: return "CUDA_OPT_EVALUATION_LIMIT";
    case CUDA_OPT_TIME_LIMIT: return "CUDA_OPT_TIME_LIMIT";
    case CUDA_OPT_NOT_FINITE: return "CUDA_OPT_NOT_FINITE";
    case CUDA_OPT_UNBOUNDED: return "CUDA_OPT_UNBOUNDED";
    case CUDA_OPT_CUDA_FAILURE: return "CUDA_OPT_CUDA_FAILURE";
    case CUDA_OPT_OUT_OF_MEMORY: return "CUDA_OPT_OUT_OF_MEMORY";
    case CUDA_OPT_BACKEND_UNAVAILABLE: return "CUDA_OPT_BACKEND_UNAVAILABLE";
    case CUDA_OPT_EXCHANGE_FAILED: return "CUDA_OPT_EXCHANGE_FAILED";
    case CUDA_OPT_MISUSE: return "CUDA_OPT_MISUSE";
    case CUDA_OPT_STOPPED: return "CUDA_OPT_STOPPED";
    default: return "unknown";
    }
}

int cuda_opt_alloc(cuda_opt *s, void **out, int64_t bytes) {
    return help(s, out && bytes >= 0, [&] { *out = s->memory->allocate(static_cast<std::size_t>(bytes)); });
}
int cuda_opt_free(cuda_opt *s, void *pointer) {
    return help(s, true, [&] { s->memory->release(pointer); });
}
int cuda_opt_copy_in(cuda_opt *s, void *to, const void *from_host, int64_t bytes) {
    return help(s, are_copyable(to, from_host, bytes), [&] {
        if (bytes > 0) s->memory->copy_in(to, from_host, static_cast<std::size_t>(bytes), s->stream());
    });
}
int cuda_opt_copy_out(cuda_opt *s, void *to_host, const void *from, int64_t bytes) {
    return help(s, are_copyable(to_host, from, bytes), [&] {
        if (bytes > 0) s->memory->copy_out(to_host, from, static_cast<std::size_t>(bytes), s->stream());
    });
}
int cuda_opt_synchronize(cuda_opt *s) {
    return help(s, true, [&] { s->memory->synchronize(s->stream()); });
}
