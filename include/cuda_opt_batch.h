/* cuda_opt_batch: many small problems of the same n at once, each minimised by L-BFGS-B for itself.
 *
 *     minimise f_p(x) subject to l_p <= x <= u_p,   x in R^n,   p = 0 .. count - 1,   n from 1 to 4096
 *
 * The loop is yours, as with cuda_opt_solve(): a call returns CUDA_OPT_EVALUATE_BATCH, and f and g of all active
 * problems are to be put beside their x. Those that have ended are dropped. Whoever can write f as a functor may have
 * whole solves in one kernel by cuda_opt/batch.cuh instead. docs/batch.md has more.
 *
 * A problem's path does not depend on its neighbours, on the number of problems, or on the host's threads: a batch of
 * one gives the bits of a batch of 100,000. The same problem on the host and on CUDA, with the same f and g to the last
 * bit, takes the same path, too; with a learned metric but for a logarithm that decides whether it serves.
 *
 * The handle is a cuda_opt. These serve it, with what cuda_opt.h says of them: cuda_opt_destroy, _reset, _message,
 * _request_stop, _backend, _set_stream, the helpers for memory, cuda_opt_set_bounds and _set_uniform_bounds, whose
 * bounds are those of every problem alike, and so is the array of cuda_opt_set_diagonal. Of the settings, those of
 * stopping tests, limits, line searches and the metric, ROBUST, APPROXIMATE_CAUCHY and THREADS; they are the same for
 * all problems. There is no log, no checkpoint, no warm start.
 *
 * @code{.c}
 * #include <cuda_opt_batch.h>
 * #include <stdio.h>
 *
 * int main(void)
 * {
 *     enum { n = 3, count = 1000 };
 *     static double x[count][n], f[count], g[count][n]; // f_p(x) = sum (x_i - i - p / 1000)^2 / 2 in [0, 2]^n
 *     cuda_opt *s;
 *     int task = cuda_opt_create_batch(&s, n, count, 5, CUDA_OPT_BACKEND_HOST);
 *     if (task == 0) task = cuda_opt_set_uniform_bounds(s, 0, 2);
 *     if (task == 0)
 *         do {
 *             task = cuda_opt_batch_solve(s, x[0], f, g[0]);
 *             if (task == CUDA_OPT_EVALUATE_BATCH) {
 *                 const int64_t *active = cuda_opt_batch_active(s);
 *                 int64_t many;
 *                 cuda_opt_get_int(s, CUDA_OPT_BATCH, &many);
 *                 for (int64_t k = 0; k < many; k++) {
 *                     const int64_t p = active[k];
 *                     f[p] = 0;
 *                     for (int i = 0; i < n; i++) {
 *                         g[p][i] = x[p][i] - i - p / 1000.0;
 *                         f[p] += g[p][i] * g[p][i] / 2;
 *                     }
 *                 }
 *             }
 *         } while (task > 0);
 *     printf("%s\nx[500] = (%g, %g, %g)\n", cuda_opt_message(s), x[500][0], x[500][1], x[500][2]);
 *     cuda_opt_destroy(&s);
 *     return task != CUDA_OPT_CONVERGED;
 * }
 * @endcode */
#ifndef CUDA_OPT_BATCH_H
#define CUDA_OPT_BATCH_H

#include "cuda_opt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Keys of a batch, besides those of cuda_opt.h. CUDA_OPT_BATCH is how many problems are to be evaluated now. */
enum {
    CUDA_OPT_BATCH_PACKED = 500, /**< cuda_opt_set_int(): 0 or 1; default 0: problem p has the rows p of x, f and g. 1:
                                      at CUDA_OPT_EVALUATE_BATCH row k is that of the k-th active problem, so that the
                                      rows to evaluate stand together; at the end each has its own again, but that f
                                      and g of one that was never evaluated may be another's. Before the first call of
                                      cuda_opt_batch_solve() */
    CUDA_OPT_BATCH_COUNT = 501,  /**< cuda_opt_get_int(): problems */
    CUDA_OPT_BATCH_CODE = 502    /**< cuda_opt_batch_get_int(): CUDA_OPT_EVALUATE_FG while the problem is active, then
                                      how it has ended, a code as of cuda_opt_solve() */
};

/** Make a handle for a batch in double precision.
 *  @param out      as for cuda_opt_create()
 *  @param n        number of variables of each problem, 1 to 4096; the work on one is made for up to a few hundred. A
 *                  problem of fewer has the others fixed, l_i = u_i
 *  @param count    number of problems, >= 1
 *  @param m        number of correction pairs, 1 to 64. A problem takes a block of the workspace: 2m + 8 vectors of n
 *                  (up to a multiple of 4), one more with CUDA_OPT_METRIC, and, for m = 5, 3 kB besides; 5 kB for
 *                  m = 10, 12 kB for m = 20. With one number as metric, for 5,000 problems or more of at most 32
 *                  variables, CUDA reserves memory beside it, at m = 5 and 10: 4 to 8 GB on an H200 (docs/batch.md)
 *  @param backend  CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST
 *  @return as cuda_opt_create() */
CUDA_OPT_API int cuda_opt_create_batch(cuda_opt **out, int64_t n, int64_t count, int32_t m, int32_t backend);
/** As cuda_opt_create_batch(), with x, g, the bounds and the history in single precision. f stays double. */
CUDA_OPT_API int cuda_opt_create_batch_f32(cuda_opt **out, int64_t n, int64_t count, int32_t m, int32_t backend);
/** Bounds that each problem has for itself, instead of those of cuda_opt_set_bounds(). The arrays belong to the caller,
 *  and must stay as they are until the batch ends. Before the first call of cuda_opt_batch_solve(). A problem whose
 *  bounds are crossed, or NaN, ends by CUDA_OPT_IMPROPER_INPUT; the others go on.
 *  @param lower  count rows of n, in the memory space of x; NULL as for cuda_opt_set_bounds()
 *  @param upper  likewise
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_batch_set_bounds(cuda_opt *s, const double *lower, const double *upper);
/** As cuda_opt_batch_set_bounds(), for a handle of cuda_opt_create_batch_f32(). */
CUDA_OPT_API int cuda_opt_batch_set_bounds_f32(cuda_opt *s, const float *lower, const float *upper);
/** With CUDA_OPT_METRIC = CUDA_OPT_METRIC_DIAGONAL: a diagonal of H0 for each problem, the approximate inverse of its
 *  Hessian at x, instead of that of cuda_opt_set_diagonal(), one for all. Where CUDA_OPT_EVALUATE_BATCH asks for f, g,
 *  their rows of the diagonal are to be filled in, too; they are read where x becomes an iterate, as often as
 *  CUDA_OPT_DIAGONAL_EVERY says: with 0, as given with the first f and g. There is no CUDA_OPT_SUPPLY_DIAGONAL. The
 *  array belongs to the caller, is only read, and shares no memory with x, f and g. Before the first call of
 *  cuda_opt_batch_solve(). A problem with an element that is not positive and finite ends by CUDA_OPT_BAD_DIAGONAL.
 *  @param diagonal  count rows of n, in the memory space of x, with CUDA_OPT_BATCH_PACKED in the order of those of g
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_batch_set_diagonal(cuda_opt *s, const double *diagonal);
/** As cuda_opt_batch_set_diagonal(), for a handle of cuda_opt_create_batch_f32(). */
CUDA_OPT_API int cuda_opt_batch_set_diagonal_f32(cuda_opt *s, const float *diagonal);
/** One step of the protocol. Nothing is allocated after the first call, but where bounds or a metric come or go between
 *  two batches of a handle.
 *  @param x  count rows of n, in the handle's memory space. First call: the starts, which are moved into their boxes
 *  @param f  count values there. Of the problems whose evaluation has not been asked for nothing is read
 *  @param g  count rows of n there
 *  The three must be the same at each call of one batch, and share no memory with each other or the bounds.
 *  @return CUDA_OPT_EVALUATE_BATCH; when all have ended, each with its best iterate in x, f and g, CUDA_OPT_CONVERGED
 *          where all have converged, else the code of the first that has not; or a negative code of the whole. After a
 *          code <= 0, cuda_opt_reset() comes before the next batch */
CUDA_OPT_API int cuda_opt_batch_solve(cuda_opt *s, double *x, double *f, double *g);
/** As cuda_opt_batch_solve(), for a handle of cuda_opt_create_batch_f32(). */
CUDA_OPT_API int cuda_opt_batch_solve_f32(cuda_opt *s, float *x, double *f, float *g);
/** The active problems, CUDA_OPT_BATCH of them, counted from 0 and ascending, in the handle's memory space. Valid until
 *  the next call of cuda_opt_batch_solve(); on CUDA, complete on the stream. NULL where none are. */
CUDA_OPT_API const int64_t *cuda_opt_batch_active(const cuda_opt *s);
/** A result of each problem, by the keys of cuda_opt_get_int(), or CUDA_OPT_BATCH_CODE. Once a batch has begun.
 *  @param values  receives count numbers, in host memory
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key; CUDA_OPT_MISUSE; CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_batch_get_int(cuda_opt *s, int32_t key, int64_t *values);
/** As cuda_opt_batch_get_int(), by the keys of cuda_opt_get_real(): CUDA_OPT_F, CUDA_OPT_PG_NORM_INF and their like. */
CUDA_OPT_API int cuda_opt_batch_get_real(cuda_opt *s, int32_t key, double *values);
/** One English sentence on one of the problems, as cuda_opt_message() has for a solve alone. Never NULL. Valid until
 *  the next call with this handle.
 *  @param problem  from 0 */
CUDA_OPT_API const char *cuda_opt_batch_message(cuda_opt *s, int64_t problem);

#ifdef __cplusplus
}
#endif
#endif
