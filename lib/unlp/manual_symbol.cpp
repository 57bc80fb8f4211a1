// libcuda_opt_unlp: cuda_opt_unlp_solve with the function's arguments in the manual's order, for programs that declare
// it themselves or look it up by its name. libcuda_opt has a function of the same name for the other order, whose
// declaration in cuda_opt_unlp.h would contradict this definition. So the library's function for the manual's order is
// declared here. Its name is in libcuda_opt alone: this call arrives there in whichever order the two are loaded.
#include "cuda_opt.h"

using Function = void (*)(double *dev_x, double *dev_objf, double *dev_grad, int n);

extern "C" {

int cuda_opt_unlp_manual_solve(int n, int m, Function eval_fg, double *dev_x, double *dev_objf, double *dev_grad,
                               double *dev_hess, double *dev_workvec, double eps, int *dev_istate);

CUDA_OPT_API int cuda_opt_unlp_solve(int n, int m, Function eval_fg, double *dev_x, double *dev_objf, double *dev_grad,
                                     double *dev_hess, double *dev_workvec, double eps, int *dev_istate) {
    return cuda_opt_unlp_manual_solve(n, m, eval_fg, dev_x, dev_objf, dev_grad, dev_hess, dev_workvec, eps, dev_istate);
}

} // extern "C"
