/* Tests that the header is valid C11, and that a C program can run a solve and handle errors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_opt.h"

enum { n = 50 };

static int failures = 0;

static void expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    failures++;
}

static double chained_rosenbrock(const double *x, double *g) {
    double f = 0;
    memset(g, 0, n * sizeof *g);
    for (int i = 0; i + 1 < n; i++) {
        const double valley = x[i + 1] - x[i] * x[i], slope = 1 - x[i];
        f += 100 * valley * valley + slope * slope;
        g[i] += -400 * x[i] * valley - 2 * slope;
        g[i + 1] += 200 * valley;
    }
    return f;
}

/* Solves on the given backend. f and g are evaluated in host memory and copied. */
static void solve_on(int backend) {
    cuda_opt *s = NULL;
    int task = cuda_opt_create(&s, n, 5, backend);
    expect(task == 0, "a handle is created");
    double x[n], g[n], f, lower[n], upper[n];
    void *memory[5] = {NULL};
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        lower[i] = -1;
        upper[i] = 0.5 + 0.01 * i;
    }
    for (int k = 0; k < 5 && task == 0; k++) task = cuda_opt_alloc(s, &memory[k], sizeof x);
    expect(task == 0, "memory is allocated in the memory space of the handle");
    double *x_there = memory[0], *g_there = memory[1], *f_there = memory[2];
    if (task == 0) task = cuda_opt_copy_in(s, x_there, x, sizeof x);
    if (task == 0) task = cuda_opt_copy_in(s, memory[3], lower, sizeof lower);
    if (task == 0) task = cuda_opt_copy_in(s, memory[4], upper, sizeof upper);
    if (task == 0) task = cuda_opt_set_bounds(s, memory[3], memory[4]);
    expect(task == 0, "the bounds are accepted");
    do {
        task = cuda_opt_solve(s, x_there, f_there, g_there);
        if (task == CUDA_OPT_EVALUATE_FG) {
            expect(cuda_opt_copy_out(s, x, x_there, sizeof x) == 0, "x is copied out");
            for (int i = 0; i < n; i++) expect(lower[i] <= x[i] && x[i] <= upper[i], "x is in the box");
            f = chained_rosenbrock(x, g);
            expect(cuda_opt_copy_in(s, f_there, &f, sizeof f) == 0, "f is copied in");
            expect(cuda_opt_copy_in(s, g_there, g, sizeof g) == 0, "g is copied in");
        }
    } while (task > 0);
    expect(task == CUDA_OPT_CONVERGED, "the solve converges");
    expect(cuda_opt_synchronize(s) == 0, "the stream is synchronised");
    int64_t lower_count = -1, upper_count = -1, free_count = -1;
    double norm = -1;
    expect(cuda_opt_get_int(s, CUDA_OPT_LOWER_COUNT, &lower_count) == 0, "a count can be read");
    expect(cuda_opt_get_int(s, CUDA_OPT_UPPER_COUNT, &upper_count) == 0, "a count can be read");
    expect(cuda_opt_get_int(s, CUDA_OPT_FREE_COUNT, &free_count) == 0, "a count can be read");
    expect(lower_count + upper_count + free_count == n, "the counts add up");
    expect(upper_count > 0, "some variables are at their upper bound");
    expect(cuda_opt_get_real(s, CUDA_OPT_PG_NORM2, &norm) == 0 && norm < 1e-4, "the projected gradient is small");
    for (int k = 0; k < 5; k++) expect(cuda_opt_free(s, memory[k]) == 0, "memory is freed");
    cuda_opt_destroy(&s);
    expect(s == NULL, "destroying sets the handle to NULL");
}

static void check_errors(void) {
    cuda_opt *s = NULL;
    double x = 0, f = 0, g = 0;
    expect(cuda_opt_create(&s, 0, 5, CUDA_OPT_BACKEND_HOST) == CUDA_OPT_IMPROPER_INPUT, "n = 0 is refused");
    expect(s != NULL && strlen(cuda_opt_message(s)) > 0, "the message of the refusal is not empty");
    cuda_opt_destroy(&s);
    expect(cuda_opt_solve(s, &x, &f, &g) == CUDA_OPT_MISUSE, "a destroyed handle is refused");
    expect(cuda_opt_create(&s, 1, 1, CUDA_OPT_BACKEND_HOST) == 0, "a handle for one variable and one pair is created");
    expect(cuda_opt_set_real(s, CUDA_OPT_GTOL, 1.0) == CUDA_OPT_IMPROPER_INPUT, "gtol = 1 is refused");
    expect(cuda_opt_set_int(s, 12345, 0) == CUDA_OPT_IMPROPER_INPUT, "an unknown key is refused");
    expect(cuda_opt_solve(s, NULL, &f, &g) == CUDA_OPT_MISUSE, "NULL for x is refused");
    expect(strcmp(cuda_opt_task_name(CUDA_OPT_MISUSE), "CUDA_OPT_MISUSE") == 0, "codes have names");
    x = NAN;
    expect(cuda_opt_reset(s) == 0, "a reset is possible");
    expect(cuda_opt_solve(s, &x, &f, &g) == CUDA_OPT_IMPROPER_INPUT, "NaN in the start is refused");
    cuda_opt_destroy(&s);
    cuda_opt_destroy(&s);
    cuda_opt_destroy(NULL);
}

int main(void) {
    solve_on(CUDA_OPT_BACKEND_HOST);
    solve_on(CUDA_OPT_BACKEND_AUTO);
    check_errors();
    if (failures > 0) fprintf(stderr, "%d failures\n", failures);
    return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
