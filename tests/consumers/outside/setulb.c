/* Minimises sum (x_i - i)^2 / 2 in the box [0, 3]^n through the interface of L-BFGS-B 3.0. */
#include <cuda_opt_setulb.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    enum { n = 10, m = 5 };
    const int size = n, pairs = m, silent = -1;
    const double factr = 10, pgtol = 1e-8;
    double x[n] = {0}, lower[n], upper[n], f = 0, g[n], wa[2 * m * n + 5 * n + 11 * m * m + 8 * m], dsave[29];
    int both[n], iwa[3 * n], lsave[4], isave[44];
    char task[60], csave[60];
    for (int i = 0; i < n; i++) {
        lower[i] = 0;
        upper[i] = 3;
        both[i] = 2;
    }
    memset(csave, ' ', sizeof csave);
    memset(task, ' ', sizeof task);
    memcpy(task, "START", 5);
    do {
        setulb_(&size, &pairs, x, lower, upper, both, &f, g, &factr, &pgtol, wa, iwa, task, &silent, csave, lsave,
                isave, dsave, sizeof task, sizeof csave);
        if (memcmp(task, "FG", 2) == 0) {
            f = 0;
            for (int i = 0; i < n; i++) {
                g[i] = x[i] - i;
                f += g[i] * g[i] / 2;
            }
        }
    } while (memcmp(task, "FG", 2) == 0 || memcmp(task, "NEW_X", 5) == 0);
    printf("%.60s\nf = %g, x[9] = %g\n", task, f, x[9]);
    return memcmp(task, "CONVERGENCE", 11) != 0 || fabs(f - 45.5) > 1e-9;
}
