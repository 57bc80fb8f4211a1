// libcuda_opt_unlp defines cuda_opt_unlp_solve with the function's arguments in the manual's order, for programs that
// declare it themselves or look it up by name. libcuda_opt defines a function of the same name for the other order,
// whose declaration in cuda_opt_unlp.h would contradict this definition. Therefore this file declares the library's
// function for the manual's order itself. Only libcuda_opt defines that name, so the call reaches it in whichever order
// the two libraries are loaded.
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
