/* cuda_opt_unlp: unconstrained minimisation behind the argument list of the 2013 manual of L-BFGS for GPU-CUDA
 * (D'Amore, Arcucci, Mele, Scotti, Murli, CMCC RP0167), which ported VA15 to the GPU. It is for existing programs that
 * call this interface. New programs should use cuda_opt.h, which adds bounds, streams, single precision, n above 2^31,
 * and results by key.
 *
 *     minimise f(x),   x in R^n
 *
 * The memory of dev_x determines where the work is done: on the GPU if it is device or managed memory, otherwise on the
 * host. All arrays of a solve are in the same memory. Device work is on the legacy default stream.
 *
 * A program that uses the manual's names without a prefix includes cu_lbfgs_dp.h, with the flags of pkg-config
 * cuda_opt_unlp, and compiles without changes. docs/manual_interface.md says what the manual leaves open, and which
 * choices this library makes.
 *
 * @code{.c}
 * #include <cuda_opt_unlp.h>
 * #include <stdio.h>
 *
 * static void eval_fg(int n, double *x, double *f, double *g)
 * {
 *     *f = 0;
 *     for (int i = 0; i < n; i++) {
 *         g[i] = x[i] - i;
 *         *f += g[i] * g[i] / 2;
 *     }
 * }
 *
 * int main(void)
 * {
 *     enum { n = 10, m = 5 };
 *     double x[n] = {0}, f, g[n];
 *     int istate;
 *     cuda_opt_unlp_solve(n, m, eval_fg, x, &f, g, NULL, NULL, 1e-5, &istate);
 *     printf("%s\nistate = %d, x[9] = %g\n", cuda_opt_unlp_message(), istate, x[9]);
 *     return istate != 0;
 * }
 * @endcode */
#ifndef CUDA_OPT_UNLP_H
#define CUDA_OPT_UNLP_H

#include "cuda_opt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A function that stores f(dev_x) in *dev_objf and its gradient in dev_grad, and does not change dev_x. On CUDA it
 *  launches kernels on the legacy default stream, or on another stream for which it waits. NaN or Inf in f or the
 *  gradient means that f is undefined at dev_x: the step is then shortened. */
typedef void (*cuda_opt_unlp_function)(int n, double *dev_x, double *dev_objf, double *dev_grad);

/** Minimise. With eval_fg one call computes the whole solve. Without it (NULL) the solve is by reverse communication as
 *  in VA15: *dev_istate then says what to do before the next call.
 *  @param n            number of variables, >= 1
 *  @param m            number of correction pairs, >= 1; 3 to 7 are VA15's advice
 *  @param eval_fg      the function, or NULL
 *  @param dev_x        n values: the start, then the iterates; at the end the best iterate
 *  @param dev_objf     one value: f at dev_x
 *  @param dev_grad     n values: the gradient of f at dev_x
 *  @param dev_hess     n values: the diagonal of H0, the approximate inverse Hessian, each positive and finite. Read at
 *                      every iterate after cuda_opt_unlp_enable_first_Hessian(1), otherwise not used
 *  @param dev_workvec  n (2m + 1) + 2m values, or NULL. Not used: the solver allocates its own workspace
 *  @param eps          >= 0: converged when ||g|| < eps * max(1, ||x||)
 *  @param dev_istate   in: with eval_fg any value; without it 0 to begin, then the value of the last call. Out:
 *                      1 (without eval_fg): store f and g at dev_x in dev_objf and dev_grad, and call again;
 *                      2 (without eval_fg): store the diagonal in dev_hess, and call again;
 *                      0: converged;
 *                      -1: the line search failed; -2: an element of the diagonal is not positive and finite;
 *                      -3: an argument or a setting is improper; other negative codes are those of cuda_opt.h, for
 *                      example -10 when icall is reached
 *  @return the value of *dev_istate, so that you need not copy it to the host; also if *dev_istate cannot be written
 *
 *  Without eval_fg the solve is identified by the calling thread and the address dev_istate. Its memory is freed when
 * the state becomes <= 0, by cuda_opt_unlp_release(), by another start with the same dev_istate, or when the thread
 * ends. */
CUDA_OPT_API int cuda_opt_unlp_solve(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x, double *dev_objf,
                                     double *dev_grad, double *dev_hess, double *dev_workvec, double eps,
                                     int *dev_istate);
/** The function that a program which includes this header calls as cuda_opt_unlp_solve(). libcuda_opt_unlp has another
 *  function named cuda_opt_unlp_solve, with the manual's order of arguments; because of this second name the program
 *  calls the function of this header even if it is linked with that library. */
CUDA_OPT_API int cuda_opt_unlp_solve_n_first(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x,
                                             double *dev_objf, double *dev_grad, double *dev_hess, double *dev_workvec,
                                             double eps, int *dev_istate);
/** @cond */
#define cuda_opt_unlp_solve cuda_opt_unlp_solve_n_first
/** @endcond */
/** The user's function with the manual's order of arguments. */
typedef void (*cuda_opt_unlp_manual_function)(double *dev_x, double *dev_objf, double *dev_grad, int n);
/** cuda_opt_unlp_solve() as in the manual; a program that includes cu_lbfgs_dp.h calls this function by that name. The
 *  arguments of the user's function are x, f, g, n. Unless this thread has set other values, iprint is (1, 0) and XTOL
 *  is 2.220446e-16, the machine epsilon. The log has the manual's header, and its counts and times at the end. */
CUDA_OPT_API int cuda_opt_unlp_manual_solve(int n, int m, cuda_opt_unlp_manual_function eval_fg, double *dev_x,
                                            double *dev_objf, double *dev_grad, double *dev_hess, double *dev_workvec,
                                            double eps, int *dev_istate);
/** Abandon a solve by reverse communication that has not ended, and free its memory.
 *  @param dev_istate  that of the solve; NULL: all solves of the calling thread
 *  @return 0, or -3 if there is no such solve */
CUDA_OPT_API int cuda_opt_unlp_release(const int *dev_istate);
/** The info of the line search that ended last in a solve of the calling thread, with the numbers of MCSRCH:
 *  0: no line search has ended since the last start of a solve, for example because an argument is improper (state -3);
 *  1: sufficient decrease and the curvature condition hold;
 *  2: the relative width of the interval of uncertainty is at most XTOL;
 *  3: maxfev evaluations were made;
 *  4: the step is at STPMIN;
 *  5: the step is at STPMAX;
 *  6: rounding errors prevent further progress. */
CUDA_OPT_API int cuda_opt_unlp_info(void);
/** One English sentence about the last call of this thread. Never NULL; valid until the next call. */
CUDA_OPT_API const char *cuda_opt_unlp_message(void);

/* Settings. Each thread has its own, which apply to the solves that it starts afterwards. A setter returns 0, or -3 for
 * a value out of range; the former value then remains. */
/** 1: at every iterate dev_hess is the diagonal of H0. 0, the default: dev_hess is not used. */
CUDA_OPT_API int cuda_opt_unlp_enable_first_Hessian(int enable);
/** Set eps for all further calls of this thread, also in solves that have begun, in place of the argument eps.
 *  Negative, the default: the argument is used. */
CUDA_OPT_API int cuda_opt_unlp_change_eps(double eps);
/** The log on standard output. frequency < 0: none, the default; 0: the first and the last iteration; k > 0: iterations
 *  1, k + 1, 2k + 1, ... and the last.
 *  type 0, the default: one line per iterate; 1: also the first x and g; 2: also every x; 3: also every g. */
CUDA_OPT_API int cuda_opt_unlp_set_iprint(int frequency, int type);
/** Tolerance of the line search's curvature condition |phi'(t)| <= gtol * |phi'(0)|; default 0.9. A solve with
 *  gtol <= 1e-4 or gtol >= 1 sets it back to 0.9, with a warning in the log, if there is one.
 *  @return 0, or 1 if gtol will be set back */
CUDA_OPT_API int cuda_opt_unlp_set_GTOL(double gtol);
/** Smallest step of a line search; >= 0, default 1e-20. A solve refuses stpmin > stpmax with -3. */
CUDA_OPT_API int cuda_opt_unlp_set_STPMIN(double stpmin);
/** Largest step of a line search; > 0, default 1e20. */
CUDA_OPT_API int cuda_opt_unlp_set_STPMAX(double stpmax);
/** The line search ends when the relative width of its interval is below xtol; >= 0, default 1e-16. */
CUDA_OPT_API int cuda_opt_unlp_set_XTOL(double xtol);
/** Largest number of evaluations in one line search; >= 1, default 20. */
CUDA_OPT_API int cuda_opt_unlp_set_maxfev(int maxfev);
/** Largest number of iterations, at which a solve ends with -10; >= 0, default 2000; 0: no limit. */
CUDA_OPT_API int cuda_opt_unlp_set_icall(int icall);
/** Set all settings of this thread to their defaults. */
CUDA_OPT_API void cuda_opt_unlp_default_settings(void);

/* Utilities, for arrays in device or host memory. They return 0, -3 for an improper argument, or -30 if CUDA fails. */
/** Copy n values from dev_x to x, which is in host memory. */
CUDA_OPT_API int cuda_opt_unlp_get_solution(int n, const double *dev_x, double *x);
/** Make this GPU the current one of the calling thread, whose solves then run on it. Call this before you allocate the
 *  arrays.
 *  @return 0, -3 if there is no such GPU, or -32 if there is no GPU */
CUDA_OPT_API int cuda_opt_unlp_set_device_ID(int id);
/** Print n values on standard output, six per line. */
CUDA_OPT_API int cuda_opt_unlp_print_vector(int n, const double *dev_v);
/** *dev_sum = the sum of n values, in an order that depends on n only. Both arguments are in device memory, or both in
 *  host memory. On CUDA the sum is enqueued on the legacy default stream, and the call does not wait for it. For n = 0
 *  the sum is 0. */
CUDA_OPT_API int cuda_opt_unlp_my_reduce(int n, const double *dev_v, double *dev_sum);
/** The GPU with the largest product of the number of multiprocessors and the clock rate; the first of equal ones.
 *  @return its number, or -32 if there is no GPU */
CUDA_OPT_API int cuda_opt_unlp_get_best_device_id(void);
/** Print the free and the total memory of the current GPU on standard output.
 *  @return 0, or -32 if there is no GPU */
CUDA_OPT_API int cuda_opt_unlp_gpu_mem_info(void);
/** The launch configuration with one thread per value: *blocks blocks of *threads threads, a power of two up to 256.
 *  @return 0, or -3 for n < 1 */
CUDA_OPT_API int cuda_opt_unlp_getNumBlocksAndThreads(int n, int *blocks, int *threads);

#ifdef __cplusplus
}
#endif
#endif
