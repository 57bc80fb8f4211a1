// The C ABI of an operator as initial Hessian.
#include "api/handle.hpp"

using namespace cudaopt;

int cudaopt::check_operator(cuda_opt &s) {
    const Solver &solver = *s.solver;
    if (!solver.uses_operator()) return 0;
    const bool scaled = solver.arrays.scales || solver.arrays.scale_all != 1;
    if (solver.ranks() || scaled)
        return s.message().refuse_call("an operator as initial Hessian is not for a solve %s",
                                       solver.ranks() ? "on several ranks"
                                                      : "with scales of the variables; apply them within the operator");
    if (solver.arrays.diagonal)
        return s.message().refuse_call("the initial Hessian is an operator, but cuda_opt_set_diagonal has given a "
                                       "diagonal as well; pass NULL to remove it");
    if (solver.arrays.operator_in) return 0;
    return s.message().refuse_call("the initial Hessian is an operator, but cuda_opt_set_operator has given no arrays");
}

namespace {

int set_operator(cuda_opt *s, int bits, void *in, void *out, void *is_free) {
    if (const int code = before_solve(s, bits, "cuda_opt_set_operator")) return code;
    if (const int code = check_space(*s, "the operator's argument", in, false)) return code;
    if (const int code = check_space(*s, "the operator's result", out, false)) return code;
    if (const int code = check_space(*s, "the mask of the free variables", is_free, false)) return code;
    UserArrays &arrays = s->solver->arrays;
    arrays.operator_in = in, arrays.operator_out = out, arrays.operator_free = is_free;
    return 0;
}

} // namespace

int cuda_opt_set_operator(cuda_opt *s, double *in, double *out, double *is_free) {
    return call(s, set_operator, 64, in, out, is_free);
}
int cuda_opt_set_operator_f32(cuda_opt *s, float *in, float *out, float *is_free) {
    return call(s, set_operator, 32, in, out, is_free);
}
