// libcuda_opt_unlp defines cuda_opt_unlp_solve with the order of arguments of the 2013 manual of L-BFGS for GPU-CUDA.
// It serves programs that declare the function themselves or look it up by name. libcuda_opt defines a function of the
// same name for the other order. The declaration of that function in cuda_opt_unlp.h would contradict this definition,
// so this file does not include that header. Instead it declares cuda_opt_unlp_manual_solve(), which only libcuda_opt
// defines. The call therefore reaches that function, whichever of the two libraries is loaded first.
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
