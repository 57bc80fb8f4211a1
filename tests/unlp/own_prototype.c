/* This program includes no header of the library. It declares the manual's function itself and is linked with the flags
 * of pkg-config cuda_opt_unlp. f(x) = sum (x_i - i)^2 / 2. */
#include <stdio.h>

int cuda_opt_unlp_solve(int n, int m, void (*eval_fg)(double *dev_x, double *dev_objf, double *dev_grad, int n),
                        double *dev_x, double *dev_objf, double *dev_grad, double *dev_hess, double *dev_workvec,
                        double eps, int *dev_istate);
int cuda_opt_unlp_info(void);
int cuda_opt_unlp_set_iprint(int i_one, int i_two);

static void eval_fg(double *dev_x, double *dev_objf, double *dev_grad, int n) {
    *dev_objf = 0;
    for (int i = 0; i < n; i++) {
        dev_grad[i] = dev_x[i] - i;
        *dev_objf += dev_grad[i] * dev_grad[i] / 2;
    }
}

int main(void) {
    enum { n = 10, m = 5 };
    double x[n] = {0}, f = -1, g[n], workvec[n * (2 * m + 1) + 2 * m];
    int istate = 0;
    cuda_opt_unlp_set_iprint(-1, 0);
    const int code = cuda_opt_unlp_solve(n, m, eval_fg, x, &f, g, NULL, workvec, 1e-5, &istate);
    printf("code = %d, istate = %d, info = %d, x[9] = %.4f\n", code, istate, cuda_opt_unlp_info(), x[9]);
    return code;
}
