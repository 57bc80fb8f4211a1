/* Minimises the extended Rosenbrock function with x_1, x_3, ... <= 0.5, in strict C11. */
#include <cuda_opt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double rosenbrock(int n, const double *x, double *g) {
    double f = 0;
    for (int i = 0; i < n; i += 2) {
        const double a = x[i + 1] - x[i] * x[i];
        const double b = 1 - x[i];
        f += 100 * a * a + b * b;
        g[i] = -400 * x[i] * a - 2 * b;
        g[i + 1] = 200 * a;
    }
    return f;
}

int main(void) {
    enum { n = 1000, m = 5 };
    double x[n], g[n], lower[n], upper[n], f;
    for (int i = 0; i < n; i++) {
        x[i] = i % 2 == 0 ? -1.2 : 1;
        lower[i] = -INFINITY;
        upper[i] = i % 2 == 0 ? 0.5 : INFINITY;
    }

    cuda_opt *s;
    int task = cuda_opt_create(&s, n, m, CUDA_OPT_BACKEND_HOST);
    if (task == 0) task = cuda_opt_set_bounds(s, lower, upper);
    if (task == 0) task = cuda_opt_set_real(s, CUDA_OPT_EPS, 1e-8);
    if (task == 0) {
        do {
            task = cuda_opt_solve(s, x, &f, g);
            if (task == CUDA_OPT_EVALUATE_FG) f = rosenbrock(n, x, g);
        } while (task > 0);
    }
    if (task != CUDA_OPT_CONVERGED) {
        fprintf(stderr, "%s: %s\n", cuda_opt_task_name(task), cuda_opt_message(s));
        cuda_opt_destroy(&s);
        return EXIT_FAILURE;
    }

    int64_t at_upper;
    cuda_opt_get_int(s, CUDA_OPT_UPPER_COUNT, &at_upper);
    printf("f = %.6f, x = %.6f %.6f, %d at the upper bound\n", f, x[0], x[1], (int)at_upper);
    cuda_opt_destroy(&s);
    return EXIT_SUCCESS;
}
