/* cuda_opt_unlp: unconstrained minimisation behind the argument list of the 2013 manual of L-BFGS for GPU-CUDA
 * (D'Amore, Arcucci, Mele, Scotti, Murli, CMCC RP0167), which carried VA15 to the GPU. For programs that call it; new
 * ones are better served by cuda_opt.h, which adds bounds, streams, single precision, n beyond 2^31, results by key.
 *
 *     minimise f(x),   x in R^n
 *
 * The arrays say where the work is done: with dev_x in device (or managed) memory on that GPU, with dev_x in host
 * memory on the host. All arrays of a solve lie in the same memory. Device work is on the legacy default stream.
 *
 * A program in the manual's bare names includes cu_lbfgs_dp.h, by the flags of pkg-config cuda_opt_unlp, and compiles
 * as it is. What the manual leaves open is settled in docs/manual_interface.md, which says of each choice whose it is.
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

/** Puts f(dev_x) into *dev_objf and the gradient into dev_grad; leaves dev_x alone. On CUDA it launches kernels, on the
 *  legacy default stream or on one that it waits for. NaN or Inf in either means that f is undefined
 *  at dev_x: the step is then shortened. */
typedef void (*cuda_opt_unlp_function)(int n, double *dev_x, double *dev_objf, double *dev_grad);

/** Minimise. With eval_fg, from the start to the end. With eval_fg NULL, by reverse communication as in VA15: one step
 *  a call, and *dev_istate says what to do before the next one.
 *  @param n            number of variables, >= 1
 *  @param m            number of correction pairs, >= 1; 3 to 7 are VA15's advice
 *  @param eval_fg      the function, or NULL
 *  @param dev_x        n values: the start, then the iterates, at the end the best of them
 *  @param dev_objf     one value: f at dev_x
 *  @param dev_grad     n values: its gradient
 *  @param dev_hess     n values: the diagonal of H0, the approximate inverse Hessian, each positive and finite. Read at
 *                      every iterate after cuda_opt_unlp_enable_first_Hessian(1), else not looked at
 *  @param dev_workvec  n (2m + 1) + 2m values, or NULL. Accepted, neither read nor written: the solver owns its memory
 *  @param eps          >= 0: converged when ||g|| < eps max(1, ||x||)
 *  @param dev_istate   in: with eval_fg anything, without it 0 to start, then what the last call left there. Out:
 *                      1 (without eval_fg): put f and g at dev_x into dev_objf and dev_grad, and call again;
 *                      2 (without eval_fg): put the diagonal into dev_hess, and call again;
 *                      0: converged;
 *                      -1: the line search failed; -2: an element of the diagonal is not positive and finite;
 *                      -3: an argument or a setting is improper; others: the codes of cuda_opt.h, e.g. -10 for icall
 *  @return what *dev_istate holds, so that no copy is needed; also where dev_istate itself could not be written
 *
 *  Without eval_fg the solve is known by dev_istate's address in the calling thread. Its memory is freed when the state
 *  becomes <= 0, by cuda_opt_unlp_release(), by another start with the same dev_istate, or when the thread ends. */
CUDA_OPT_API int cuda_opt_unlp_solve(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x, double *dev_objf,
                                     double *dev_grad, double *dev_hess, double *dev_workvec, double eps,
                                     int *dev_istate);
/** cuda_opt_unlp_solve() under the name by which a program that includes this header calls it. libcuda_opt_unlp has
 *  another function under the former name, for the manual's order of arguments: so the program calls this one whatever
 *  it is linked with. */
CUDA_OPT_API int cuda_opt_unlp_solve_n_first(int n, int m, cuda_opt_unlp_function eval_fg, double *dev_x,
                                             double *dev_objf, double *dev_grad, double *dev_hess, double *dev_workvec,
                                             double eps, int *dev_istate);
/** @cond */
#define cuda_opt_unlp_solve cuda_opt_unlp_solve_n_first
/** @endcond */
/** The function in the manual's order of arguments. */
typedef void (*cuda_opt_unlp_manual_function)(double *dev_x, double *dev_objf, double *dev_grad, int n);
/** cuda_opt_unlp_solve() as the manual has it, and what a program that includes cu_lbfgs_dp.h calls by that name: the
 *  function's arguments are x, f, g, n; where this thread has set no other iprint it is (1, 0), and XTOL the spacing of
 *  doubles, 2.220446e-16; the log has the manual's head, and its counts and times at the end. */
CUDA_OPT_API int cuda_opt_unlp_manual_solve(int n, int m, cuda_opt_unlp_manual_function eval_fg, double *dev_x,
                                            double *dev_objf, double *dev_grad, double *dev_hess, double *dev_workvec,
                                            double eps, int *dev_istate);
/** Give up a solve by reverse communication that has not ended: frees what it holds. NULL: all of the calling thread's.
 *  @return 0, or -3 where there is none */
CUDA_OPT_API int cuda_opt_unlp_release(const int *dev_istate);
/** The info of the line search that the calling thread's solves have ended last, in MCSRCH's numbers:
 *  0: none has ended since the last start of a solve, as when its arguments are improper (state -3);
 *  1: sufficient decrease and the curvature condition hold;
 *  2: the relative width of the interval of uncertainty is at most XTOL;
 *  3: maxfev evaluations were made;
 *  4: the step is at STPMIN;
 *  5: the step is at STPMAX;
 *  6: rounding errors prevent further progress. */
CUDA_OPT_API int cuda_opt_unlp_info(void);
/** One English sentence on this thread's last call that had something to say. Never NULL; valid until the next call. */
CUDA_OPT_API const char *cuda_opt_unlp_message(void);

/* Settings. Each thread has its own, which hold for the solves that it starts afterwards. A setter returns 0, or -3 for
 * a value out of range; the old value then stays. */
/** 1: dev_hess holds the diagonal of H0, at every iterate. 0, the default: it does not. */
CUDA_OPT_API int cuda_opt_unlp_enable_first_Hessian(int enable);
/** eps for all further steps of this thread's solves, those going on included, in place of solve's argument.
 *  Negative, the default: the argument counts. */
CUDA_OPT_API int cuda_opt_unlp_change_eps(double eps);
/** The log on standard output. frequency < 0: none, the default; 0: the first and the last iteration; k > 0: iterations
 *  1, k + 1, 2k + 1, ... and the last.
 *  type 0, the default: a line an iterate; 1: and the first x and g; 2: and every x; 3: and every x and g. */
CUDA_OPT_API int cuda_opt_unlp_set_iprint(int frequency, int type);
/** Curvature condition |phi'(t)| <= gtol |phi'(0)|; default 0.9. A solve that finds gtol <= 1e-4, or gtol >= 1, sets it
 *  back to 0.9, with a warning where iprint asks for a log. @return 0, or 1 where that will happen */
CUDA_OPT_API int cuda_opt_unlp_set_GTOL(double gtol);
/** Smallest step of a line search; >= 0, default 1e-20. A solve refuses stpmin > stpmax with -3. */
CUDA_OPT_API int cuda_opt_unlp_set_STPMIN(double stpmin);
/** Largest step of a line search; > 0, default 1e20. */
CUDA_OPT_API int cuda_opt_unlp_set_STPMAX(double stpmax);
/** The line search ends when its interval's relative width is below; >= 0, default 1e-16. */
CUDA_OPT_API int cuda_opt_unlp_set_XTOL(double xtol);
/** Evaluations within one line search; >= 1, default 20. */
CUDA_OPT_API int cuda_opt_unlp_set_maxfev(int maxfev);
/** Iterations, after which a solve ends with -10; >= 0, default 2000; 0: no limit. */
CUDA_OPT_API int cuda_opt_unlp_set_icall(int icall);
/** All of this thread's settings back to their defaults. */
CUDA_OPT_API void cuda_opt_unlp_default_settings(void);

/* Utilities. Device or host arrays; 0, -3 for an improper argument, or -30 where CUDA fails. */
/** Copy dev_x into x, n values in host memory. */
CUDA_OPT_API int cuda_opt_unlp_get_solution(int n, const double *dev_x, double *x);
/** Make this GPU the calling thread's current one, on which its solves then run. Before the arrays are allocated.
 *  @return 0, -3 where there is no such GPU, or -32 where there is none at all */
CUDA_OPT_API int cuda_opt_unlp_set_device_ID(int id);
/** Print n values on standard output, six a line. */
CUDA_OPT_API int cuda_opt_unlp_print_vector(int n, const double *dev_v);
/** *dev_sum = the sum of n values, in an order that depends on n alone. Both in device, or both in host memory; on CUDA
 *  enqueued on the legacy default stream, without a wait. n = 0 gives 0. */
CUDA_OPT_API int cuda_opt_unlp_my_reduce(int n, const double *dev_v, double *dev_sum);
/** The GPU with the most multiprocessors times clock rate, of equal ones the first.
 *  @return its number, or -32 where there is none */
CUDA_OPT_API int cuda_opt_unlp_get_best_device_id(void);
/** Print the current GPU's free and whole memory on standard output. @return 0, or -32 where there is none */
CUDA_OPT_API int cuda_opt_unlp_gpu_mem_info(void);
/** A launch of one thread a value: *threads a block, a power of two to 256, in *blocks. @return 0, or -3 for n < 1 */
CUDA_OPT_API int cuda_opt_unlp_getNumBlocksAndThreads(int n, int *blocks, int *threads);

#ifdef __cplusplus
}
#endif
#endif
