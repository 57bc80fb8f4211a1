/* Minimises many small problems of the same n at once by L-BFGS-B, independently of each other.
 *
 *     minimise f_p(x) subject to l_p <= x <= u_p,   x in R^n,   p = 0 .. count - 1,   n from 1 to 4096
 *
 * Your program contains the loop, as with cuda_opt_solve(): a call returns CUDA_OPT_EVALUATE_BATCH, and you store f and
 * g of all active problems. Problems that have ended are no longer evaluated. If you can write f as a functor,
 * cuda_opt/batch.cuh computes whole solves in one kernel (docs/batch.md).
 *
 * The iterates of a problem do not depend on the other problems, on their number, or on the host's threads: a batch of
 * one problem gives the same bits as a batch of 100,000. A problem has the same iterates on the host and on CUDA if f
 * and g have the same bits.
 *
 * The handle is a cuda_opt. These functions of cuda_opt.h apply to it: cuda_opt_destroy, _reset, _message,
 * _request_stop, _backend, _set_stream, the helpers for memory, and cuda_opt_set_bounds, _set_uniform_bounds and
 * _set_diagonal, whose values are the same for all problems. These settings apply: the stopping tests, the noise level,
 * the limits, the line search, the initial Hessian, ROBUST, APPROXIMATE_CAUCHY and THREADS. Each setting is the same
 * for all problems.
 * There is no log, no checkpoint and no warm start.
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

/** The keys of a batch, in addition to those of cuda_opt.h. In a batch CUDA_OPT_BATCH is the number of problems to
 *  evaluate now. */
enum {
    /** BATCH_PACKED is an integer setting, 0 or 1; default 0. Set it before the first call of cuda_opt_batch_solve().
     *  With 0, row p of x, f and g belongs to problem p. With 1, row k belongs to the k-th active problem when
     *  CUDA_OPT_EVALUATE_BATCH is returned, so that the rows to evaluate are contiguous. At the end of the batch row p
     *  belongs to problem p again. However, f and g of a problem that was never evaluated may then be those of another
     *  problem. */
    CUDA_OPT_BATCH_PACKED = 500,
    CUDA_OPT_BATCH_COUNT = 501, /**< BATCH_COUNT is the number of problems, for cuda_opt_get_int(). */
    /** BATCH_CODE is a result of each problem, for cuda_opt_batch_get_int(). It is CUDA_OPT_EVALUATE_FG while the
     *  problem is active, and then its return code, one of those of cuda_opt_solve(). */
    CUDA_OPT_BATCH_CODE = 502
};

/** Create a handle for a batch in double precision.
 *  @param out      as for cuda_opt_create()
 *  @param n        number of variables of each problem, 1 to 4096; the algorithm is designed for up to a few hundred.
 *                  For a problem with fewer variables, fix the remaining ones by l_i = u_i
 *  @param count    number of problems, >= 1
 *  @param m        number of correction pairs, 1 to 64; or 0, which means 10. Per problem the workspace has 2m + 8
 *                  vectors of n elements (n rounded up to a multiple of 4), and one more if the initial Hessian is a
 *                  diagonal. It also has 3 kB for m = 5, 5 kB for m = 10, 12 kB for m = 20. For 5,000 problems or more
 *                  of at most 32 variables CUDA reserves local memory in addition. On an H200 this is about 2.2 GB if m
 *                  = 5 and there are bounds or a diagonal. It is about 4.0 GB if m = 10 and the initial Hessian is a
 *                  scalar (docs/batch.md)
 *  @param backend  CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST
 *  @return as cuda_opt_create() */
CUDA_OPT_API int cuda_opt_create_batch(cuda_opt **out, int64_t n, int64_t count, int32_t m, int32_t backend);
/** Does the same as cuda_opt_create_batch(), with x, g, the bounds and the history in single precision. f remains
 *  double. */
CUDA_OPT_API int cuda_opt_create_batch_f32(cuda_opt **out, int64_t n, int64_t count, int32_t m, int32_t backend);
/** Set different bounds for each problem, instead of those of cuda_opt_set_bounds(). The arrays remain yours, and must
 *  not change until the batch ends. Call this before the first call of cuda_opt_batch_solve(). A problem with l_i > u_i
 *  or with a bound that is NaN ends with CUDA_OPT_IMPROPER_INPUT; the others continue.
 *  @param lower  count rows of n values in the memory space of x; NULL: the bound of cuda_opt_set_uniform_bounds()
 *                applies
 *  @param upper  count rows of n values in the memory space of x; NULL: the bound of cuda_opt_set_uniform_bounds()
 *                applies
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_batch_set_bounds(cuda_opt *s, const double *lower, const double *upper);
/** Does the same as cuda_opt_batch_set_bounds(), for a handle that cuda_opt_create_batch_f32() created. */
CUDA_OPT_API int cuda_opt_batch_set_bounds_f32(cuda_opt *s, const float *lower, const float *upper);
/** Set an array for the diagonals of H0, the approximate inverse Hessian at x, with one diagonal for each problem.
 *  cuda_opt_set_diagonal() sets one diagonal for all problems instead. The array is used with CUDA_OPT_INITIAL_HESSIAN
 *  = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL. When CUDA_OPT_EVALUATE_BATCH is returned, fill the rows of the diagonal
 *  together with f and g; there is no task CUDA_OPT_SUPPLY_DIAGONAL. A row is read when x becomes an iterate, as often
 *  as CUDA_OPT_DIAGONAL_EVERY says. With CUDA_OPT_DIAGONAL_EVERY = 0 only the row that was supplied with the first f
 *  and g is used. The array remains yours, the library does not write to it, and it must not overlap x, f and g. Call
 *  this before the first call of cuda_opt_batch_solve(). A problem with an element that is not positive and finite ends
 *  with CUDA_OPT_BAD_DIAGONAL.
 *  @param diagonal  count rows of n values in the memory space of x; with CUDA_OPT_BATCH_PACKED in the order of g
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_batch_set_diagonal(cuda_opt *s, const double *diagonal);
/** Does the same as cuda_opt_batch_set_diagonal(), for a handle that cuda_opt_create_batch_f32() created. */
CUDA_OPT_API int cuda_opt_batch_set_diagonal_f32(cuda_opt *s, const float *diagonal);
/** Continue all active problems until each needs an evaluation or has ended. After the first call nothing is allocated,
 *  unless bounds or a diagonal initial Hessian are added or removed between two batches of a handle. All arrays are in
 *  the handle's memory space. The three pointers must be the same in each call of one batch. The arrays must not
 *  overlap each other or the bounds.
 *  @param x  count rows of n values. In the first call: the starts, which are moved into their boxes
 *  @param f  count values. Only those of problems whose evaluation was requested are read
 *  @param g  count rows of n values
 *  @return CUDA_OPT_EVALUATE_BATCH while there are active problems. When all problems have ended, x, f and g have their
 *          best iterates; the code is CUDA_OPT_CONVERGED if all have converged, otherwise that of the first problem
 *          that has not. A failure of the whole batch also returns a negative code. After a code <= 0, call
 *          cuda_opt_reset() before the next batch */
CUDA_OPT_API int cuda_opt_batch_solve(cuda_opt *s, double *x, double *f, double *g);
/** Does the same as cuda_opt_batch_solve(), for a handle that cuda_opt_create_batch_f32() created. */
CUDA_OPT_API int cuda_opt_batch_solve_f32(cuda_opt *s, float *x, double *f, float *g);
/** Returns the address of the indices of the active problems, counted from 0 and ascending. The array has
 *  CUDA_OPT_BATCH values in the handle's memory space, and is valid until the next call of cuda_opt_batch_solve(). On
 *  CUDA it is written on the stream. The result is NULL if no problem is active. */
CUDA_OPT_API const int64_t *cuda_opt_batch_active(const cuda_opt *s);
/** Read an integer result of each problem. The key is one of cuda_opt_get_int(), or CUDA_OPT_BATCH_CODE. The function
 *  may be called once a batch has begun.
 *  @param values  receives count values in host memory
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key; CUDA_OPT_MISUSE; CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_batch_get_int(cuda_opt *s, int32_t key, int64_t *values);
/** Read a real result of each problem. The key is one of cuda_opt_get_real(), such as CUDA_OPT_F or
 *  CUDA_OPT_PG_NORM_INF. `values` and the return codes are those of cuda_opt_batch_get_int(). */
CUDA_OPT_API int cuda_opt_batch_get_real(cuda_opt *s, int32_t key, double *values);
/** Returns one English sentence about one problem, as cuda_opt_message() does for a single solve. The result is never
 *  NULL, and is valid until the next call with this handle.
 *  @param problem  the index of the problem, from 0 */
CUDA_OPT_API const char *cuda_opt_batch_message(cuda_opt *s, int64_t problem);

#ifdef __cplusplus
}
#endif
#endif
