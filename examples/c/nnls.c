/* Usage: nnls [N [PICTURE.svg]]
 *
 * Non-negative least squares of N variables, by default 1,000,000:
 *
 *     minimise ||A x - b||^2 / 2  subject to  x >= 0.
 *
 * A blurs a signal with a bell of 17 points, b is what it makes of a row of spikes, with noise. One bound for all
 * variables needs no array, and A none either. The last line says how far the result is from the conditions that hold
 * at the minimum: g_i >= 0 where x_i = 0, g_i = 0 where x_i > 0. The picture shows the first 400 variables.
 *
 *     cc -O3 nnls.c $(pkg-config --cflags --libs cuda_opt) -lm -o nnls && ./nnls 1000000 nnls.svg */
#include <cuda_opt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { reach = 8, shown = 400 };

static double bell[2 * reach + 1];

/* to = A from; the bell is symmetric, so that A is its own transpose. */
static void blur(int64_t n, const double *from, double *to) {
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = i < reach ? -i : -reach, last = n - 1 - i < reach ? n - 1 - i : reach;
        double sum = 0;
        for (int64_t k = first; k <= last; k++) sum += bell[k + reach] * from[i + k];
        to[i] = sum;
    }
}

/* Random numbers in [0, 1), the same on every machine. */
static double uniform(void) {
    static uint64_t state = 2026;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void draw_line(FILE *file, const char *style, double height, int64_t n, const double *y) {
    fprintf(file, "<polyline fill='none' %s points='", style);
    for (int64_t i = 0; i < n && i < shown; i++) fprintf(file, "%.1f,%.1f ", 20 + 2.2 * (double)i, 300 - height * y[i]);
    fprintf(file, "'/>\n");
}

static int draw(const char *path, int64_t n, const double *truth, const double *b, const double *x) {
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    fprintf(file, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 90 920 240' font-family='sans-serif'>\n"
                  "<rect y='90' width='920' height='240' fill='white'/>\n");
    draw_line(file, "stroke='#999'", 240, n, b);
    draw_line(file, "stroke='#2a6fb0' stroke-width='4' opacity='0.5'", 120, n, truth);
    draw_line(file, "stroke='#c0392b'", 120, n, x);
    fprintf(file,
            "<text x='20' y='322'>blue: the spikes; grey: what was measured, twice as high; red: the result</text>"
            "\n</svg>\n");
    return fclose(file) == 0;
}

int main(int argc, char **argv) {
    const int64_t n = argc > 1 ? atoll(argv[1]) : 1000000;
    if (n < 1) {
        fprintf(stderr, "nnls: N is '%s', but has to be at least 1\n", argv[1]);
        return 2;
    }
    const size_t bytes = (size_t)n * sizeof(double);
    double *x = calloc(1, bytes), *g = malloc(bytes), *b = malloc(bytes), *residual = malloc(bytes), f = 0;
    double *truth = calloc(1, bytes);
    if (!x || !g || !b || !residual || !truth) {
        fprintf(stderr, "nnls: no memory for %lld variables\n", (long long)n);
        return 1;
    }
    for (int k = -reach; k <= reach; k++) bell[k + reach] = exp(-k * k / 8.0) / 5;
    for (int64_t i = 0; i < n; i++) truth[i] = uniform() < 0.06 ? 0.5 + uniform() : 0;
    blur(n, truth, b);
    for (int64_t i = 0; i < n; i++) b[i] += 0.01 * (uniform() + uniform() + uniform() - 1.5);

    cuda_opt *s;
    int task = cuda_opt_create(&s, n, 10, CUDA_OPT_BACKEND_HOST);
    if (task == 0) task = cuda_opt_set_uniform_bounds(s, 0, INFINITY);
    if (task == 0) task = cuda_opt_set_real(s, CUDA_OPT_FACTR, 0);
    if (task == 0) task = cuda_opt_set_real(s, CUDA_OPT_PGTOL, 1e-3);
    if (task == 0)
        while ((task = cuda_opt_solve(s, x, &f, g)) == CUDA_OPT_EVALUATE_FG) {
            blur(n, x, residual);
            f = 0;
            for (int64_t i = 0; i < n; i++) {
                residual[i] -= b[i];
                f += residual[i] * residual[i] / 2;
            }
            blur(n, residual, g);
        }
    int64_t iterations = 0, evaluations = 0, zeros = 0;
    cuda_opt_get_int(s, CUDA_OPT_ITERATIONS, &iterations);
    cuda_opt_get_int(s, CUDA_OPT_EVALUATIONS, &evaluations);
    printf("%s\n", cuda_opt_message(s));
    cuda_opt_destroy(&s);
    if (task != CUDA_OPT_CONVERGED) return 1;

    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        zeros += x[i] == 0;
        worst = fmax(worst, x[i] > 0 ? fabs(g[i]) : -g[i]);
    }
    printf("%lld variables, %lld of them 0; %lld iterations, %lld evaluations\n", (long long)n, (long long)zeros,
           (long long)iterations, (long long)evaluations);
    printf("f = %.8g, off the conditions of the minimum by %.1e\n", f, worst);
    if (argc > 2 && !draw(argv[2], n, truth, b, x)) {
        fprintf(stderr, "nnls: cannot write '%s'\n", argv[2]);
        return 1;
    }
    free(x), free(g), free(b), free(residual), free(truth);
    return 0;
}
