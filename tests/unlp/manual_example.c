/* The manual's example on the host: it minimises the extended Rosenbrock function from (-1.2, 1, -1.2, 1, ...) and
 * prints the log. Usage: manual_example [n [m]], where n is even. */
#include <cuda_opt_unlp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double *terms; /* the terms of the pairs (x_{2i-1}, x_{2i}) */

/* f = sum 100 (b - a^2)^2 + (1 - a)^2 over the pairs (a, b) */
static void rosenbrock(int n, double *x, double *f, double *g) {
    for (int pair = 0; pair < n / 2; pair++) {
        const double a = x[2 * pair], b = x[2 * pair + 1];
        const double valley = b - a * a, slope = 1 - a;
        terms[pair] = 100 * valley * valley + slope * slope;
        g[2 * pair] = -400 * a * valley - 2 * slope;
        g[2 * pair + 1] = 200 * valley;
    }
    cuda_opt_unlp_my_reduce(n / 2, terms, f);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 1000000;
    const int m = argc > 2 ? atoi(argv[2]) : 7;
    const size_t bytes = (n > 0 ? (size_t)n : 1) * sizeof(double);
    double *x = malloc(bytes), *g = malloc(bytes), f = 0;
    terms = malloc(bytes);
    if (n % 2 != 0 || !x || !g || !terms) {
        fprintf(stderr, "usage: manual_example [n [m]], n even\n");
        return 2;
    }
    for (int i = 0; i < n; i++) x[i] = i % 2 == 0 ? -1.2 : 1;

    int istate = 0;
    printf("  Extended Rosenbrock\n");
    cuda_opt_unlp_set_iprint(1, 0);
    cuda_opt_unlp_solve(n, m, rosenbrock, x, &f, g, NULL, NULL, 1e-5, &istate);
    if (istate != 0) fprintf(stderr, "istate = %d: %s\n", istate, cuda_opt_unlp_message());

    double farthest = 0;
    for (int i = 0; i < n; i++) farthest = fmax(farthest, fabs(x[i] - 1));
    printf("ISTATE = %d   F = %.4e   MAX |X(I) - 1| = %.0e\n", istate, f, farthest);
    free(terms);
    free(g);
    free(x);
    return istate == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
