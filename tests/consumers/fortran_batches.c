/* Solves the batch of fortran_batches.f90 with the C interface, as the reference for a bitwise comparison. Each problem
 * has its own bounds and diagonal, which the Fortran function sets together with f and g. Returns the last code. */
#include <cuda_opt_batch.h>

#define SOLVE_IN_C(name, Real, suffix)                                                                                 \
    int name(int64_t n, int64_t count, const Real *lower, const Real *upper, Real *x, double *f, Real *g, Real *d,     \
             int64_t *codes, double *norms,                                                                            \
             void (*evaluate)(int64_t problem, const Real *x, double *f, Real *g, Real *d)) {                          \
        cuda_opt *s;                                                                                                   \
        int task = cuda_opt_create_batch##suffix(&s, n, count, 5, CUDA_OPT_BACKEND_HOST);                              \
        if (task == 0) task = cuda_opt_batch_set_bounds##suffix(s, lower, upper);                                      \
        if (task == 0) task = cuda_opt_set_int(s, CUDA_OPT_METRIC, CUDA_OPT_METRIC_DIAGONAL);                          \
        if (task == 0) task = cuda_opt_batch_set_diagonal##suffix(s, d);                                               \
        while (task >= 0) {                                                                                            \
            task = cuda_opt_batch_solve##suffix(s, x, f, g);                                                           \
            if (task != CUDA_OPT_EVALUATE_BATCH) break;                                                                \
            const int64_t *active = cuda_opt_batch_active(s);                                                          \
            int64_t many = 0;                                                                                          \
            cuda_opt_get_int(s, CUDA_OPT_BATCH, &many);                                                                \
            for (int64_t k = 0; k < many; k++) {                                                                       \
                const int64_t p = active[k];                                                                           \
                evaluate(p, x + n * p, f + p, g + n * p, d + n * p);                                                   \
            }                                                                                                          \
        }                                                                                                              \
        if (cuda_opt_batch_get_int(s, CUDA_OPT_BATCH_CODE, codes) != 0) task = CUDA_OPT_MISUSE;                        \
        if (cuda_opt_batch_get_real(s, CUDA_OPT_PG_NORM_INF, norms) != 0) task = CUDA_OPT_MISUSE;                      \
        cuda_opt_destroy(&s);                                                                                          \
        return task;                                                                                                   \
    }

SOLVE_IN_C(solve_in_c, double, )
SOLVE_IN_C(solve_in_c_f32, float, _f32)
