/* The three sample drivers of L-BFGS-B in C. They solve the chained sample problem with the stopping tests of the
 * library (1), with those of the caller (2), and with n = 1000 and a time limit in addition (3). The second argument is
 * iprint. The program can be linked with either library. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_opt_setulb.h"

static double sample(int n, const double *x, double *g) {
    double f = (x[0] - 1) * (x[0] - 1);
    memset(g, 0, (size_t)n * sizeof *g);
    g[0] = 2 * (x[0] - 1);
    for (int i = 1; i < n; i++) {
        const double a = x[i] - x[i - 1] * x[i - 1];
        f += 4 * a * a;
        g[i] += 8 * a;
        g[i - 1] -= 16 * x[i - 1] * a;
    }
    return f;
}

int main(int argc, char **argv) {
    const int driver = argc > 1 ? atoi(argv[1]) : 1;
    const int n = driver == 3 ? 1000 : 25, m = driver == 3 ? 10 : 5;
    const int iprint = argc > 2 ? atoi(argv[2]) : driver == 1 ? 1 : -1;
    const double factr = driver == 1 ? 1e7 : 0, pgtol = driver == 1 ? 1e-5 : 0, seconds_allowed = 20;
    enum { n_max = 1000, m_max = 10 };
    static double x[n_max], l[n_max], u[n_max], g[n_max];
    static double wa[2 * m_max * n_max + 5 * n_max + 11 * m_max * m_max + 8 * m_max];
    static int nbd[n_max], iwa[3 * n_max];
    double f, dsave[29], started, now;
    int lsave[4], isave[44];
    char task[60], csave[60];
    for (int i = 0; i < n; i++) {
        nbd[i] = 2;
        l[i] = i % 2 == 0 ? 1 : -100;
        u[i] = 100;
        x[i] = 3;
    }
    memset(task, ' ', sizeof task);
    memcpy(task, "START", 5);
    timer_(&started);
    for (;;) {
        setulb_(&n, &m, x, l, u, nbd, &f, g, &factr, &pgtol, wa, iwa, task, &iprint, csave, lsave, isave, dsave,
                sizeof task, sizeof csave);
        if (strncmp(task, "FG", 2) == 0) {
            timer_(&now);
            if (now - started > seconds_allowed) memcpy(task, "STOP: CPU", 9);
            f = sample(n, x, g);
        } else if (strncmp(task, "NEW_X", 5) == 0) {
            if (driver == 1) continue;
            memset(task, ' ', sizeof task);
            if (dsave[12] <= 1e-10 * (1 + fabs(f))) memcpy(task, "STOP: SMALL", 11);
            else if (isave[33] >= 900) memcpy(task, "STOP: MANY", 10);
            else memcpy(task, "NEW_X", 5);
            printf("Iterate %4d    nfg = %4d    f = %.5e    |proj g| = %.5e\n", isave[29], isave[33], f, dsave[12]);
        } else {
            break;
        }
    }
    printf("%.60s\n", task);
    for (int i = 0; i < n; i++) printf(i % 6 == 5 || i == n - 1 ? "%11.4e\n" : "%11.4e ", x[i]);
    return 0;
}
