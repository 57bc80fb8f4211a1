/* Provokes each info of the line search on the host and reads it by cuda_opt_unlp_info(), with the manual's names. */
#include "cu_lbfgs_dp.h"
#include <math.h>
#include <stdio.h>

static int failures, read_infos;

/* f(x) = (x - 100)^2 / 2: the first step, of length 1, is far too short. */
static void quadratic(double *x, double *f, double *g, int n) {
    *f = 0;
    for (int i = 0; i < n; i++) {
        g[i] = x[i] - 100;
        *f += g[i] * g[i] / 2;
    }
}
/* f(x) = 1000 (x - 0.01)^2: the first step, of length 1, goes far beyond the minimiser. */
static void narrow(double *x, double *f, double *g, int n) {
    *f = 0;
    for (int i = 0; i < n; i++) {
        g[i] = 2000 * (x[i] - 0.01);
        *f += 1000 * (x[i] - 0.01) * (x[i] - 0.01);
    }
}
/* f(x) = |x - 0.3|: no point satisfies the curvature condition. */
static void kink(double *x, double *f, double *g, int n) {
    *f = 0;
    for (int i = 0; i < n; i++) {
        g[i] = x[i] < 0.3 ? -1 : 1;
        *f += fabs(x[i] - 0.3);
    }
}

/* Checks the info of the first line search of a solve from x = 0 with the settings of this thread. The limit icall = 1
 * ends the solve with the state -10 after this line search, if it has not ended before. */
static void expect(int info, const char *how, cuda_opt_unlp_manual_function eval_fg, int state) {
    double x = 0, f = 0, g = 0, hess = 1;
    int istate = 0;
    set_iprint(-1, 0);
    const int code = cuda_opt_unlp_solve(1, 5, eval_fg, &x, &f, &g, &hess, NULL, 1e-5, &istate);
    const int found = cuda_opt_unlp_info();
    printf("info %d, state %d: %s. %s\n", found, code, how, cuda_opt_unlp_message());
    if (found != info || code != state || istate != state) {
        printf("    but the info should be %d, and the state %d\n", info, state);
        failures++;
    }
    read_infos++;
    cuda_opt_unlp_default_settings();
    cuda_opt_unlp_set_icall(1);
}

int main(void) {
    if (cuda_opt_unlp_info() != 0) failures++; /* there has been no line search */

    cuda_opt_unlp_set_icall(0);
    expect(1, "both conditions hold at the end of a solve that converges", quadratic, 0);

    cuda_opt_unlp_set_STPMIN(2);
    cuda_opt_unlp_set_STPMAX(1);
    expect(0, "STPMIN is above STPMAX, so that no search begins", quadratic, -3);

    cuda_opt_unlp_set_XTOL(1e3);
    expect(2, "any interval of uncertainty is narrow enough", narrow, -1);

    cuda_opt_unlp_set_maxfev(1);
    expect(3, "one evaluation does not lead far enough", quadratic, -10);

    cuda_opt_unlp_set_STPMIN(1);
    expect(4, "the step at STPMIN is too long", narrow, -1);

    cuda_opt_unlp_set_STPMAX(0.5);
    expect(5, "f still falls at STPMAX", quadratic, -10);

    cuda_opt_unlp_set_maxfev(1000);
    cuda_opt_unlp_set_XTOL(0);
    expect(6, "between two neighbouring numbers there is no further step", kink, -10);

    /* By reverse communication the info is 0 until the first line search has ended. */
    double x = 0, f = 0, g = 0;
    int istate = 0, evaluations = 0;
    cuda_opt_unlp_default_settings();
    set_iprint(-1, 0);
    for (;;) {
        cuda_opt_unlp_solve(1, 5, NULL, &x, &f, &g, NULL, NULL, 1e-5, &istate);
        if (cuda_opt_unlp_info() != 0) break;
        narrow(&x, &f, &g, 1);
        evaluations++;
    }
    if (cuda_opt_unlp_info() != 1 || evaluations < 3) failures++;
    printf("info 1 after %d evaluations of the first search, and 0 before\n", evaluations - 1);
    cuda_opt_unlp_release(NULL);
    printf("%d infos, %d failures\n", read_infos, failures);
    return failures;
}
