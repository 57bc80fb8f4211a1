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

/* The picture, in pixels: the variables lie from `left` on, a value y at bottom - scale y. */
enum { left = 70, step = 2, right = left + step * shown };

static void draw_line(FILE *file, const char *style, double bottom, double scale, int64_t n, const double *y) {
    fprintf(file, "<polyline fill='none' %s points='", style);
    for (int64_t i = 0; i < n && i < shown; i++)
        fprintf(file, "%.1f,%.1f ", left + step * (double)i, bottom - scale * y[i]);
    fprintf(file, "'/>\n");
}

/* An axis on the left with a line across at each multiple of `tick` up to `highest`, and the axis of the variables. */
static void draw_axes(FILE *file, double bottom, double scale, double tick, double highest, const char *name) {
    for (double y = 0; y < highest + tick / 2; y += tick)
        fprintf(file, "<path d='M%d %.1fH%d' stroke='%s'/><text x='%d' y='%.1f' text-anchor='end'>%g</text>\n", left,
                bottom - scale * y, right, y > 0 ? "#ddd" : "#333", left - 8, bottom - scale * y + 5, y);
    for (int i = 0; i <= shown; i += 50)
        fprintf(file, "<path d='M%d %.1fv5' stroke='#333'/><text x='%d' y='%.1f' text-anchor='middle'>%d</text>\n",
                left + step * i, bottom, left + step * i, bottom + 19, i);
    fprintf(file, "<text x='%d' y='%.1f' text-anchor='middle'>variable i</text>\n", (left + right) / 2, bottom + 38);
    fprintf(file, "<text transform='translate(20 %.1f) rotate(-90)' text-anchor='middle'>%s</text>\n",
            bottom - scale * highest / 2, name);
}

/* Above, what was measured; below it the spikes, and over them, thinner, the result. None has a unit. */
static int draw(const char *path, int64_t n, const double *truth, const double *b, const double *x) {
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    fprintf(file, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 900 490' font-family='sans-serif' "
                  "font-size='14'>\n<rect width='900' height='490' fill='white'/>\n");
    draw_axes(file, 150, 200, 0.2, 0.6, "b");
    draw_axes(file, 440, 90, 0.5, 2, "x");
    draw_line(file, "stroke='#555'", 150, 200, n, b);
    draw_line(file, "stroke='#8fbbe3' stroke-width='4'", 440, 90, n, truth);
    draw_line(file, "stroke='#c0392b' stroke-width='1.5'", 440, 90, n, x);
    fprintf(file,
            "<text x='%d' y='20'>measured: b = A x + noise (no unit)</text>\n<text x='%d' y='230'>"
            "<tspan fill='#4a8cc7'>light blue: the spikes</tspan>, <tspan fill='#c0392b'>red: the result</tspan> "
            "(no unit)</text>\n</svg>\n",
            left, left);
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
