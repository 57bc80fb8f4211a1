/* This program uses the order of arguments of cuda_opt_unlp.h, in which n is the first argument of the function. The
 * program may also be linked with libcuda_opt_unlp, before libcuda_opt or after it. f(x) = sum (x_i - i)^2 / 2. */
#include <cuda_opt_unlp.h>
#include <stdio.h>

static void eval_fg(int n, double *x, double *f, double *g) {
    *f = 0;
    for (int i = 0; i < n; i++) {
        g[i] = x[i] - i;
        *f += g[i] * g[i] / 2;
    }
}

int main(void) {
    enum { n = 10, m = 5 };
    double x[n] = {0}, f, g[n];
    int istate;
    int (*const by_address)(int, int, cuda_opt_unlp_function, double *, double *, double *, double *, double *, double,
                            int *) = cuda_opt_unlp_solve;
    const int code = cuda_opt_unlp_solve(n, m, eval_fg, x, &f, g, NULL, NULL, 1e-5, &istate);
    const int again = by_address(n, m, eval_fg, x, &f, g, NULL, NULL, 1e-5, &istate);
    printf("code = %d, again %d, x[9] = %.4f\n", code, again, x[9]);
    return code;
}
