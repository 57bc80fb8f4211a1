/* This header declares unconstrained minimisation with the argument list of the 2013 manual of L-BFGS for GPU-CUDA
 * (D'Amore, Arcucci, Mele, Scotti, Murli, CMCC RP0167), which ported the program VA15 to the GPU. It is for existing
 * programs that call this interface. New programs should use cuda_opt.h, which adds bounds, streams, single precision,
 * n above 2^31, and results by key.
 *
 *     minimise f(x),   x in R^n
 *
 * The memory of dev_x determines where the work is done: on the GPU if dev_x is in device or managed memory, otherwise
 * on the host. All arrays of a solve are in the same memory. Device work is on the legacy default stream.
 *
 * A program that uses the manual's names without a prefix includes cu_lbfgs_dp.h, with the flags of pkg-config
 * cuda_opt_unlp, and compiles without changes. docs/manual_interface.md lists the points that the manual does not
 * specify, and the choices of this library.
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

/** The type of the user's function. It stores f(dev_x) in *dev_objf and its gradient in dev_grad, and does not change
 *  dev_x. On CUDA it launches kernels on the legacy default stream, or on another stream for which it waits. NaN or Inf
 *  in f or the gradient means that f is undefined at dev_x; the step is then shortened. */
typedef void (*cuda_opt_unlp_function)(int n, double *dev_x, double *dev_objf, double *dev_grad);

/** Minimise f. If eval_fg is not NULL, one call computes the whole solve. If it is NULL, the solve works by reverse
 *  communication as in VA15 (Nocedal's L-BFGS code), and *dev_istate requests the evaluation to execute before the next
 *  call.
 *  @param n            number of variables, >= 1
 *  @param m            number of correction pairs, >= 1; VA15 recommends 3 to 7
 *  @param eval_fg      the function, or NULL
 *  @param dev_x        n values: the start, then the iterates; at the end the best iterate
 *  @param dev_objf     one value: f at dev_x
 *  @param dev_grad     n values: the gradient of f at dev_x
 *  @param dev_hess     n values: the diagonal of H0, the approximate inverse Hessian, with positive and finite
 *                      elements. It is read at every iterate after cuda_opt_unlp_enable_first_Hessian(1), otherwise not
 *                      used
 *  @param dev_workvec  n (2m + 1) + 2m values, or NULL. It is not used, because the solver allocates its own workspace
 *  @param eps          >= 0: the solve has converged when ||g|| < eps * max(1, ||x||)
 *  @param dev_istate   in: with eval_fg any value; otherwise 0 to begin, then the value that the last call returned.
 *                      Out:
 *                      1 (if eval_fg is NULL): store f and g at dev_x in dev_objf and dev_grad, and call again;
 *                      2 (if eval_fg is NULL): store the diagonal in dev_hess, and call again;
 *                      0: converged;
 *                      -1: the line search failed; -2: an element of the diagonal is not positive and finite;
 *                      -3: an argument or a setting is improper; other negative codes are those of cuda_opt.h, for
 *                      example -10 when icall is reached
 *  @return the value of *dev_istate, so that you need not copy it to the host. The value is returned also if
 *          *dev_istate cannot be written
 *
 *  A solve by reverse communication is identified by the calling thread and the address dev_istate. Its memory is freed
 *  when *dev_istate becomes <= 0, by cuda_opt_unlp_release(), by another start with the same dev_istate, or when the
 *  thread ends. */
CUDA_OPT_API int cuda_opt_unlp_solve(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x, double *dev_objf,
                                     double *dev_grad, double *dev_hess, double *dev_workvec, double eps,
                                     int *dev_istate);
/** A program that includes this header and calls cuda_opt_unlp_solve() calls this function, because a macro replaces
 *  the name. The library libcuda_opt_unlp has another function named cuda_opt_unlp_solve, with the manual's order of
 *  arguments. Because of the macro, the program calls the function of this header even if it is linked with that
 *  library. */
CUDA_OPT_API int cuda_opt_unlp_solve_n_first(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x,
                                             double *dev_objf, double *dev_grad, double *dev_hess, double *dev_workvec,
                                             double eps, int *dev_istate);
/** @cond */
#define cuda_opt_unlp_solve cuda_opt_unlp_solve_n_first
/** @endcond */
/** The type of the user's function with the order of arguments of the 2013 manual of L-BFGS for GPU-CUDA, in which n is
 *  the last one. */
typedef void (*cuda_opt_unlp_manual_function)(double *dev_x, double *dev_objf, double *dev_grad, int n);
/** Minimise as cuda_opt_unlp_solve() of the 2013 manual of L-BFGS for GPU-CUDA does. A program that includes
 *  cu_lbfgs_dp.h calls this function by the name cuda_opt_unlp_solve. The arguments of the user's function are x, f, g,
 *  n. Unless this thread has set other values, iprint is (1, 0) and XTOL is 2.220446e-16, the machine epsilon. The log
 *  has the header of the manual, and its counts and times at the end. */
CUDA_OPT_API int cuda_opt_unlp_manual_solve(int n, int m, cuda_opt_unlp_manual_function eval_fg, double *dev_x,
                                            double *dev_objf, double *dev_grad, double *dev_hess, double *dev_workvec,
                                            double eps, int *dev_istate);
/** Abandon a solve by reverse communication that has not ended, and free its memory.
 *  @param dev_istate  the address that identifies the solve; NULL: all solves of the calling thread
 *  @return 0, or -3 if there is no such solve */
CUDA_OPT_API int cuda_opt_unlp_release(const int *dev_istate);
/** Returns how the last line search in a solve of the calling thread ended. The numbers are those of the line search
 *  routine MCSRCH (More, Thuente):
 *  0: no line search has ended since the last start of a solve, for example because an argument is improper
 *  (*dev_istate = -3);
 *  1: sufficient decrease and the curvature condition hold;
 *  2: the relative width of the interval of uncertainty is at most XTOL;
 *  3: maxfev evaluations were made;
 *  4: the step is at STPMIN;
 *  5: the step is at STPMAX;
 *  6: rounding errors prevent further progress. */
CUDA_OPT_API int cuda_opt_unlp_info(void);
/** Returns one English sentence about the last call of this thread. The result is never NULL, and is valid until the
 *  next call. */
CUDA_OPT_API const char *cuda_opt_unlp_message(void);

/* Settings. Each thread has its own settings, which apply to the solves that it starts afterwards. A setter returns 0,
 * or -3 if the value is out of range; the former value then remains. */
/** Choose whether dev_hess is used. 1: at every iterate dev_hess is the diagonal of H0. 0, the default: dev_hess is not
 *  used. */
CUDA_OPT_API int cuda_opt_unlp_enable_first_Hessian(int enable);
/** Set eps for all further calls of this thread, also in solves that have begun. It replaces the argument eps of the
 *  solve. If eps is negative, the default, the argument is used. */
CUDA_OPT_API int cuda_opt_unlp_change_eps(double eps);
/** Choose the log on standard output. A negative `frequency`, the default, means no log. 0 logs the first and the last
 *  iteration; k > 0 logs the iterations 1, k + 1, 2k + 1, ... and the last. `type` 0, the default, prints one line per
 *  iterate; 1 prints also the first x and g, 2 also every x, and 3 also every g. The log also contains the message of
 *  every negative state. */
CUDA_OPT_API int cuda_opt_unlp_set_iprint(int frequency, int type);
/** Set the tolerance of the line search's curvature condition |phi'(t)| <= gtol * |phi'(0)|; default 0.9. If
 *  gtol <= 1e-4 or gtol >= 1, the next solve sets the tolerance back to 0.9. It then writes a warning to the log if
 *  there is one.
 *  @return 0, or 1 if gtol will be set back */
CUDA_OPT_API int cuda_opt_unlp_set_GTOL(double gtol);
/** Set the smallest step of a line search; >= 0, default 1e-20. If stpmin > stpmax, a solve ends with -3. */
CUDA_OPT_API int cuda_opt_unlp_set_STPMIN(double stpmin);
/** Set the largest step of a line search; > 0, default 1e20. */
CUDA_OPT_API int cuda_opt_unlp_set_STPMAX(double stpmax);
/** Set xtol; >= 0, default 1e-16. The line search ends when the relative width of its interval of uncertainty is at
 *  most xtol. */
CUDA_OPT_API int cuda_opt_unlp_set_XTOL(double xtol);
/** Set the largest number of evaluations in one line search; >= 1, default 20. */
CUDA_OPT_API int cuda_opt_unlp_set_maxfev(int maxfev);
/** Set the largest number of iterations; >= 0, default 2000; 0: no limit. A solve that reaches it ends with -10. */
CUDA_OPT_API int cuda_opt_unlp_set_icall(int icall);
/** Set all settings of this thread to their defaults. */
CUDA_OPT_API void cuda_opt_unlp_default_settings(void);

/* Utilities for arrays in device or host memory. They return 0, -3 for an improper argument, or -30 if CUDA fails. */
/** Copy n values from dev_x to x, which is in host memory. */
CUDA_OPT_API int cuda_opt_unlp_get_solution(int n, const double *dev_x, double *x);
/** Make this GPU the current one of the calling thread. The solves of the thread then run on it. Call this function
 *  before you allocate the arrays.
 *  @return 0, -3 if there is no such GPU, or -32 if there is no GPU */
CUDA_OPT_API int cuda_opt_unlp_set_device_ID(int id);
/** Print n values on standard output, six per line. */
CUDA_OPT_API int cuda_opt_unlp_print_vector(int n, const double *dev_v);
/** Store the sum of n values in *dev_sum. The order of the additions depends on n only. Both arguments are in device
 *  memory, or both in host memory. On CUDA the sum is enqueued on the legacy default stream, and the call does not wait
 *  for it. For n = 0 the sum is 0. */
CUDA_OPT_API int cuda_opt_unlp_my_reduce(int n, const double *dev_v, double *dev_sum);
/** Returns the number of the GPU with the largest product of the number of multiprocessors and the clock rate. If
 *  several have this product, the first is chosen.
 *  @return its number, or -32 if there is no GPU */
CUDA_OPT_API int cuda_opt_unlp_get_best_device_id(void);
/** Print the free and the total memory of the current GPU on standard output.
 *  @return 0, or -32 if there is no GPU */
CUDA_OPT_API int cuda_opt_unlp_gpu_mem_info(void);
/** Compute a launch configuration with one thread per value: *blocks blocks of *threads threads. *threads is a power of
 *  two up to 256.
 *  @return 0, or -3 for n < 1 */
CUDA_OPT_API int cuda_opt_unlp_getNumBlocksAndThreads(int n, int *blocks, int *threads);

#ifdef __cplusplus
}
#endif
#endif
