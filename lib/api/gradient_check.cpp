// This file implements the functions of the C ABI for the gradient check, which compares g with differences of f. The
// same handle can be used for a solve afterwards.
#include "api/handle.hpp"
#include "backend/makers.hpp"

using namespace cudaopt;

namespace {

int begin_check(cuda_opt *s, int bits, void *x, double *f, void *g, int64_t seed, bool find_component) {
    if (const int code = take_arrays(s, bits, "cuda_opt_check_gradient", x, f, g)) return code;
    Solver &solver = *s->solver;
    if (solver.ranks())
        return s->message().refuse_call(
            "cuda_opt_check_gradient is for handles that have all variables, and this one is rank %d of %d",
            solver.ranks()->part().rank, solver.ranks()->part().ranks);
    s->checked = false;
    s->check = std::make_unique<GradientCheck>(
        makers_of(s->backend).check_sweeps(solver.dimension(), bits, s->memory->device()), solver.arrays,
        solver.dimension(), bits, seed, find_component, static_cast<int>(solver.settings().threads), solver.stream);
    return 0;
}

int check_gradient(cuda_opt *s, int bits, void *x, double *f, void *g, int64_t seed, bool find_component) {
    if (const int code = require_solver(s, "cuda_opt_check_gradient")) return code;
    if (const int code = require_no_log(*s, "cuda_opt_check_gradient")) return code;
    if (!s->check) {
        if (const int code = begin_check(s, bits, x, f, g, seed, find_component)) return code;
    } else if (bits != s->bits || !s->check->has_arrays(x, f, g) || s->solver->started())
        return s->message().refuse_call("x, f and g have to be the same at each call of one check, without a solve in "
                                        "between; call cuda_opt_reset to begin another");
    std::unique_ptr<GradientCheck> check = std::move(s->check); // an exception ends the check
    const int code = check->resume();
    if (code > 0) {
        s->check = std::move(check);
        s->message().set("evaluate f and g at x, for the check of the gradient");
        return code;
    }
    s->message() = check->message;
    s->checked = code == 0;
    s->check_result = check->result;
    return code;
}

} // namespace

int cuda_opt_check_gradient(cuda_opt *s, double *x, double *f, double *g, int64_t seed, int32_t find_component) {
    return call(s, check_gradient, 64, x, f, g, seed, find_component != 0);
}
int cuda_opt_check_gradient_f32(cuda_opt *s, float *x, double *f, float *g, int64_t seed, int32_t find_component) {
    return call(s, check_gradient, 32, x, f, g, seed, find_component != 0);
}
int cuda_opt_check_result(const cuda_opt *s, int32_t *verdict, int64_t *component, double *supplied, double *difference,
                          double *error) {
    if (const int code = fault_of(s)) return code;
    if (!s->checked) return CUDA_OPT_MISUSE;
    const GradientCheck::Result &result = s->check_result;
    if (verdict) *verdict = result.verdict;
    if (component) *component = result.component;
    if (supplied) *supplied = result.supplied;
    if (difference) *difference = result.difference;
    if (error) *error = result.error;
    return 0;
}
