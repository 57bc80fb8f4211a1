/* cuda_opt minimises smooth functions of very many variables, with or without bounds, on an NVIDIA GPU or on the host.
 * The method is L-BFGS-B with reverse communication.
 *
 *     minimise f(x) subject to l <= x <= u,   x in R^n,   n from 1 to 10^9 and beyond
 *
 * Your program contains the loop. cuda_opt_solve() never calls your code: it returns a task, you execute the task, and
 * you call cuda_opt_solve() again. x, f and g stay in the memory space of the backend: device memory on CUDA, host
 * memory on HOST. A complete program for f(x) = sum (x_i - i)^2 / 2 in the box [0, 3]^n on the host:
 *
 * @code{.c}
 * #include <cuda_opt.h>
 * #include <stdio.h>
 *
 * int main(void)
 * {
 *     enum { n = 10 };
 *     double x[n] = {0}, g[n], f, lower[n], upper[n];
 *     for (int i = 0; i < n; i++) { lower[i] = 0; upper[i] = 3; }
 *
 *     cuda_opt *s;
 *     int task = cuda_opt_create(&s, n, 5, CUDA_OPT_BACKEND_HOST);
 *     if (task == 0) task = cuda_opt_set_bounds(s, lower, upper);
 *     if (task == 0)
 *         do {
 *             task = cuda_opt_solve(s, x, &f, g);
 *             if (task == CUDA_OPT_EVALUATE_FG) {
 *                 f = 0;
 *                 for (int i = 0; i < n; i++) {
 *                     g[i] = x[i] - i;
 *                     f += g[i] * g[i] / 2;
 *                 }
 *             }
 *         } while (task > 0);
 *     printf("%s\nf = %g, x[9] = %g\n", cuda_opt_message(s), f, x[9]);
 *     cuda_opt_destroy(&s);
 *     return task != CUDA_OPT_CONVERGED;
 * }
 * @endcode
 *
 * Guarantees
 * - After every return code <= 0 that follows a first evaluation, x, f and g hold the point with the lowest f, of those
 *   at which f and g were finite. This requires CUDA_OPT_ROBUST. There are three exceptions. If the stopping test EPS
 *   or PGTOL has ended the solve, they hold the iterate at which the test is satisfied. The f of this iterate exceeds
 *   that of each other iterate by rounding errors only, at most 2.3e-11 |f|. With a noise level (CUDA_OPT_NOISE) they
 *   hold the iterate with the least ||P g||_inf, of those whose f is equal within the noise. After
 *   CUDA_OPT_CUDA_FAILURE their contents may be lost.
 * - Every x that you evaluate is finite and satisfies l <= x <= u exactly, without a rounding error.
 * - If f or an element of g is NaN or Inf, f counts as undefined at x, and the step is shortened (CUDA_OPT_MAX_CUTS).
 *   The exception, if CUDA_OPT_ROBUST is 1, is g_i = +Inf where x_i = l_i, or g_i = -Inf where x_i = u_i, as sqrt(x)
 *   has at 0. The library sets this g_i to 0.
 * - Repeated runs give bitwise identical results. On the host this holds for any number of threads. On the same GPU it
 *   holds if the arrays have the same alignment modulo 16 bytes.
 * - The library prints nothing, never exits and keeps no global state. Two threads may use two handles at the same
 *   time. One handle may be used by one thread at a time; only cuda_opt_request_stop() may be called by any thread.
 * - No memory is allocated after the first call of cuda_opt_solve(), provided that the same thread makes all calls.
 * - A solve on the host backend continues, with the same results, if the system refuses to start threads, after fork(),
 *   and after dlclose(). docs/backends.md has the details and the exceptions.
 * - The library never throws an exception.
 *
 * CUDA streams. All device work of a handle runs on one stream. cuda_opt_set_stream() sets it; the default is the
 * legacy default stream. When cuda_opt_solve() requests an evaluation, the kernels that write x may still be running:
 * evaluate on the same stream, or call cuda_opt_synchronize() first. When you call cuda_opt_solve() again, f and g must
 * be complete, or be written by work on that stream. A call that needs results of the device waits for the stream, and
 * therefore also for your kernels on it. cuda_opt_request_stop() and CUDA_OPT_MAX_SECONDS end this wait after at most
 * about 0.3 s, with STOPPED or TIME_LIMIT. The work on the stream continues. Once it is complete, x, f and g hold the
 * best iterate, as after any code <= 0; cuda_opt_synchronize() waits for this. A stop request or a time limit does not
 * interrupt the allocations of the first call. Nor does it interrupt the helpers for memory at the end of this header,
 * functions that return results, and cuda_opt_destroy().
 *
 * CUDA devices. A handle uses the device that was current when the handle was created, whichever is current later. Its
 * arrays are in the memory of that device, or in managed memory. Memory of another device is refused, even if peer
 * access makes it reachable. The call that passes the array, or the first call of the solve, then returns a negative
 * code.
 *
 * Method: Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; Morales, Nocedal, ACM TOMS 38 (2011) 7; line
 * search: More, Thuente, ACM TOMS 20 (1994) 286. See docs/algorithm.md. */
#ifndef CUDA_OPT_H
#define CUDA_OPT_H

#include <stdint.h>

#if defined(__GNUC__)
/** The macro CUDA_OPT_API marks the functions that the library exports. */
#define CUDA_OPT_API __attribute__((visibility("default")))
#else
#define CUDA_OPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Major version of this header. cuda_opt_version() returns the version of the library. */
#define CUDA_OPT_VERSION_MAJOR 0
#define CUDA_OPT_VERSION_MINOR 2 /**< Minor version of this header. */
#define CUDA_OPT_VERSION_PATCH 0 /**< Patch level of this header. */

/** A solver handle. It contains the settings, the history (the correction pairs) and the workspace of one minimisation
 *  at a time. */
typedef struct cuda_opt cuda_opt;

/** The backends. A backend determines where x, f, g, the bounds and the history are stored, and which processor works
 *  on them. */
enum {
    /** AUTO selects CUDA if the library was built with CUDA and a device is present, otherwise HOST. */
    CUDA_OPT_BACKEND_AUTO = 0,
    /** The backend CUDA uses the device that is current in the calling thread when cuda_opt_create() is called. */
    CUDA_OPT_BACKEND_CUDA = 1,
    CUDA_OPT_BACKEND_HOST = 2 /**< The backend HOST uses the CPU with CUDA_OPT_THREADS threads. */
};

/* clang-format off */
/** Tasks (> 0) and return codes (<= 0). cuda_opt_solve() returns tasks and codes; every other function returns 0 or a
 *  negative code. Future versions do not give the number of a task or code another meaning. */
enum {
    /* Positive values are tasks: execute the task, then call cuda_opt_solve() again. */
    CUDA_OPT_EVALUATE_FG = 1,     /**< Task: store f(x) in *f and its gradient in g. Do not change x. */
    /** Task: store the diagonal of H0, the approximate inverse Hessian at x, in the array that you passed to
     *  cuda_opt_set_diagonal(). *f and g are those at x. Do not change x, f or g. */
    CUDA_OPT_SUPPLY_DIAGONAL = 2,
    /** Task: x, f and g are a new accepted iterate. You may read them, but do not change them. */
    CUDA_OPT_NEW_ITERATE = 3,
    /** Task of cuda_opt_search_solve(): store f at each of the CUDA_OPT_BATCH points in values. */
    CUDA_OPT_EVALUATE_BATCH = 4,
    /** Task of a solve with several ranks (cuda_opt/ranks.h): all-gather the buffers that cuda_opt_gather() returns. */
    CUDA_OPT_EXCHANGE = 5,
    /** Task: apply the approximate inverse Hessian H0 to a vector, with the arrays of cuda_opt_set_operator(). *f and g
     *  are those at x. Do not change x, f or g. */
    CUDA_OPT_APPLY_OPERATOR = 6,
    /* 0: success */
    /** Return code: a stopping test is satisfied. CUDA_OPT_STOP_TEST says which one. x, f and g are the solution. */
    CUDA_OPT_CONVERGED = 0,
    /* Negative values report any other termination or a failure. x, f and g are then the best point (see Guarantees) if
     * there was a first evaluation. */
    /** Return code: the line search found no lower f along a descent direction, even after the history was dropped. The
     *  test CUDA_OPT_ROUNDING does not hold. The usual cause is that g is not the gradient of f, or that f has errors
     *  larger than rounding errors. CUDA_OPT_LINE_SEARCH_INFO says how the line search ended. If CUDA_OPT_ROBUST is 1,
     *  this code also ends a solve in which, for 1000 iterations, f has not fallen by more than rounding errors and
     *  ||P g||_2 has not fallen by a tenth. */
    CUDA_OPT_LINE_SEARCH_FAILED = -1,
    /** Return code: an element of the diagonal of H0 that you supplied is not positive and finite. */
    CUDA_OPT_BAD_DIAGONAL = -2,
    /** Return code: the operator H0 that you applied is not positive definite, or has returned NaN or Inf.
     *  cuda_opt_message() has the inner product v'H0 v. */
    CUDA_OPT_BAD_OPERATOR = -4,
    /** Return code: n, m, x, a bound or a setting is out of range. Nothing was changed. After a function that creates a
     *  handle, destroy the handle. After cuda_opt_solve(), correct the input and call it again. */
    CUDA_OPT_IMPROPER_INPUT = -3,
    CUDA_OPT_ITERATION_LIMIT = -10,   /**< Return code: the limit CUDA_OPT_MAX_ITERATIONS was reached. */
    CUDA_OPT_EVALUATION_LIMIT = -11,  /**< Return code: the limit CUDA_OPT_MAX_EVALUATIONS was reached. */
    /** Return code: CUDA_OPT_MAX_SECONDS seconds have passed since the first call. On CUDA the limit also ends a call
     *  that is waiting for the stream. */
    CUDA_OPT_TIME_LIMIT = -12,
    /** Return code: f or g is NaN or Inf at the start, or still after CUDA_OPT_MAX_CUTS successive reductions of the
     *  step. */
    CUDA_OPT_NOT_FINITE = -20,
    /** Return code: f seems to have no lower bound. Either f is at or below CUDA_OPT_F_UNBOUNDED. Or CUDA_OPT_ROBUST is
     *  1 and f fell along an almost straight line in two line searches that ended, without an accepted step, at
     *  CUDA_OPT_MAXFEV or CUDA_OPT_STPMAX. In each of them the last step had the lowest f. It was at least 10^6 times
     *  the first step, and its length was at least 10^6 and at least ||x||_2 / 10. The slope there was at least 0.99
     *  times that at the start of the line search. In addition, no bound limits a step in this direction. Between the
     *  two there are only line searches that found no lower f. */
    CUDA_OPT_UNBOUNDED = -21,
    /** Return code: a CUDA call failed; cuda_opt_message() names the call. The contents of x, f and g may be lost. */
    CUDA_OPT_CUDA_FAILURE = -30,
    /** Return code: there is not enough memory for the workspace. cuda_opt_message() has the number of bytes
     *  requested. */
    CUDA_OPT_OUT_OF_MEMORY = -31,
    /** Return code: CUDA was requested, but there is no device, or the library was built without CUDA. */
    CUDA_OPT_BACKEND_UNAVAILABLE = -32,
    /** Return code of a solve with several ranks: cuda_opt_gather_failed() was called, or a packet arrived damaged. */
    CUDA_OPT_EXCHANGE_FAILED = -33,
    /** Return code: an argument is NULL, or has the wrong precision or memory space, or the order of calls is wrong. */
    CUDA_OPT_MISUSE = -40,
    CUDA_OPT_STOPPED = -41            /**< Return code: the solve ended because cuda_opt_request_stop() was called. */
};

/** The values of the setting CUDA_OPT_INITIAL_HESSIAN. They choose B0, the initial approximation of the Hessian, to
 *  which each iteration applies the correction pairs (docs/initial_hessian.md). */
enum {
    /** B0 = theta I, where theta = y'y / s'y of the newest correction pair (s, y), as in version 3.0 of L-BFGS-B. */
    CUDA_OPT_INITIAL_HESSIAN_SCALAR = 0,
    /** B0 is the inverse of a diagonal that you supply. The task CUDA_OPT_SUPPLY_DIAGONAL requests this diagonal, and
     *  CUDA_OPT_DIAGONAL_EVERY sets how often. */
    CUDA_OPT_INITIAL_HESSIAN_DIAGONAL = 1,
    /** B0 is theta times a diagonal that the solver learns from the correction pairs. Three further rules save
     *  evaluations (docs/initial_hessian.md). The workspace needs one more vector of n elements. */
    CUDA_OPT_INITIAL_HESSIAN_LEARNED = 2,
    /** B0 is the inverse of an operator that you apply to vectors, such as a multigrid cycle. The task
     *  CUDA_OPT_APPLY_OPERATOR requests it once or twice per iteration (docs/operator.md). It cannot be combined with
     *  ranks, batches, scales or checkpoints. */
    CUDA_OPT_INITIAL_HESSIAN_OPERATOR = 3,
    /** Former name of CUDA_OPT_INITIAL_HESSIAN_SCALAR. */
    CUDA_OPT_METRIC_ONE_NUMBER = CUDA_OPT_INITIAL_HESSIAN_SCALAR,
    /** Former name of CUDA_OPT_INITIAL_HESSIAN_DIAGONAL. */
    CUDA_OPT_METRIC_DIAGONAL = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL,
    /** Former name of CUDA_OPT_INITIAL_HESSIAN_LEARNED. */
    CUDA_OPT_METRIC_LEARNED = CUDA_OPT_INITIAL_HESSIAN_LEARNED
};

/** Keys of settings and results. Settings may be changed between any two calls of cuda_opt_solve() unless noted
 *  otherwise. A line search that is in progress may keep the former values. "Before the first call" means before the
 *  first call of cuda_opt_solve(). The prefix CUDA_OPT_ is often omitted: ROBUST stands for CUDA_OPT_ROBUST.
 *  P g is the projected gradient, (P g)_i = x_i - min(u_i, max(l_i, x_i - g_i)). phi(t) = f(x + t d) is f along the
 *  search direction d. */
enum {
    /* The integer settings, for cuda_opt_set_int() and cuda_opt_get_int(), follow. */
    /** MAX_ITERATIONS is the largest number of iterations. Range: >= 0; default 2000; 0: no limit. The 2013 manual of
     *  L-BFGS for GPU-CUDA calls this number icall. */
    CUDA_OPT_MAX_ITERATIONS = 100,
    CUDA_OPT_MAX_EVALUATIONS = 101, /**< >= 0; default 0: no limit */
    /** MAXFEV is the largest number of evaluations in one line search. Range: >= 1; default 20. Two kinds of
     *  evaluations do not count: those at which f or g is not finite, and a last one that returns to the lowest
     *  point. */
    CUDA_OPT_MAXFEV = 102,
    /** MAX_CUTS is the largest number of successive reductions of a step because f or g is not finite. Range: >= 0;
     *  default 30. */
    CUDA_OPT_MAX_CUTS = 103,
    /** DIAGCO = 1 requests the diagonal of H0 from the caller. Range: 0 or 1; default 0. Set this key before the first
     *  call; it requires cuda_opt_set_diagonal(). DIAGCO is the name that the 2013 manual of L-BFGS for GPU-CUDA uses.
     *  It is equivalent to CUDA_OPT_INITIAL_HESSIAN = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL, and setting one of the two
     *  keys changes the other. */
    CUDA_OPT_DIAGCO = 104,
    /** APPROXIMATE_CAUCHY = 0, the default, computes the exact generalized Cauchy point. 1 stops the Cauchy search at
     *  the first breakpoint t_1 of the projected path: t = max(0, min(t_1, t_1*)), where t_1* minimises the quadratic
     *  model on the first segment (Fei et al. 2014). */
    CUDA_OPT_APPROXIMATE_CAUCHY = 105,
    /** REPORT_ITERATES = 1 returns the task CUDA_OPT_NEW_ITERATE after each iteration. Range: 0 or 1; default 0. */
    CUDA_OPT_REPORT_ITERATES = 106,
    /** THREADS is the number of threads of the host backend. Range: 0 to 4096; default 0. 0 takes the value of the
     *  environment variable OMP_NUM_THREADS if it is positive. Otherwise 0 selects the fastest number for this n, at
     *  most the number of processors that the process may use. Set this key before the first call. */
    CUDA_OPT_THREADS = 107,
    /** IPRINT_FREQUENCY selects the iterates that are logged; the 2013 manual of L-BFGS for GPU-CUDA calls it
     *  iprint[0]. A negative value (default -1) means no log. 0 logs the first and the last iterate; k > 0 logs the
     *  iterates 1, k + 1, 2k + 1, ... and the last. The lines go to the function that cuda_opt_set_log() sets. */
    CUDA_OPT_IPRINT_FREQUENCY = 108,
    /** IPRINT_TYPE selects what is logged; the 2013 manual of L-BFGS for GPU-CUDA calls it iprint[1]. Range: 0 to 4. 0,
     *  the default: one line per logged iterate; 1: also the first x and g; 2: also the x of every logged iterate; 3:
     *  also its g; 4: also one line per transition of the solver's state machine, which helps in reports of bugs. */
    CUDA_OPT_IPRINT_TYPE = 109,
    /** ROBUST = 1, the default, continues where version 3.0 of L-BFGS-B stops with an error; 0 uses the rules of
     *  version 3.0. (Its iterates require other settings as well, which docs/migrating.md lists.) Set this key before
     *  the first call. With 1, the workspace needs two more vectors of n elements, and several rules are added to those
     *  of version 3.0. The following three are examples; docs/algorithm.md lists all:
     *  - If values of f differ by rounding errors only, the approximate Wolfe conditions accept a step by its slopes
     *    (Hager and Zhang 2005).
     *  - A line search that has used all its evaluations returns to its lowest point.
     *  - The scale theta is kept when the history is dropped after a failed line search. */
    CUDA_OPT_ROBUST = 110,
    /** HISTORY_BITS is the history precision: the number of bits per element of the correction pairs S and Y. Range: 64
     *  (only if x is double), 32 (float) or 16 (bfloat16); default: the precision of x. Set this key before the first
     *  call, but do not change it while a warm start keeps pairs of another precision.
     *  The step d and the gradient difference y are rounded when they are stored, and x moves by the rounded d. All
     *  inner products use the rounded pairs, so that the matrix B of the model is positive definite; sums are double.
     *  Fewer bits reduce the memory traffic per iteration. 32 bits need no more evaluations than 64, and 16 bits need a
     *  few per cent more (docs/history_precision.md). With fewer bits than x has, the workspace has 2m + 2 vectors of
     *  this precision and 4 of the precision of x, 2 without ROBUST.
     *  Both short types have the exponent range of float. A pair is omitted if a change of g exceeds 3.4e38, or if y
     *  vanishes because all changes are below 7e-46 (16 bits: 5e-41). Elements of a step are limited to 3.4e38, and
     *  elements below 7e-46 (16 bits: 5e-41) become 0. Scale x and f so that this does not matter; otherwise the solve
     *  may find no lower f. */
    CUDA_OPT_HISTORY_BITS = 111,
    /** INITIAL_HESSIAN chooses B0, the initial approximation of the Hessian. Its values are
     *  CUDA_OPT_INITIAL_HESSIAN_SCALAR (default), CUDA_OPT_INITIAL_HESSIAN_DIAGONAL,
     *  CUDA_OPT_INITIAL_HESSIAN_LEARNED and CUDA_OPT_INITIAL_HESSIAN_OPERATOR. Set this key before the first call of
     *  cuda_opt_solve(). */
    CUDA_OPT_INITIAL_HESSIAN = 112,
    CUDA_OPT_METRIC = CUDA_OPT_INITIAL_HESSIAN, /**< Former name of CUDA_OPT_INITIAL_HESSIAN. */
    /** PRODUCT_BITS is the precision of the inner products of the correction pairs: 64, the default, or 32 bits. 32
     *  permits single precision where it is faster. This is the case on CUDA with CUDA_OPT_HISTORY_BITS = 16, if m is
     *  not too large (m <= 118 on an H100), where tensor cores form the products of bfloat16 exactly. Single-precision
     *  sums over 128 variables (256 if m > 22) are then added in double precision.
     *  Inner products remain double where single precision would overflow or underflow, beyond the first breakpoint,
     *  and with a diagonal initial Hessian. The slopes of the line search and all other sums are always double
     *  (docs/history_precision.md). */
    CUDA_OPT_PRODUCT_BITS = 113,
    /** DIAGONAL_EVERY is the number of iterations for which a supplied diagonal D is used. Range: >= 0; default 1; 0: D
     *  is used for the whole solve. The array must not change during that time. With 1, H0 = D; otherwise
     *  H0 = D s'y / y'Dy, where (s, y) is the newest correction pair (docs/initial_hessian.md). */
    CUDA_OPT_DIAGONAL_EVERY = 115,
    /** F_PART says how the caller of each rank supplies f (cuda_opt/ranks.h). Set this key before the first call. */
    CUDA_OPT_F_PART = 114,
    /** TIMED = 1, the default, measures SOLVER_SECONDS; 0 does not measure it, which saves about 4 us per call on CUDA.
     *  Set this key before the first call. */
    CUDA_OPT_TIMED = 116,
    /** NOISE_AUTO = 1 estimates the noise of f; default 0. If ROBUST is 1, the first line search that fails is then
     *  followed by 8 evaluations at closely spaced points, whose values give CUDA_OPT_NOISE_ESTIMATE. A batch refuses
     *  this key (docs/noise.md). */
    CUDA_OPT_NOISE_AUTO = 117,
    /* The next settings are those of a search (cuda_opt_create_search()), and are set before its first call. A search
     * also has the keys MAX_ITERATIONS, MAX_EVALUATIONS, THREADS, MAX_SECONDS, F_TARGET, ITERATIONS, EVALUATIONS, F,
     * DIMENSION, STOP_TEST and WORKSPACE_BYTES. */
    /** SEARCH_SEED is the seed of the random numbers of a search. Range: >= 0; default 0. */
    CUDA_OPT_SEARCH_SEED = 120,
    /** AT_SMALLEST_STEP chooses how a walk of a search proceeds when its step has become the smallest one. 0, the
     *  default: the walk continues with the first step; 1: the walk ends; 2: the walk starts again from a new random
     *  point. */
    CUDA_OPT_AT_SMALLEST_STEP = 121,
    /** HALVINGS determines the smallest step of a search, Delta_0 / 2^HALVINGS, where Delta_0 is the first step. Range:
     *  1 to 1000; default 16. */
    CUDA_OPT_HALVINGS = 122,
    /** ROUND_ITERATIONS is the number of iterations per round of a search. Range: 0 to 2^62 - 1; default 0: no rounds.
     *  After each round all walks start again from new random points with the first step; the best point of each walk
     *  is kept. Rounds cannot be combined with AT_SMALLEST_STEP = 1. */
    CUDA_OPT_ROUND_ITERATIONS = 123,

    /* The real settings, for cuda_opt_set_real() and cuda_opt_get_real(), follow. */
    /** EPS is the tolerance of the stopping test of VA15 (Nocedal's L-BFGS code): the solve has converged when
     *  ||P g||_2 < EPS * max(1, ||x||_2). Range: >= 0; default 0: off. The test depends on the units of x and f. It is
     *  not applied, if ROBUST is 1, at an iterate whose line search used MAXFEV evaluations. If f has no minimum, ||x||
     *  grows there, and the test would be satisfied only because x is large. */
    CUDA_OPT_EPS = 200,
    /** PGTOL is the tolerance of the projected gradient: the solve has converged when ||P g||_inf <= PGTOL.
     *  Range: >= 0; default 1e-5; 0: only P g = 0 satisfies the test. SciPy calls this tolerance gtol. If ROBUST is 1,
     *  the test does not hold while a variable has 0 < u_i - l_i <= PGTOL and |g_i| > PGTOL, and x_i is not at the
     *  bound to which -g_i points. In such an interval |(P g)_i| is small only because the interval is. */
    CUDA_OPT_PGTOL = 201,
    /** FACTR is the tolerance of the decrease of f: the solve has converged when f_k - f_{k+1} <= FACTR * 2.22e-16 *
     *  max(|f_k|, |f_{k+1}|, 1). Range: >= 0; default 1e7; 0: off. FACTR is SciPy's ftol / 2.22e-16. If ROBUST is 1,
     *  three further conditions are required: f has not risen, the step was not the first one along -g, whose length is
     *  an estimate, and the condition of RELATIVE_GTOL is satisfied. */
    CUDA_OPT_FACTR = 202,
    /** F_TARGET ends the solve as converged when f <= F_TARGET. The default -Inf means off. */
    CUDA_OPT_F_TARGET = 203,
    /** GTOL is the tolerance of the line search's curvature condition |phi'(t)| <= GTOL * |phi'(0)|. Range:
     *  1e-4 < GTOL < 1; default 0.9. With CUDA_OPT_INITIAL_HESSIAN_LEARNED the condition is phi'(t) >= GTOL * phi'(0).
     *  Warning: GTOL is not SciPy's gtol, which corresponds to PGTOL. */
    CUDA_OPT_GTOL = 204,
    /** FTOL is the tolerance of the line search's sufficient decrease condition phi(t) <= phi(0) + FTOL * t * phi'(0).
     *  Range: 0 <= FTOL < 1; default 1e-4. Warning: FTOL is not SciPy's ftol, which corresponds to FACTR * 2.22e-16. */
    CUDA_OPT_FTOL = 205,
    /** XTOL ends the line search when the relative width of its interval of uncertainty is at most XTOL. Range: >= 0;
     *  default 0.1. */
    CUDA_OPT_XTOL = 206,
    /** STPMIN is the smallest step of a line search. Range: 0 to the current STPMAX; default 1e-20. In a line search
     *  along -g with an empty history, STPMIN is measured in units of the first step if this step is below 1. A first
     *  step may be smaller than STPMIN, and so may a step that is reduced because f is undefined. */
    CUDA_OPT_STPMIN = 207,
    /** STPMAX is the largest step of a line search; bounds may require a smaller one. Range: > 0, at least the current
     *  STPMIN, and finite; default 1e20. */
    CUDA_OPT_STPMAX = 208,
    /** MAX_SECONDS limits the wall time since the first call. Range: >= 0; default 0: no limit. Each call tests the
     *  limit, and on CUDA also while it waits for the stream. */
    CUDA_OPT_MAX_SECONDS = 209,
    /** RELATIVE_GTOL is a further condition for the stopping test FACTR if ROBUST is 1. Let v be the vector with the
     *  elements v_i = x_i (P g)_i. FACTR then ends a solve only if ||v||_2 <= max(RELATIVE_GTOL, 10
     *  sqrt(FACTR * 2.22e-16)) * max(|f|, 1). Otherwise the solve restarts along -g with an empty history. FACTR then
     *  ends it if, since the restart, f has fallen by at most 1e-4 * max(|f|, 1) in five iterations or more.
     *  Range: >= 0; default 5e-4; infinity removes this condition. */
    CUDA_OPT_RELATIVE_GTOL = 210,
    /** ROUNDING is the tolerance for rounding errors of f if ROBUST is 1. Range: >= 0 and finite; default 100; 0: off.
     *  A solve that finds no lower f counts as converged if the model predicts only a small fall of f, and if the
     *  relative gradient is small as well (RELATIVE_GTOL). The fall must be at most the bound of FACTR, or at most
     *  ROUNDING * (u_f |f| + u_x ||x||_2 ||P g||_2). The unit roundoffs u_f and u_x are 1.1e-16 in double precision and
     *  6.0e-8 in single precision. u_f is that of single precision if all values of f so far are single-precision
     *  numbers, and u_x if x has single precision. The solve also counts as converged if the rounding of x and f
     *  explains a larger relative gradient (docs/termination.md). With a noise level this test is off. */
    CUDA_OPT_ROUNDING = 211,
    /** F_UNBOUNDED ends the solve with the code UNBOUNDED if f is at or below F_UNBOUNDED. Default -1e300. With -Inf no
     *  solve ends with UNBOUNDED. */
    CUDA_OPT_F_UNBOUNDED = 212,

    /** NOISE is the relative noise level of f. Range: 0 <= NOISE < 1; default 0. f has errors of up to
     *  NOISE_ABS + NOISE |f|, because it comes from an iterative solver, random samples or single precision. If ROBUST
     *  is 1, the line search then accepts steps by their slopes where f cannot decide. The solve ends when two
     *  conditions hold in 120 evaluations: the lowest f has not fallen by more than twice the noise level, and the
     *  least ||P g||_inf has not fallen below 0.7 times its value. x is then the iterate with the least ||P g||_inf.
     *  The code is CONVERGED if two conditions hold, otherwise LINE_SEARCH_FAILED (docs/noise.md): relative changes of
     *  the variables by 1 % change f by at most the noise level; and since the start, f has fallen by more than twice
     *  that level, or ||P g||_inf below 0.7 times its value. */
    CUDA_OPT_NOISE = 213,
    /** NOISE_ABS is the absolute noise level of f, in the units of f. Range: >= 0; default 0. */
    CUDA_OPT_NOISE_ABS = 214,

    /* The integer results, for cuda_opt_get_int(), follow. */
    CUDA_OPT_ITERATIONS = 300,      /**< ITERATIONS is the number of accepted iterates after the start. */
    /** EVALUATIONS is the number of evaluations of f and g that were requested and supplied. */
    CUDA_OPT_EVALUATIONS = 301,
    CUDA_OPT_FREE_COUNT = 302,      /**< FREE_COUNT is the number of variables with l_i < x_i < u_i. */
    CUDA_OPT_LOWER_COUNT = 303,     /**< LOWER_COUNT is the number of variables with x_i = l_i, also if l_i = u_i. */
    CUDA_OPT_UPPER_COUNT = 304,     /**< UPPER_COUNT is the number of variables with x_i = u_i > l_i. */
    /** SKIPPED_UPDATES is the number of correction pairs (s, y) that were omitted because y's <= 2.22e-16 * |g's|. */
    CUDA_OPT_SKIPPED_UPDATES = 305,
    /** CAUCHY_SEGMENTS is the number of segments of the projected path that were searched, in all iterations. */
    CUDA_OPT_CAUCHY_SEGMENTS = 306,
    /** LINE_SEARCH_INFO says how the last line search ended, with the numbers of the 2013 manual of L-BFGS for
     *  GPU-CUDA. 0: no line search has ended yet; 1: both conditions are satisfied; 2: the relative width of the
     *  interval of uncertainty is at most XTOL; 3: MAXFEV evaluations were used; 4: the step is at STPMIN; 5: the step
     *  is at STPMAX, or at the largest step within the bounds; 6: rounding errors prevent progress. */
    CUDA_OPT_LINE_SEARCH_INFO = 307,
    /** REFRESHES counts how often the history was dropped: after a breakdown, before the test FACTR may end a solve,
     *  and because of slow progress. */
    CUDA_OPT_REFRESHES = 308,
    CUDA_OPT_CUTS = 309,            /**< CUTS counts the reductions of a step because f or g was not finite. */
    /** CAUCHY_CROSSINGS counts the iterations whose generalized Cauchy point lies beyond the first breakpoint. */
    CUDA_OPT_CAUCHY_CROSSINGS = 310,
    /** BREAKPOINTS_CROSSED counts the breakpoints before the generalized Cauchy points, in all iterations that had
     *  correction pairs. */
    CUDA_OPT_BREAKPOINTS_CROSSED = 311,
    /** WORKSPACE_BYTES is the memory that the handle has allocated in its memory space. It is at most 2m + 10 vectors
     *  of n elements, which includes a learned or supplied diagonal and scales, and a constant that does not depend on
     *  n. On CUDA at most n / 4 bytes are added (docs/backends.md). */
    CUDA_OPT_WORKSPACE_BYTES = 312,
    /** STOP_TEST is the key of the stopping test that was satisfied (EPS, PGTOL, FACTR, F_TARGET, ROUNDING or NOISE)
     *  after CONVERGED, otherwise 0. */
    CUDA_OPT_STOP_TEST = 313,
    CUDA_OPT_PAIRS = 314,           /**< PAIRS is the number of correction pairs in the history, 0 to m. */
    /** START_PROJECTED is the number of elements of the start that were moved into the box. */
    CUDA_OPT_START_PROJECTED = 315,
    CUDA_OPT_DIMENSION = 316,       /**< n */
    CUDA_OPT_HISTORY_SIZE = 317,    /**< HISTORY_SIZE is m, the largest number of correction pairs. */
    CUDA_OPT_MEMORY = CUDA_OPT_HISTORY_SIZE, /**< Former name of CUDA_OPT_HISTORY_SIZE. */
    CUDA_OPT_PRECISION = 318,       /**< PRECISION is the number of bits of an element of x: 64 or 32. */
    /** SUBSPACE_TRUNCATIONS counts the iterations whose projected subspace step was truncated. The reason is that the
     *  step was not a descent direction (Morales, Nocedal 2011); with a learned diagonal, a step that is hardly a
     *  descent direction is truncated as well. */
    CUDA_OPT_SUBSPACE_TRUNCATIONS = 319,
    /* The next three results describe the last search direction whose first trial point was evaluated. */
    /** CAUCHY_FREE_COUNT is the number of variables that are free at the generalized Cauchy point. */
    CUDA_OPT_CAUCHY_FREE_COUNT = 320,
    /** CAUCHY_BREAKPOINTS is the number of breakpoints before the generalized Cauchy point, even if there are no
     *  correction pairs. */
    CUDA_OPT_CAUCHY_BREAKPOINTS = 321,
    /** SUBSPACE_PROJECTED is the number of variables for which the subspace minimiser was outside the box. */
    CUDA_OPT_SUBSPACE_PROJECTED = 322,
    CUDA_OPT_OPERATOR_APPLICATIONS = 323, /**< OPERATOR_APPLICATIONS is the number of applications of H0. */
    /** OPERATOR_REFUSALS is the number of iterates at which the operator H0 was not symmetric, its direction did not
     *  descend, or no step along it was accepted. The scalar initial Hessian was used there. Iterates at which f
     *  cannot fall by more than its rounding errors do not count. */
    CUDA_OPT_OPERATOR_REFUSALS = 324,
    /* of a search: */
    CUDA_OPT_BATCH = 340,        /**< BATCH is the number of points to evaluate now; 0 if no evaluation is requested. */
    CUDA_OPT_WALKS = 341,        /**< number of walks */
    CUDA_OPT_ACTIVE_WALKS = 342, /**< ACTIVE_WALKS is the number of walks that have not ended. */
    /** BEST_WALK is the walk that found CUDA_OPT_F, the lowest number if there are several; -1 before the start. */
    CUDA_OPT_BEST_WALK = 343,

    /* The real results, for cuda_opt_get_real(), follow. */
    CUDA_OPT_F = 400,              /**< F is the value of f at the last accepted iterate. */
    CUDA_OPT_PG_NORM2 = 401,       /**< PG_NORM2 is ||P g||_2 at the last accepted iterate. */
    CUDA_OPT_PG_NORM_INF = 402,    /**< PG_NORM_INF is ||P g||_inf at the last accepted iterate. */
    CUDA_OPT_X_NORM2 = 403,        /**< ||x||_2 at that iterate */
    CUDA_OPT_STEP = 404,           /**< STEP is the last accepted step length. */
    /** THETA = y'y / s'y is the scale of B0, where (s, y) is the newest pair. 1 / THETA is gamma in Nocedal and
     *  Wright. */
    CUDA_OPT_THETA = 405,
    /** SOLVER_SECONDS is the time spent in the solver, in seconds. On HOST it is the wall time of the calls. On CUDA it
     *  is the time on the stream between the first and the last command of each call; for ranks it includes the
     *  exchanges. The first call of a handle, which allocates memory, does not count. The result is 0 if CUDA_OPT_TIMED
     *  is 0. */
    CUDA_OPT_SOLVER_SECONDS = 406,
    CUDA_OPT_CAUCHY_T = 407,       /**< CAUCHY_T is t*, the path parameter of the last generalized Cauchy point. */
    /** CAUCHY_T_FIRST = max(0, min(t_1, t_1*)) is the approximation of t* that APPROXIMATE_CAUCHY uses. t_1 is the
     *  first breakpoint, and t_1* minimises the model on the first segment. */
    CUDA_OPT_CAUCHY_T_FIRST = 408,
    /** DIRECTION_NORM2 is ||d||_2 of the last search direction whose first trial point was evaluated. */
    CUDA_OPT_DIRECTION_NORM2 = 409,
    /** SLOPE_START is phi'(0) = g'd of the line search along the direction of DIRECTION_NORM2. */
    CUDA_OPT_SLOPE_START = 410,
    CUDA_OPT_SLOPE = 411,          /**< SLOPE is phi' at the last trial point that was evaluated. */
    /** NOISE_ESTIMATE is the noise level of f that CUDA_OPT_NOISE_AUTO has estimated; 0: none. */
    CUDA_OPT_NOISE_ESTIMATE = 412
};
/* clang-format on */

/** Create a handle for n variables and m correction pairs (3 to 40 are usual) in double precision.
 *  @param out      receives the handle, also on failure. cuda_opt_message() then explains the failure, and you have to
 *                  destroy the handle. *out is NULL if there was no memory for the handle itself
 *  @param n        number of variables, >= 1
 *  @param m        number of correction pairs, >= 1; or 0: 40 on the host if n <= 1000, and 10 otherwise.
 *                  cuda_opt_get_int() with CUDA_OPT_HISTORY_SIZE returns the number chosen. The workspace has 2m + 5
 *                  vectors of n elements, 2m + 3 if CUDA_OPT_ROBUST is 0, and one more with
 *                  CUDA_OPT_INITIAL_HESSIAN_LEARNED. The inner products of the pairs need about 512 m^2 bytes more; if
 *                  they need more than 4e9 bytes, the call returns CUDA_OPT_OUT_OF_MEMORY. On the host the partial sums
 *                  of these products need up to about 5000 m^2 bytes
 *  @param backend  CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST
 *  @return 0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_BACKEND_UNAVAILABLE, CUDA_OPT_OUT_OF_MEMORY or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_create(cuda_opt **out, int64_t n, int32_t m, int32_t backend);
/** Does the same as cuda_opt_create(), with x, g, the bounds and the history in single precision. f remains double, and
 *  so do all sums and decisions. */
CUDA_OPT_API int cuda_opt_create_f32(cuda_opt **out, int64_t n, int32_t m, int32_t backend);
/** Free the handle and all memory that it owns, and set *s to NULL. NULL and a pointer to NULL are allowed. If the log
 *  function calls it, the call has no effect except a message, because the handle is in use. */
CUDA_OPT_API void cuda_opt_destroy(cuda_opt **s);
/** Set bounds l <= x <= u. The arrays remain yours; they are read in every iteration and must not change until the
 *  solve ends. Call this before the first call of cuda_opt_solve(), which checks that l_i <= u_i and that no bound is
 *  NaN.
 *  @param lower  n values in the memory space of x; -INFINITY: no bound. NULL: the bound of
 *                cuda_opt_set_uniform_bounds() applies
 *  @param upper  n values in the memory space of x; +INFINITY: no bound. NULL: the bound of
 *                cuda_opt_set_uniform_bounds() applies
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_bounds(cuda_opt *s, const double *lower, const double *upper);
/** Does the same as cuda_opt_set_bounds(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_set_bounds_f32(cuda_opt *s, const float *lower, const float *upper);
/** Set bounds that are the same for all variables and need no arrays; for x >= 0 pass (0, INFINITY). The lower bound
 *  applies unless cuda_opt_set_bounds() has set an array of lower bounds, before or after this call. The same holds for
 *  the upper bound. Call this before the first call of cuda_opt_solve(). A pattern search does not support this
 *  function.
 *  @param lower  -INFINITY, the default: no lower bound
 *  @param upper  +INFINITY, the default: no upper bound
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for NaN and for bounds that no finite x satisfies (the former bounds remain);
 *          CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_uniform_bounds(cuda_opt *s, double lower, double upper);
/** Does the same as cuda_opt_set_uniform_bounds(), for a handle that cuda_opt_create_f32() created. The bounds are
 *  float numbers: 0.1 is converted to 0.1f when it is passed, and x satisfies the bound 0.1f exactly. */
CUDA_OPT_API int cuda_opt_set_uniform_bounds_f32(cuda_opt *s, float lower, float upper);
/** Set typical sizes of the variables. s_i > 0 is the typical magnitude of x_i, or of a change of x_i that matters. The
 *  solver then minimises over z = x / s, with the bounds l / s and u / s and the gradient s g. The arrays x, f, g, the
 *  bounds, a diagonal and the log remain in your units. The first step, the stopping tests, CUDA_OPT_STPMAX and all
 *  results that are norms, steps or slopes are in units of z. For example, CUDA_OPT_PGTOL bounds the largest component
 *  of z - max(l / s, min(u / s, z - s g)), the projected gradient of the problem in z.
 *  Every x satisfies the bounds exactly, and x_i is at a bound if z_i is. The start is rounded once, as x = s z. After
 *  the end, g is your g at x, or differs from it by a rounding error if the best iterate was restored. If the scales
 *  are powers of two, nothing is rounded.
 *  The workspace needs two more vectors of n elements, and one more for your diagonal if there is one. It also needs
 *  one vector for each side of the box that has an array of bounds. If `scales` is an array, this also holds for a side
 *  with a finite uniform bound other than 0. Each evaluation reads or writes 6 more vectors, and 2 for each such side.
 *  On a rank, pass the scales of the handle's part; other ranks may have none. A search and a batch do not support
 *  scales. The array belongs to you, is read in every call and must not change until the solve ends. Call this before
 *  the first call of cuda_opt_solve(), which checks the scales. A checkpoint can be loaded only with the same scales,
 *  and the scales cannot change while a warm start keeps correction pairs.
 *  @param scales  n values in the memory space of x; NULL: the scale that cuda_opt_set_uniform_scale() has set
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_scales(cuda_opt *s, const double *scales);
/** Does the same as cuda_opt_set_scales(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_set_scales_f32(cuda_opt *s, const float *scales);
/** Set one typical size for all variables, for a handle of either precision. It has no effect if cuda_opt_set_scales()
 *  has set an array.
 *  @param scale  positive and finite; 1, the default: no scaling
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for another number (the former one remains); CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_uniform_scale(cuda_opt *s, double scale);
/** Set the array that you fill with the diagonal of H0 when the task CUDA_OPT_SUPPLY_DIAGONAL requests it. The library
 *  does not write to the array. An operator as initial Hessian is refused together with a diagonal.
 *  @param diagonal  n values in the memory space of x; NULL: no diagonal
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_diagonal(cuda_opt *s, const double *diagonal);
/** Does the same as cuda_opt_set_diagonal(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_set_diagonal_f32(cuda_opt *s, const float *diagonal);
/** Set the arrays of the task CUDA_OPT_APPLY_OPERATOR. At this task, store out = H0 in, in the order of the handle's
 *  stream, and call cuda_opt_solve() again. H0 is symmetric and positive definite on the free variables, and
 *  approximates the inverse of the rows and columns of the Hessian that belong to them. Its scale is immaterial. The
 *  arrays belong to you and must not overlap other arrays. Call this before the first call of cuda_opt_solve().
 *  @param in       n values in the memory space of x: the library writes the vector, which is 0 if a variable is not
 *                  free. Do not change it, because the library reads it after the task
 *  @param out      n values: you write H0 in at the task, and at no other task. Values of variables that are not free
 *                  are not used. The library changes the array after the task, and reads it again after evaluations
 *  @param is_free  n values: the library writes 1 if the variable is free and 0 otherwise. Do not change it
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_operator(cuda_opt *s, double *in, double *out, double *is_free);
/** Does the same as cuda_opt_set_operator(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_set_operator_f32(cuda_opt *s, float *in, float *out, float *is_free);
/** Read the diagonal of H0, the inverse of B0, of the newest model. This is the learned diagonal if
 *  CUDA_OPT_INITIAL_HESSIAN_LEARNED uses one, or the diagonal that you supply; otherwise it is 1 / theta for all
 *  variables. The function may be called once a solve has begun, and after its end.
 *  @param diagonal  receives n values in host memory; for a rank, those of its part
 *  @return 0; CUDA_OPT_MISUSE if no solve has begun; CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_get_diagonal(cuda_opt *s, double *diagonal);
/** Does the same as cuda_opt_get_diagonal(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_get_diagonal_f32(cuda_opt *s, float *diagonal);
/** Set the CUDA stream of all device work. Call this before the first call of cuda_opt_solve(). The stream has to
 *  outlive the handle. Call cuda_opt_synchronize() before you set another stream. The host backend ignores the stream.
 *  @param stream  a cudaStream_t; NULL: the legacy default stream
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_stream(cuda_opt *s, void *stream);
/** Set the log function, which receives the lines of the log if CUDA_OPT_IPRINT_FREQUENCY >= 0. The log function may
 *  read results and settings, change settings, and set another log function. Its other calls with this handle are
 *  refused.
 *  @param write_line  receives one line without its newline, valid during the call; NULL: no log
 *  @param user        is passed to write_line
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_log(cuda_opt *s, void (*write_line)(void *user, const char *line), void *user);

/** Continue the solve until you have to execute a task or the solve has ended. The beginning of this file explains the
 *  loop. All arrays are in the handle's memory space (device memory on CUDA). The three pointers must be the same in
 *  each call of one solve. The arrays must not overlap each other, the bounds or the diagonal.
 *  @param x  n values. In the first call x is the start, which is moved into the box. The library writes to x in later
 *            calls; you must not
 *  @param f  one value, in which you store f(x)
 *  @param g  n values, in which you store the gradient at x
 *  @return a task > 0, CUDA_OPT_CONVERGED, or a negative code. After a code <= 0, call cuda_opt_reset() or
 *          cuda_opt_warm_start() before the next solve */
CUDA_OPT_API int cuda_opt_solve(cuda_opt *s, double *x, double *f, double *g);
/** Does the same as cuda_opt_solve(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_solve_f32(cuda_opt *s, float *x, double *f, float *g);
/** Drop the history and the counts, and keep the settings, the bounds and the workspace. The next call of
 *  cuda_opt_solve() begins a new solve.
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_reset(cuda_opt *s);
/** Does the same as cuda_opt_reset(), but keeps the correction pairs as the history of the next solve. The next solve
 *  may have other bounds, another start, other arrays, and an f that has changed a little. In a sequence of such
 *  problems this reduces the evaluations of each. A learned diagonal is kept as well if CUDA_OPT_INITIAL_HESSIAN does
 *  not change. After cuda_opt_load() the pairs of the saved solve are kept.
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_warm_start(cuda_opt *s);
/** Write a checkpoint, from which cuda_opt_load() continues the solve later or on another machine, on the host or on
 *  CUDA. The checkpoint contains x, f and g, the correction pairs, the settings and the counts. The function may be
 *  called between any two calls of cuda_opt_solve(), before or after you have executed the task, and after the end of a
 *  solve.
 *  @param buffer  host memory; NULL: only *bytes is set
 *  @param bytes   in: the size of the buffer in bytes; out: the size of the checkpoint. This size grows with the number
 *                 of stored pairs to at most 2m + 8 vectors of n elements and about 50 m^2 + 5000 bytes
 *  @return 0; CUDA_OPT_IMPROPER_INPUT if the buffer is too small; CUDA_OPT_MISUSE if there is no solve to save;
 *          CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_save(cuda_opt *s, void *buffer, int64_t *bytes);
/** Continue from a checkpoint. This call replaces the first call of cuda_opt_solve(), and fills x, f and g. The next
 *  call of cuda_opt_solve(), with these arrays, returns the task that was current when the checkpoint was saved. The
 *  solve then continues as if it had not been interrupted; on the same backend its results have the same bits. Before
 *  this call, set the bounds, the diagonal, the stream and the log function as they were. All settings except
 *  CUDA_OPT_THREADS and CUDA_OPT_TIMED become those of the checkpoint, and may be changed afterwards. The handle must
 *  have been created with the same n, m and precision. A CRC-64 detects damage, but forged bytes may contain any
 *  numbers: load only checkpoints that you trust.
 *  @param buffer  the bytes that cuda_opt_save() wrote, in host memory
 *  @param bytes   their number
 *  @param x  receives n values, in the memory space of cuda_opt_solve()
 *  @param f  receives one value, in the same memory space
 *  @param g  receives n values, in the same memory space
 *  @return 0; CUDA_OPT_IMPROPER_INPUT if the bytes are not a complete, undamaged checkpoint of this n, m and precision
 *          by this version of the library, if the scales are invalid or not those of the saved solve, if x of the
 *          checkpoint is outside the bounds, if only one of the two solves has bounds, or if all variables have two
 *          bounds in only one of them. Other bounds are not noticed;
 *          CUDA_OPT_MISUSE after the first call of cuda_opt_solve() or another load, on a rank, or if the saved solve
 *          has a diagonal and cuda_opt_set_diagonal() has set no array; otherwise as cuda_opt_solve(). The first two
 *          codes change nothing. After any other failure the handle is as after cuda_opt_reset(), and x, f and g may
 *          have changed */
CUDA_OPT_API int cuda_opt_load(cuda_opt *s, const void *buffer, int64_t bytes, double *x, double *f, double *g);
/** Does the same as cuda_opt_load(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_load_f32(cuda_opt *s, const void *buffer, int64_t bytes, float *x, double *f, float *g);
/** Request that the solve end with CUDA_OPT_STOPPED at its next call. If an evaluation was requested, that call still
 *  reads its results. On CUDA the request also ends a call that is waiting for the stream. Any thread and a signal
 *  handler may call this function. */
CUDA_OPT_API int cuda_opt_request_stop(cuda_opt *s);

/** Change an integer setting.
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key or a value out of range (the former value remains);
 *          CUDA_OPT_MISUSE for NULL */
CUDA_OPT_API int cuda_opt_set_int(cuda_opt *s, int32_t key, int64_t value);
/** Change a real setting. The return codes are those of cuda_opt_set_int(). */
CUDA_OPT_API int cuda_opt_set_real(cuda_opt *s, int32_t key, double value);
/** Read an integer setting or result.
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key; CUDA_OPT_MISUSE for NULL. On failure *value is
 *          unchanged */
CUDA_OPT_API int cuda_opt_get_int(const cuda_opt *s, int32_t key, int64_t *value);
/** Read a real setting or result. The return codes are those of cuda_opt_get_int(). */
CUDA_OPT_API int cuda_opt_get_real(const cuda_opt *s, int32_t key, double *value);
/** Returns one English sentence, with numbers, about the last call that returned a task, ended a solve or failed. The
 *  result is never NULL, and is valid until the next call with this handle. */
CUDA_OPT_API const char *cuda_opt_message(const cuda_opt *s);
/** Returns the backend of the handle, CUDA_OPT_BACKEND_CUDA or CUDA_OPT_BACKEND_HOST. Returns a negative code for NULL
 *  and for a handle whose creation failed. */
CUDA_OPT_API int cuda_opt_backend(const cuda_opt *s);
/** Returns the version of the library as "major.minor.patch". */
CUDA_OPT_API const char *cuda_opt_version(void);
/** Returns the name of a task or code, for example "CUDA_OPT_CONVERGED", and "unknown" for other numbers. */
CUDA_OPT_API const char *cuda_opt_task_name(int task);

/* Multi-walk pattern search (docs/search.md) minimises a function without a gradient in a finite box. A walk is one of
 * many independent searches from random points. The search works by reverse communication, with one batch of points per
 * call. The handle is a cuda_opt, to which the settings, results and helpers of this header apply. CUDA_OPT_F is the
 * best value so far. cuda_opt/search.cuh has the search for a function that is written as a functor.
 * A search ends with CUDA_OPT_CONVERGED if all walks have ended or CUDA_OPT_F_TARGET is reached. Otherwise it ends with
 * the code of a limit, with STOPPED, or with NOT_FINITE if every value was NaN or Inf. */
/** Create a handle for a search.
 *  @param out      as for cuda_opt_create()
 *  @param n        number of variables, 1 to 2^31 - 1
 *  @param walks    number of walks, >= 1. The workspace has n * walks values and 33 to 41 bytes per walk, and on CUDA
 *                  scratch memory. It has 2 n * walks values if walks start again from new points, at the smallest
 *                  step or in rounds
 *  @param backend  CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST: the memory space of points and values
 *  @return as cuda_opt_create(). Then call cuda_opt_set_bounds() with finite bounds, which are copied */
CUDA_OPT_API int cuda_opt_create_search(cuda_opt **out, int64_t n, int64_t walks, int32_t backend);
/** Set the first step Delta_0 of each coordinate in a search. Call this before the first call of
 *  cuda_opt_search_solve().
 *  @param steps  n positive values in the handle's memory space, which are copied; NULL: (upper - lower) / 20 */
CUDA_OPT_API int cuda_opt_search_set_steps(cuda_opt *s, const double *steps);
/** Continue the search until it needs values of f or has ended.
 *  @param points  n * 2 * walks values in the handle's memory space: coordinate j of point p, both from 0, is
 *                 points[j * 2 * walks + p]. Do not change them between calls
 *  @param values  2 * walks values in the same memory space. After CUDA_OPT_EVALUATE_BATCH, store f at point p in
 *                 values[p] for all p below CUDA_OPT_BATCH; NaN and Inf are worse than any other value
 *  @return CUDA_OPT_EVALUATE_BATCH, CUDA_OPT_CONVERGED, or a negative code. After a code <= 0, call cuda_opt_reset()
 *          before the next search */
CUDA_OPT_API int cuda_opt_search_solve(cuda_opt *s, double *points, const double *values);
/** Read the best point of a walk and f at this point, at any time after the first values.
 *  @param walk  the number of the walk, from 0
 *  @param x     receives n values in host memory; or NULL
 *  @param f     receives one value in host memory; or NULL
 *  @return 0, CUDA_OPT_IMPROPER_INPUT for a walk that does not exist, CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_search_walk(cuda_opt *s, int64_t walk, double *x, double *f);
/** Read the number of the walk at a given place in the ranking by best values. Among walks with equal values, the lower
 *  number comes first.
 *  @param rank  the place: 0 for the best walk, walks - 1 for the worst
 *  @param walk  receives the number of the walk, for cuda_opt_search_walk(); in host memory
 *  @return as cuda_opt_search_walk() */
CUDA_OPT_API int cuda_opt_search_ranked(cuda_opt *s, int64_t rank, int64_t *walk);

/* The gradient check compares g with differences of f, before a solve with the same handle (docs/gradient_check.md):
 *
 *     while ((task = cuda_opt_check_gradient(s, x, f, g, 0, 1)) == CUDA_OPT_EVALUATE_FG) evaluate(x, f, g);
 *     puts(cuda_opt_message(s)); */
/* clang-format off */
/** The possible findings of a gradient check, which compares g with differences of f. */
enum {
    CUDA_OPT_GRADIENT_CONSISTENT = 0,       /**< The gradient g agrees with differences of f. */
    CUDA_OPT_GRADIENT_WRONG_SIGN = 1,       /**< The supplied g has the wrong sign: it is minus the gradient. */
    CUDA_OPT_GRADIENT_WRONG_FACTOR = 2,     /**< The supplied g is a constant times the gradient. */
    /** The supplied g differs from the gradient otherwise, e.g. in one component. */
    CUDA_OPT_GRADIENT_WRONG_COMPONENT = 3,
    /** The supplied g depends on the previous point, or the gradient is added to g without setting g to 0 first. */
    CUDA_OPT_GRADIENT_OF_ANOTHER_POINT = 4,
    /** All elements of g are single-precision numbers, although x and f are double. */
    CUDA_OPT_GRADIENT_SINGLE_PRECISION = 5,
    CUDA_OPT_GRADIENT_KINK = 6,             /**< f has a kink at x: the differences to the two sides disagree. */
    /** Undecided: differences of f do not settle, f is not finite near x, or the bounds fix all variables. */
    CUDA_OPT_GRADIENT_UNDECIDED = 7
};
/* clang-format on */
/** Make one step of the gradient check. It compares g with differences of f along -g and along two random directions,
 *  on both sides of x. The differences use ten steps, of 0.1 to 1e-10 times the sizes of the variables; in single
 *  precision there are six. These sizes are those of cuda_opt_set_scales(), otherwise max(1, |x_i|). The check uses the
 *  step for which neighbouring differences agree best.
 *  The check needs 64 evaluations (40 in single precision), and about 4 log2(n) more to find a wrong component. It
 *  allocates two vectors of n
 *  elements in the handle's memory space, and frees them at the end. If x_i is at a bound or close to it, the check
 *  first moves it inside the box by a thousandth of its size. The differences then use smaller steps for this variable,
 *  so that all evaluated points satisfy the bounds. Call this before the first call of cuda_opt_solve(). The check is
 *  not available if the variables are distributed over ranks. cuda_opt_reset() ends a check that is in progress.
 *  @param x  n values: the point of the check. The library changes x between the calls, and restores it at the end
 *  @param f  as for cuda_opt_solve()
 *  @param g  as for cuda_opt_solve(). The pointers x, f and g have to be the same in each call
 *  @param seed            the seed of the random directions
 *  @param find_component  not 0: if g is wrong in some components, find the worst one by halving the set of variables
 *  @return CUDA_OPT_EVALUATE_FG; 0 when the check has ended, and cuda_opt_message() and cuda_opt_check_result() have
 *          the finding; CUDA_OPT_NOT_FINITE if f or g is not finite at x; CUDA_OPT_IMPROPER_INPUT if x is not finite,
 *          if bounds cross, or if a scale is not positive and finite; CUDA_OPT_MISUSE, CUDA_OPT_OUT_OF_MEMORY,
 *          CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_check_gradient(cuda_opt *s, double *x, double *f, double *g, int64_t seed,
                                         int32_t find_component);
/** Does the same as cuda_opt_check_gradient(), for a handle that cuda_opt_create_f32() created. */
CUDA_OPT_API int cuda_opt_check_gradient_f32(cuda_opt *s, float *x, double *f, float *g, int64_t seed,
                                             int32_t find_component);
/** Read the finding of the last gradient check that has ended. Each pointer may be NULL.
 *  @param verdict     receives one of CUDA_OPT_GRADIENT_*
 *  @param component   receives the worst component, counted from 0; -1 if none was searched for or found
 *  @param supplied    receives this component of g, or, if there is none, the slope g'd along a direction d
 *  @param difference  receives the same quantity computed from differences of f
 *  @param error       receives an estimate of the largest error of the difference
 *  @return 0; CUDA_OPT_MISUSE if no check has ended */
CUDA_OPT_API int cuda_opt_check_result(const cuda_opt *s, int32_t *verdict, int64_t *component, double *supplied,
                                       double *difference, double *error);

/* The following helpers let one program run on both backends. You own the memory that they allocate; it does not count
 * as workspace. */
/** Allocate `bytes` bytes in the handle's memory space, aligned for any vector type.
 *  @param out  receives the address
 *  @return 0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_OUT_OF_MEMORY or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_alloc(cuda_opt *s, void **out, int64_t bytes);
/** Free memory that cuda_opt_alloc() allocated. NULL is allowed. */
CUDA_OPT_API int cuda_opt_free(cuda_opt *s, void *pointer);
/** Copy `bytes` bytes from host memory into the handle's memory space, in stream order. The copy is complete on
 *  return. */
CUDA_OPT_API int cuda_opt_copy_in(cuda_opt *s, void *to, const void *from_host, int64_t bytes);
/** Copy `bytes` bytes from the handle's memory space to host memory, in stream order. The copy is complete on
 *  return. */
CUDA_OPT_API int cuda_opt_copy_out(cuda_opt *s, void *to_host, const void *from, int64_t bytes);
/** Wait until all work on the handle's stream is complete. */
CUDA_OPT_API int cuda_opt_synchronize(cuda_opt *s);

#ifdef __cplusplus
}
#endif
#endif
