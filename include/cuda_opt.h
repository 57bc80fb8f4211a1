/* cuda_opt: minimisation of smooth functions of very many variables, with or without bounds,
 * on an NVIDIA GPU or on the host, by L-BFGS-B with reverse communication.
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
 *  - After every return code <= 0 that follows a first evaluation, x, f and g hold the best iterate accepted so far:
 *    the one with the lowest f. After CONVERGED by EPS or PGTOL it is the iterate at which the test holds; its f
 * exceeds the lowest f by rounding errors only, at most 2.3e-11 |f|.
 *  - Every x that you evaluate is finite and satisfies l <= x <= u exactly, without a rounding error.
 *  - If f or an element of g is NaN or Inf, f counts as undefined at x, and the step is shortened (CUDA_OPT_MAX_CUTS).
 *  - The same calls give the same bits: on the host with any number of threads; on the same GPU in every run with
 * arrays of the same alignment modulo 16 bytes.
 *  - The library prints nothing, never exits and keeps no global state. Two threads may use two handles at the same
 *    time. One handle may be used by one thread at a time; only cuda_opt_request_stop() may be called by any thread.
 *  - No memory is allocated after the first call of cuda_opt_solve(), provided that the same thread calls.
 *  - A solve on the host backend is not affected if the system refuses to start threads, nor by fork() or dlclose().
 *    docs/backends.md has the details and the exceptions.
 *  - No exception is thrown, whatever fails.
 *
 * CUDA streams. All device work of a handle runs on its stream (cuda_opt_set_stream; by default the legacy default
 * stream). When cuda_opt_solve() requests an evaluation, the kernels that write x may still be running: evaluate on the
 * same stream, or call cuda_opt_synchronize() first. Also f and g must be written on that stream, or be complete,
 * when cuda_opt_solve() is called again.
 * A call waits for the stream, and so also for your kernels on it, when it needs results of the device.
 * cuda_opt_request_stop() and CUDA_OPT_MAX_SECONDS end this wait after at most about 0.3 s, with STOPPED or TIME_LIMIT.
 * The work on the stream continues, and x, f and g hold the best iterate once it is complete, as after any code <= 0;
 * cuda_opt_synchronize() waits for it. They do not end the allocations of the first call, nor calls whose purpose is to
 * wait: the helpers for memory at the end of this header, functions that return results, and cuda_opt_destroy().
 *
 * CUDA devices. A handle uses the device that was current when the handle was created, whichever is current later. Its
 * arrays are in the memory of that device, or in managed memory. Memory of another device is refused, even if peer
 * access makes it reachable: by the call that names the array, or by the first call of the solve.
 *
 * Method: Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; Morales, Nocedal, ACM TOMS 38 (2011) 7;
 * line search: More, Thuente, ACM TOMS 20 (1994) 286. See docs/algorithm.md. */
#ifndef CUDA_OPT_H
#define CUDA_OPT_H

#include <stdint.h>

#if defined(__GNUC__)
/** Marks the functions that the library exports. */
#define CUDA_OPT_API __attribute__((visibility("default")))
#else
#define CUDA_OPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_OPT_VERSION_MAJOR 0 /**< version of this header; cuda_opt_version() returns the library's */
#define CUDA_OPT_VERSION_MINOR 2 /**< minor version of this header */
#define CUDA_OPT_VERSION_PATCH 0 /**< patch level of this header */

/** A solver: the settings, the history and the workspace of one minimisation at a time. */
typedef struct cuda_opt cuda_opt;

/** The backends: where x, f, g, the bounds and the history are stored, and which processor works on them. */
enum {
    CUDA_OPT_BACKEND_AUTO = 0, /**< CUDA if the library was built with it and a device is present, otherwise HOST */
    CUDA_OPT_BACKEND_CUDA = 1, /**< the calling thread's current CUDA device at the time of cuda_opt_create() */
    CUDA_OPT_BACKEND_HOST = 2  /**< the CPU, with CUDA_OPT_THREADS threads */
};

/* clang-format off */
/** Tasks (> 0) and return codes (<= 0): cuda_opt_solve() returns both, every other function 0 or a negative code.
 *  Numbers are never reused. */
enum {
    /* > 0: a task. Execute it, then call cuda_opt_solve() again */
    CUDA_OPT_EVALUATE_FG = 1,     /**< store f(x) in *f and its gradient in g; do not change x */
    CUDA_OPT_SUPPLY_DIAGONAL = 2, /**< store the diagonal of H0, the approximate inverse Hessian at x, in the array that
                                       was given to cuda_opt_set_diagonal(). *f and g are those at x; do not change x,
                                       f or g */
    CUDA_OPT_NEW_ITERATE = 3,     /**< x, f and g are a new accepted iterate, which you may read; do not change them */
    CUDA_OPT_EVALUATE_BATCH = 4,  /**< cuda_opt_search_solve(): store f at each of CUDA_OPT_BATCH points in values */
    CUDA_OPT_EXCHANGE = 5,        /**< cuda_opt/ranks.h: all-gather the buffers that cuda_opt_gather() returns */
    /* 0: success */
    CUDA_OPT_CONVERGED = 0,       /**< a stopping test holds (CUDA_OPT_STOP_TEST); x, f and g are the solution */
    /* < 0: any other termination. x, f and g are the best accepted iterate if there was a first evaluation */
    CUDA_OPT_LINE_SEARCH_FAILED = -1, /**< no lower f was found along a descent direction, even with an empty history,
                                           although the model predicts that f falls by more than CUDA_OPT_ROUNDING
                                           allows for. Most often g is not the gradient of f, or f has errors larger
                                           than rounding errors. CUDA_OPT_LINE_SEARCH_INFO has the end of the search */
    CUDA_OPT_BAD_DIAGONAL = -2,       /**< an element of the diagonal that you supplied is not positive and finite */
    CUDA_OPT_IMPROPER_INPUT = -3,     /**< n, m, x, a bound or an option is out of its range; nothing was changed */
    CUDA_OPT_ITERATION_LIMIT = -10,   /**< CUDA_OPT_MAX_ITERATIONS is reached */
    CUDA_OPT_EVALUATION_LIMIT = -11,  /**< CUDA_OPT_MAX_EVALUATIONS is reached */
    CUDA_OPT_TIME_LIMIT = -12,        /**< CUDA_OPT_MAX_SECONDS have passed since the first call */
    CUDA_OPT_NOT_FINITE = -20,    /**< f or g is NaN or Inf at the start, or still after CUDA_OPT_MAX_CUTS reductions of
                                       the step in a row */
    CUDA_OPT_UNBOUNDED = -21,     /**< f seems to have no lower bound: it is at or below CUDA_OPT_F_UNBOUNDED; or, with
                                       CUDA_OPT_ROBUST, f fell along an almost straight line in two successive line
                                       searches, whose steps grew to more than 10^6 times the first one and more than
                                       10^6 in length, in a direction in which no bound limits the step */
    CUDA_OPT_CUDA_FAILURE = -30,  /**< a CUDA call failed; the message names it. x, f and g may be lost */
    CUDA_OPT_OUT_OF_MEMORY = -31, /**< the workspace does not fit; the message has the requested number of bytes */
    CUDA_OPT_BACKEND_UNAVAILABLE = -32, /**< CUDA was requested, but there is no device, or the library was built
                                             without CUDA */
    CUDA_OPT_EXCHANGE_FAILED = -33,   /**< cuda_opt_gather_failed() was called, or a packet arrived damaged */
    CUDA_OPT_MISUSE = -40,            /**< a NULL argument, calls in the wrong order, the wrong precision or memory */
    CUDA_OPT_STOPPED = -41            /**< cuda_opt_request_stop() was called */
};

/** The values of CUDA_OPT_INITIAL_HESSIAN: the initial approximation B0 of the Hessian, which the correction pairs
 *  update in each iteration (docs/metric.md). */
enum {
    CUDA_OPT_INITIAL_HESSIAN_SCALAR = 0,   /**< B0 = theta I with theta = y'y / s'y of the newest pair, as in version
                                                3.0 of L-BFGS-B */
    CUDA_OPT_INITIAL_HESSIAN_DIAGONAL = 1, /**< B0 is the inverse of a diagonal that you supply:
                                                CUDA_OPT_SUPPLY_DIAGONAL requests it, as often as
                                                CUDA_OPT_DIAGONAL_EVERY says */
    CUDA_OPT_INITIAL_HESSIAN_LEARNED = 2,  /**< B0 is theta times a diagonal that is learned from the correction pairs.
                                                Three further rules save evaluations (docs/metric.md). The workspace has
                                                one more vector of n elements */
    CUDA_OPT_METRIC_ONE_NUMBER = CUDA_OPT_INITIAL_HESSIAN_SCALAR, /**< former name of INITIAL_HESSIAN_SCALAR */
    CUDA_OPT_METRIC_DIAGONAL = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL, /**< former name of INITIAL_HESSIAN_DIAGONAL */
    CUDA_OPT_METRIC_LEARNED = CUDA_OPT_INITIAL_HESSIAN_LEARNED    /**< former name of INITIAL_HESSIAN_LEARNED */
};

/** Settings and results. Settings may be changed between any two calls of cuda_opt_solve() unless noted otherwise; a
 *  line search that is in progress may keep its former ones. "Before the first call" means before the first call of
 *  cuda_opt_solve(). ROBUST stands for CUDA_OPT_ROBUST, and so on. P g is the projected gradient:
 *  (P g)_i = x_i - min(u_i, max(l_i, x_i - g_i)). phi(t) = f(x + t d) is f along the search direction d. */
enum {
    /* ---- integer settings: cuda_opt_set_int, cuda_opt_get_int ---- */
    CUDA_OPT_MAX_ITERATIONS = 100,  /**< >= 0; default 2000 (the manual's icall); 0: no limit */
    CUDA_OPT_MAX_EVALUATIONS = 101, /**< >= 0; default 0: no limit */
    CUDA_OPT_MAXFEV = 102,          /**< >= 1; default 20: largest number of evaluations in one line search. Evaluations
                                         at which f or g is not finite do not count, nor does a last one that returns to
                                         the lowest point */
    CUDA_OPT_MAX_CUTS = 103,        /**< >= 0; default 30: largest number of successive reductions of a step because f
                                         or g is not finite */
    CUDA_OPT_DIAGCO = 104,          /**< 0 or 1; default 0. 1: request the diagonal of H0. Before the first call; needs
                                         cuda_opt_set_diagonal(). The manual's name for
                                         CUDA_OPT_INITIAL_HESSIAN = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL: setting one of
                                         the two changes the other */
    CUDA_OPT_APPROXIMATE_CAUCHY = 105, /**< 0 or 1; default 0: exact generalized Cauchy point. 1: stop at the first
                                            breakpoint, t = max(0, min(t_1, t_1*)) (Fei et al. 2014) */
    CUDA_OPT_REPORT_ITERATES = 106, /**< 0 or 1; default 0. 1: return CUDA_OPT_NEW_ITERATE after each iteration */
    CUDA_OPT_THREADS = 107,         /**< 0 to 4096; default 0: the environment variable OMP_NUM_THREADS if it is
                                         positive, otherwise the fastest number for this n, at most the processors that
                                         the process may use. Host backend only. Before the first call */
    CUDA_OPT_IPRINT_FREQUENCY = 108, /**< the manual's iprint[0]. < 0, default -1: no log; 0: the first and the last
                                          iterate; k > 0: iterates 1, k + 1, 2k + 1, ... and the last. The lines go to
                                          the function of cuda_opt_set_log() */
    CUDA_OPT_IPRINT_TYPE = 109,     /**< the manual's iprint[1], 0 to 3; default 0: one line per logged iterate; 1: also
                                         the first x and g; 2: also the x of every logged iterate; 3: also its g */
    CUDA_OPT_ROBUST = 110,          /**< 0 or 1; default 1: continue where version 3.0 of L-BFGS-B gives up. Where f
                                         differs by rounding errors only, the approximate Wolfe conditions accept a step
                                         by its slopes (Hager and Zhang 2005). A line search that has used up its
                                         evaluations returns to its lowest point. When the history is dropped, the scale
                                         theta is kept. The workspace has two more vectors of n elements. 0: the path of
                                         version 3.0. Before the first call */
    CUDA_OPT_HISTORY_BITS = 111,    /**< the history precision: 64 (double precision only), 32 or 16 bits per element of
                                         the correction pairs S and Y; default: that of x. 32 bits are a float, 16 a
                                         bfloat16. d and y are rounded when they are stored, x moves by the rounded d,
                                         and all inner products are of the rounded pairs, so that the matrix B of the
                                         model is positive definite; sums are double. Fewer bits reduce the memory
                                         traffic of an iteration; 32 need no more evaluations, 16 a few per cent more
                                         (docs/memory.md). If they are fewer than those of x, the workspace has 2m + 2
                                         vectors of this precision and 4 of that of x, 2 without ROBUST.
                                         Both have the exponent range of float: a pair is left out if a change of g
                                         exceeds 3.4e38, or if y vanishes because all changes are below 1e-45 (16 bits:
                                         1e-40). Elements of a step are limited to 3.4e38, and elements as small as that
                                         become 0. Scale x and f so that this does not matter; otherwise the solve may
                                         find no lower f. Before the first call, and not after a warm start that keeps
                                         pairs of another precision */
    CUDA_OPT_INITIAL_HESSIAN = 112, /**< CUDA_OPT_INITIAL_HESSIAN_SCALAR (default), _DIAGONAL or _LEARNED: the initial
                                         approximation B0 of the Hessian. Before the first call of cuda_opt_solve() */
    CUDA_OPT_METRIC = CUDA_OPT_INITIAL_HESSIAN, /**< former name of CUDA_OPT_INITIAL_HESSIAN */
    CUDA_OPT_PRODUCT_BITS = 113,    /**< 64 or 32; default 64: the precision of the inner products of the correction
                                         pairs. 32 allows single precision where it is faster: with
                                         CUDA_OPT_HISTORY_BITS 16 on CUDA and m <= 22, where tensor cores form the
                                         products of bfloat16 exactly. Single-precision sums over 128 variables (256 if
                                         x is float) are then added in double. Inner products stay double where single
                                         precision would overflow or underflow, beyond the first breakpoint, and with a
                                         diagonal initial Hessian. So do the slopes of the line search and all other
                                         sums (docs/memory.md) */
    CUDA_OPT_DIAGONAL_EVERY = 115,  /**< >= 0; default 1: number of iterations for which a supplied diagonal D is used;
                                         0: all of the solve. The array must not change during that time. With 1,
                                         H0 = D; otherwise H0 = D s'y / y'Dy (docs/metric.md) */
    CUDA_OPT_F_PART = 114,          /**< how a rank's caller supplies f (cuda_opt/ranks.h). Before the first call */
    CUDA_OPT_TIMED = 116,           /**< 0 or 1; default 1. 0: do not measure SOLVER_SECONDS, which takes about 4 us per
                                         call on CUDA. Before the first call */
    CUDA_OPT_NOISE_AUTO = 117,      /**< 0 or 1; default 0. 1: with ROBUST, the first line search that fails is followed
                                         by 8 evaluations close to each other, from which the noise of f is estimated
                                         (CUDA_OPT_NOISE_ESTIMATE). Not in a batch (docs/noise.md) */
    /* of a search (cuda_opt_create_search()), before its first call; it also has MAX_ITERATIONS, MAX_EVALUATIONS,
       THREADS, MAX_SECONDS, F_TARGET, ITERATIONS, EVALUATIONS, F, DIMENSION, STOP_TEST and WORKSPACE_BYTES */
    CUDA_OPT_SEARCH_SEED = 120,     /**< >= 0; default 0: the seed of the random numbers */
    CUDA_OPT_AT_SMALLEST_STEP = 121, /**< what a walk does when its step has become the smallest one. 0, the default: it
                                          continues with the first step; 1: it ends; 2: it starts again from a new
                                          random point */
    CUDA_OPT_HALVINGS = 122,        /**< 1 to 1000; default 16: the smallest step is Delta_0 / 2^halvings */
    CUDA_OPT_ROUND_ITERATIONS = 123, /**< 0 to 2^62 - 1; default 0: never. After each round of this many iterations all
                                          walks start again from new random points, with the first step; the best point
                                          of each walk is kept. Not with AT_SMALLEST_STEP 1 */

    /* ---- real settings: cuda_opt_set_real, cuda_opt_get_real ---- */
    CUDA_OPT_EPS = 200,    /**< >= 0; default 0: off. Converged when ||P g||_2 < eps * max(1, ||x||_2), VA15's test.
                                It depends on the units of x and f. It is not applied at an iterate whose line search
                                used MAXFEV evaluations: if f has no minimum, ||x|| grows, and the test would hold only
                                because x is large */
    CUDA_OPT_PGTOL = 201,  /**< >= 0; default 1e-5. Converged when ||P g||_inf <= pgtol; 0: only if P g = 0. SciPy's
                                gtol */
    CUDA_OPT_FACTR = 202,  /**< >= 0; default 1e7; 0: off. Converged when
                                f_k - f_{k+1} <= factr * 2.22e-16 * max(|f_k|, |f_{k+1}|, 1). factr is SciPy's
                                ftol / 2.22e-16. With ROBUST the test holds only if f has not risen, the step was not a
                                first one along -g, and the condition of RELATIVE_GTOL holds as well */
    CUDA_OPT_F_TARGET = 203, /**< default -Inf: off. Converged when f <= target */
    CUDA_OPT_GTOL = 204,   /**< 1e-4 < gtol < 1; default 0.9. The line search's curvature condition
                                |phi'(t)| <= gtol * |phi'(0)|; with CUDA_OPT_INITIAL_HESSIAN_LEARNED it is
                                phi'(t) >= gtol * phi'(0). Warning: this is not SciPy's gtol, which is PGTOL */
    CUDA_OPT_FTOL = 205,   /**< 0 <= ftol < 1; default 1e-4. The line search's sufficient decrease condition
                                phi(t) <= phi(0) + ftol * t * phi'(0). Warning: this is not SciPy's ftol, which is
                                FACTR * 2.22e-16 */
    CUDA_OPT_XTOL = 206,   /**< >= 0; default 0.1. The line search ends when the relative width of its interval is below
                                this */
    CUDA_OPT_STPMIN = 207, /**< 0 to the present stpmax; default 1e-20. Smallest step of a line search. In a line search
                                along -g with an empty history the unit is the first step if that is below 1. A first
                                step may be smaller, and so may a step that is reduced because f is undefined */
    CUDA_OPT_STPMAX = 208, /**< > 0; default 1e20. Largest step of a line search; bounds may require a smaller one */
    CUDA_OPT_MAX_SECONDS = 209, /**< >= 0; default 0: no limit. Wall time since the first call, tested in each call, and
                                     on CUDA also while a call waits for the stream */
    CUDA_OPT_RELATIVE_GTOL = 210, /**< >= 0; default 5e-4. With ROBUST, FACTR ends a solve only if the 2-norm of the
                                       vector with the elements x_i (P g)_i is at most
                                       max(relative_gtol, 10 sqrt(factr * 2.22e-16)) * max(|f|, 1). Otherwise the solve
                                       restarts along -g with an empty history. It then ends by FACTR if f has fallen by
                                       at most 1e-4 * max(|f|, 1) since the restart, in five iterations or more.
                                       Infinity: without this condition */
    CUDA_OPT_ROUNDING = 211,      /**< >= 0; default 100; 0: off. With ROBUST, a solve that finds no lower f converges
                                       if the fall of f that the model predicts is at most the bound of FACTR or at most
                                       rounding * (u_f |f| + u_x ||x||_2 ||P g||_2). The unit roundoffs u_f and u_x are
                                       1.1e-16. u_f is 6.0e-8 if all values of f so far are single-precision numbers,
                                       u_x if x has single precision */
    CUDA_OPT_F_UNBOUNDED = 212,   /**< default -1e300: the solve ends with UNBOUNDED if f is at or below this. -Inf: no
                                       solve ends with UNBOUNDED */

    CUDA_OPT_NOISE = 213,         /**< 0 <= noise < 1; default 0. f has errors of up to NOISE_ABS + NOISE |f|, because
                                       it comes from an iterative solver, random samples or single precision. With
                                       ROBUST the line search then accepts steps by their slopes where f cannot decide,
                                       and the solve converges, with x of the least ||P g||_inf, when neither f nor
                                       ||P g||_inf has fallen beyond the noise in 200 evaluations (docs/noise.md) */
    CUDA_OPT_NOISE_ABS = 214,     /**< >= 0; default 0: the part of the noise level in the units of f */

    /* ---- integer results: cuda_opt_get_int ---- */
    CUDA_OPT_ITERATIONS = 300,      /**< accepted iterates after the start */
    CUDA_OPT_EVALUATIONS = 301,     /**< evaluations of f and g that were requested and supplied */
    CUDA_OPT_FREE_COUNT = 302,      /**< number of variables with l_i < x_i < u_i */
    CUDA_OPT_LOWER_COUNT = 303,     /**< number of variables with x_i = l_i, also if l_i = u_i */
    CUDA_OPT_UPPER_COUNT = 304,     /**< number of variables with x_i = u_i > l_i */
    CUDA_OPT_SKIPPED_UPDATES = 305, /**< pairs left out because y's <= 2.22e-16 * |g's| */
    CUDA_OPT_CAUCHY_SEGMENTS = 306, /**< segments of the projected path that were searched, in all iterations */
    CUDA_OPT_LINE_SEARCH_INFO = 307, /**< the manual's info of the last line search: 0 improper input, 1 both conditions
                                          hold, 2 interval below xtol, 3 maxfev reached, 4 step at stpmin, 5 step at
                                          stpmax, 6 rounding errors prevent progress */
    CUDA_OPT_REFRESHES = 308,       /**< how often the history was dropped after a breakdown */
    CUDA_OPT_CUTS = 309,            /**< reductions of a step because f or g was not finite */
    CUDA_OPT_CAUCHY_CROSSINGS = 310, /**< iterations whose generalized Cauchy point lies beyond the first breakpoint */
    CUDA_OPT_BREAKPOINTS_CROSSED = 311, /**< breakpoints before the generalized Cauchy points, in all iterations
                                             except those without pairs */
    CUDA_OPT_WORKSPACE_BYTES = 312, /**< memory that the handle has allocated in its memory space: at most 2m + 9
                                         vectors of n elements plus a constant that does not depend on n */
    CUDA_OPT_STOP_TEST = 313,       /**< after CONVERGED: the key of the test that holds (EPS, PGTOL, FACTR,
                                         F_TARGET, ROUNDING, NOISE), otherwise 0 */
    CUDA_OPT_PAIRS = 314,           /**< correction pairs stored, 0 to m */
    CUDA_OPT_START_PROJECTED = 315, /**< elements of the start that were moved into the box */
    CUDA_OPT_DIMENSION = 316,       /**< n */
    CUDA_OPT_HISTORY_SIZE = 317,    /**< m, the largest number of correction pairs */
    CUDA_OPT_MEMORY = CUDA_OPT_HISTORY_SIZE, /**< former name of CUDA_OPT_HISTORY_SIZE */
    CUDA_OPT_PRECISION = 318,       /**< 64 or 32: bits of an element of x */
    CUDA_OPT_SUBSPACE_TRUNCATIONS = 319, /**< iterations whose projected subspace step was truncated because it was no
                                              descent direction, or hardly one with a learned diagonal (Morales, Nocedal
                                              2011) */
    /* of the last direction whose first trial point was evaluated: */
    CUDA_OPT_CAUCHY_FREE_COUNT = 320, /**< number of variables that are free at the generalized Cauchy point */
    CUDA_OPT_CAUCHY_BREAKPOINTS = 321, /**< breakpoints before that point, also if there are no pairs */
    CUDA_OPT_SUBSPACE_PROJECTED = 322, /**< variables at which the subspace minimiser was outside the box */
    /* of a search: */
    CUDA_OPT_BATCH = 340,        /**< number of points to evaluate now; 0 if no evaluation is requested */
    CUDA_OPT_WALKS = 341,        /**< number of walks */
    CUDA_OPT_ACTIVE_WALKS = 342, /**< number of walks that have not ended */
    CUDA_OPT_BEST_WALK = 343,    /**< the walk that found CUDA_OPT_F, the lowest number if there are several; -1 before
                                      the start */

    /* ---- real results: cuda_opt_get_real ---- */
    CUDA_OPT_F = 400,              /**< f at the last accepted iterate */
    CUDA_OPT_PG_NORM2 = 401,       /**< ||P g||_2 at that iterate */
    CUDA_OPT_PG_NORM_INF = 402,    /**< ||P g||_inf at that iterate */
    CUDA_OPT_X_NORM2 = 403,        /**< ||x||_2 at that iterate */
    CUDA_OPT_STEP = 404,           /**< the last accepted step length */
    CUDA_OPT_THETA = 405,          /**< theta = y'y / s'y, the scale of B0; 1 / theta is gamma in Nocedal and Wright */
    CUDA_OPT_SOLVER_SECONDS = 406, /**< seconds spent in the solver. HOST: wall time of the calls. CUDA: time on the
                                        stream between the first and the last command of each call, for ranks with the
                                        exchanges. The first call of a handle, which allocates, does not count. 0
                                        without CUDA_OPT_TIMED */
    CUDA_OPT_CAUCHY_T = 407,       /**< t*, the path parameter of the last generalized Cauchy point */
    CUDA_OPT_CAUCHY_T_FIRST = 408, /**< max(0, min(t_1, t_1*)), its one-breakpoint approximation (APPROXIMATE_CAUCHY) */
    CUDA_OPT_DIRECTION_NORM2 = 409, /**< ||d||_2 of the last direction whose first trial point was evaluated */
    CUDA_OPT_SLOPE_START = 410,    /**< phi'(0) = g'd of the line search along that direction */
    CUDA_OPT_SLOPE = 411,          /**< phi' at the last trial point evaluated */
    CUDA_OPT_NOISE_ESTIMATE = 412  /**< noise level of f that CUDA_OPT_NOISE_AUTO has estimated; 0: none */
};
/* clang-format on */

/** Create a handle for n variables and m correction pairs (3 to 20 are usual) in double precision.
 *  @param out      receives the handle, also on failure: cuda_opt_message() then explains the failure, and the handle
 *                  has to be destroyed. *out is NULL if there was no memory for the handle itself
 *  @param n        number of variables, >= 1
 *  @param m        number of correction pairs, >= 1. The workspace has 2m + 5 vectors of n elements, 2m + 3 if
 *                  CUDA_OPT_ROBUST is 0, and one more with CUDA_OPT_INITIAL_HESSIAN_LEARNED. The inner products of the
 *                  pairs take about 512 m^2 bytes more; an m for which they take more than 4e9 bytes is refused as
 *                  out of memory. On the host their partial sums take up to about 5000 m^2 bytes
 *  @param backend  CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST
 *  @return 0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_BACKEND_UNAVAILABLE, CUDA_OPT_OUT_OF_MEMORY or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_create(cuda_opt **out, int64_t n, int32_t m, int32_t backend);
/** As cuda_opt_create(), with x, g, the bounds and the history in single precision. f stays double, and so do all
 *  sums and decisions. */
CUDA_OPT_API int cuda_opt_create_f32(cuda_opt **out, int64_t n, int32_t m, int32_t backend);
/** Free the handle and all memory that it owns, and set *s to NULL. NULL and a pointer to NULL are allowed. A call from
 *  within the function of cuda_opt_set_log() is refused with a message because the handle is in use; *s is unchanged.
 */
CUDA_OPT_API void cuda_opt_destroy(cuda_opt **s);
/** Set bounds l <= x <= u. The arrays remain yours; they are read in every iteration and must not change until the
 *  solve ends. Call this before the first call of cuda_opt_solve(), which checks that l_i <= u_i and that no bound is
 *  NaN.
 *  @param lower  n values in the memory space of x; -INFINITY: no bound. NULL: that of cuda_opt_set_uniform_bounds()
 *  @param upper  n values in the memory space of x; +INFINITY: no bound. NULL: that of cuda_opt_set_uniform_bounds()
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_bounds(cuda_opt *s, const double *lower, const double *upper);
/** As cuda_opt_set_bounds(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_set_bounds_f32(cuda_opt *s, const float *lower, const float *upper);
/** Set bounds that are the same for all variables, which need no arrays: x >= 0 is (0, INFINITY). A bound of this
 *  function is used on its side unless cuda_opt_set_bounds() has set an array there, before or after. Call this before
 *  the first call of cuda_opt_solve(). Not for a search.
 *  @param lower  -INFINITY, the default: no lower bound
 *  @param upper  +INFINITY, the default: no upper bound
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for NaN and for bounds that no finite x satisfies (the former bounds remain);
 *          CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_uniform_bounds(cuda_opt *s, double lower, double upper);
/** As cuda_opt_set_uniform_bounds(), for a handle of cuda_opt_create_f32(). The bounds are the floats themselves: 0.1
 *  is converted to 0.1f when it is passed, and x satisfies the bound 0.1f exactly. */
CUDA_OPT_API int cuda_opt_set_uniform_bounds_f32(cuda_opt *s, float lower, float upper);
/** Set typical sizes of the variables: s_i > 0 is about how large x_i, or a change of it that matters, is. The solve
 *  is then that of z = x / s, with the bounds l / s and u / s and the gradient s g, while x, f, g, the bounds, a
 *  diagonal and the log remain in your units. The first step, the stopping tests, CUDA_OPT_STPMAX and the results
 *  that are norms, steps and slopes are in units of z: CUDA_OPT_PGTOL bounds the largest |s_i (P g)_i|. Every x lies
 *  in the box exactly, and is at a bound where z is. The start is rounded once, as x = s z. After the end, g is your
 *  g at x, or differs from it by a rounding error where the best iterate was restored. With powers of two as scales
 *  nothing is rounded. The workspace has 2 n-vectors more, one for each side of the box that has an array (or a
 *  finite number other than 0 while scales is an array), and one for your diagonal. An evaluation moves 6 n-vectors
 *  more, and 2 for each such side. On a rank: the scales of the handle's part; other ranks may have none. Not for a
 *  search or a batch. The array belongs to you, is read at every call and must not change until the solve ends. Call
 *  this before the first call of cuda_opt_solve(), which checks it. A checkpoint can be loaded with the same scales
 *  only, and the scales cannot change while a warm start keeps pairs.
 *  @param scales  n values, in the memory space of x; NULL: what cuda_opt_set_uniform_scale() has set
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_scales(cuda_opt *s, const double *scales);
/** As cuda_opt_set_scales(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_set_scales_f32(cuda_opt *s, const float *scales);
/** Set one typical size for all variables, in either precision, unless cuda_opt_set_scales() has set an array.
 *  @param scale  positive and finite; 1, the default: no scaling
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for another number (the former one remains); CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_uniform_scale(cuda_opt *s, double scale);
/** Set the array that you fill at CUDA_OPT_SUPPLY_DIAGONAL. The library does not write to it.
 *  @param diagonal  n values in the memory space of x
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_diagonal(cuda_opt *s, const double *diagonal);
/** As cuda_opt_set_diagonal(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_set_diagonal_f32(cuda_opt *s, const float *diagonal);
/** The diagonal of H0, the inverse of B0, of the newest model: the learned diagonal, if it is in use with
 *  CUDA_OPT_INITIAL_HESSIAN_LEARNED; the diagonal that you supply; otherwise 1 / theta for all variables. May be called
 *  once a solve has begun, and after its end.
 *  @param diagonal  receives n values in host memory; for a rank, those of its part
 *  @return 0; CUDA_OPT_MISUSE if no solve has begun; CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_get_diagonal(cuda_opt *s, double *diagonal);
/** As cuda_opt_get_diagonal(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_get_diagonal_f32(cuda_opt *s, float *diagonal);
/** Set the CUDA stream of all device work. Call this before the first call of cuda_opt_solve(). The stream has to
 *  outlive the handle; call cuda_opt_synchronize() before you replace it by another. It has no effect on the host
 *  backend.
 *  @param stream  a cudaStream_t; NULL: the legacy default stream
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_stream(cuda_opt *s, void *stream);
/** Set the function that receives the lines of the log (CUDA_OPT_IPRINT_FREQUENCY >= 0). It may read results and
 *  settings, change settings, and replace the function of the log; other calls with the handle are refused.
 *  @param write_line  receives one line without its newline, valid during the call; NULL: no log
 *  @param user        is passed to write_line
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_log(cuda_opt *s, void (*write_line)(void *user, const char *line), void *user);

/** Continue the solve until it needs a task of yours or has ended; see the beginning of this file. All arrays are in
 *  the handle's memory space (device memory on CUDA).
 *  @param x  n values. In the first call: the start, which is moved into the box. The library writes to it in later
 *            calls, and you must not
 *  @param f  one value
 *  @param g  n values
 *  The three pointers must be the same in each call of one solve. The arrays must not overlap each other, the bounds or
 *  the diagonal.
 *  @return a task > 0, CUDA_OPT_CONVERGED, or a negative code. After a code <= 0, call cuda_opt_reset() or
 *          cuda_opt_warm_start() before the next solve */
CUDA_OPT_API int cuda_opt_solve(cuda_opt *s, double *x, double *f, double *g);
/** As cuda_opt_solve(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_solve_f32(cuda_opt *s, float *x, double *f, float *g);
/** Drop the history and the counts, and keep the settings, the bounds and the workspace. The next call of
 *  cuda_opt_solve() begins a new solve.
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_reset(cuda_opt *s);
/** As cuda_opt_reset(), but the correction pairs are kept and are the history of the next solve. It may have other
 *  bounds, another start, other arrays, and an f that has changed a little: in a sequence of such problems this reduces
 *  the evaluations of each. A learned diagonal is kept as well if CUDA_OPT_INITIAL_HESSIAN does not change. After
 *  cuda_opt_load() the pairs of the saved solve are kept.
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_warm_start(cuda_opt *s);
/** Write a checkpoint, with which the solve can be continued later or on another machine, on the host or on CUDA. It
 * has x, f and g, the correction pairs, the settings and the counts. Allowed between any two calls of cuda_opt_solve(),
 *  before or after you have executed the task, and after the end of a solve.
 *  @param buffer  host memory; NULL: only *bytes is set
 *  @param bytes   in: the size of the buffer in bytes; out: the size of the checkpoint. It grows with the number of
 *                 stored pairs to at most 2m + 8 vectors of n elements and about 40 m^2 + 4000 bytes
 *  @return 0; CUDA_OPT_IMPROPER_INPUT if the buffer is too small; CUDA_OPT_MISUSE if there is no solve to save;
 *          CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_save(cuda_opt *s, void *buffer, int64_t *bytes);
/** Continue from a checkpoint, instead of the first call of cuda_opt_solve(). This fills x, f and g. The next call of
 *  cuda_opt_solve(), with these arrays, returns the task that was current at the save. The solve then continues as if
 *  it had not been interrupted; on the same backend its results have the same bits. Before this call, set the bounds,
 *  the diagonal, the stream and the log as they were. The settings become those of the save, except CUDA_OPT_THREADS
 *  and CUDA_OPT_TIMED, and may be changed afterwards. The handle must have been created with the same n, m and
 *  precision.
 *  A CRC-64 detects damage, but forged bytes may contain any numbers: load only checkpoints that you trust.
 *  @param buffer  the bytes that cuda_opt_save() wrote, in host memory
 *  @param bytes   their number
 *  @param x  receives n values, in the memory space of cuda_opt_solve()
 *  @param f  receives one value, in the same memory space
 *  @param g  receives n values, in the same memory space
 *  @return 0; CUDA_OPT_IMPROPER_INPUT if the bytes are not a complete, undamaged checkpoint of this n, m and precision,
 *          if x of the checkpoint is outside the bounds, or if that solve had bounds and this handle has none;
 *          CUDA_OPT_MISUSE after the first call of cuda_opt_solve(); otherwise as cuda_opt_solve(). The first two codes
 *          change nothing. After any other failure the handle is as after cuda_opt_reset(), and x, f and g may have
 *          changed */
CUDA_OPT_API int cuda_opt_load(cuda_opt *s, const void *buffer, int64_t bytes, double *x, double *f, double *g);
/** As cuda_opt_load(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_load_f32(cuda_opt *s, const void *buffer, int64_t bytes, float *x, double *f, float *g);
/** Request that the solve end with CUDA_OPT_STOPPED at its next call, which still reads f and g, or values, if they
 * were requested; on CUDA also during a call that waits for the stream. Safe from any thread and from a signal handler.
 */
CUDA_OPT_API int cuda_opt_request_stop(cuda_opt *s);

/** Change an integer setting.
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key or a value out of range (the former value remains);
 *          CUDA_OPT_MISUSE for NULL */
CUDA_OPT_API int cuda_opt_set_int(cuda_opt *s, int32_t key, int64_t value);
/** Change a real setting; returns as cuda_opt_set_int(). */
CUDA_OPT_API int cuda_opt_set_real(cuda_opt *s, int32_t key, double value);
/** Read an integer setting or result.
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key; CUDA_OPT_MISUSE for NULL. On failure *value is
 *          unchanged */
CUDA_OPT_API int cuda_opt_get_int(const cuda_opt *s, int32_t key, int64_t *value);
/** Read a real setting or result; returns as cuda_opt_get_int(). */
CUDA_OPT_API int cuda_opt_get_real(const cuda_opt *s, int32_t key, double *value);
/** One English sentence, with numbers, about the last call that returned a task, ended a solve or failed. Never NULL.
 *  Valid until the next call with this handle. */
CUDA_OPT_API const char *cuda_opt_message(const cuda_opt *s);
/** CUDA_OPT_BACKEND_CUDA or CUDA_OPT_BACKEND_HOST; a negative code for NULL or a failed handle. */
CUDA_OPT_API int cuda_opt_backend(const cuda_opt *s);
/** "major.minor.patch". */
CUDA_OPT_API const char *cuda_opt_version(void);
/** The name of a task or code, for example "CUDA_OPT_CONVERGED"; "unknown" for other numbers. */
CUDA_OPT_API const char *cuda_opt_task_name(int task);

/* Multi-walk pattern search (docs/search.md), for a function without a gradient in a finite box: `walks` independent
 * searches from random points. It works by reverse communication, with one batch of points per call. The handle is a
 * cuda_opt; the settings, results and helpers of this header apply to it. CUDA_OPT_F is the best value so far. The
 * search for a function that is written as a functor is in cuda_opt/search.cuh. A search ends with CUDA_OPT_CONVERGED
 * (all walks have ended, or CUDA_OPT_F_TARGET), a limit, STOPPED, or NOT_FINITE if every value was NaN or Inf. */
/** Create a handle for a search.
 *  @param out      as for cuda_opt_create()
 *  @param n        number of variables, 1 to 2^31 - 1
 *  @param walks    number of walks, >= 1. The workspace has n * walks values, twice as many if walks start again from
 *                  new points, at the smallest step or in rounds, and 40 to 50 bytes per walk
 *  @param backend  CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST: the memory space of points and values
 *  @return as cuda_opt_create(). Then call cuda_opt_set_bounds() with finite bounds, which are copied */
CUDA_OPT_API int cuda_opt_create_search(cuda_opt **out, int64_t n, int64_t walks, int32_t backend);
/** Set the first step Delta_0 of each coordinate, before the first call of cuda_opt_search_solve().
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
/** Read which walk has a given place in the order of best values. Of equal values the lower number comes first.
 *  @param rank  the place: 0 for the best walk, walks - 1 for the worst
 *  @param walk  receives the number of the walk, for cuda_opt_search_walk(); in host memory
 *  @return as cuda_opt_search_walk() */
CUDA_OPT_API int cuda_opt_search_ranked(cuda_opt *s, int64_t rank, int64_t *walk);

/* A check of the gradient by differences of f, before a solve with the same handle (docs/gradient_check.md):
 *
 *     while ((task = cuda_opt_check_gradient(s, x, f, g, 0, 1)) == CUDA_OPT_EVALUATE_FG) evaluate(x, f, g);
 *     puts(cuda_opt_message(s));
 */
/* clang-format off */
/** What a check of the gradient has found. */
enum {
    CUDA_OPT_GRADIENT_CONSISTENT = 0,       /**< g agrees with differences of f */
    CUDA_OPT_GRADIENT_WRONG_SIGN = 1,       /**< g is minus the gradient */
    CUDA_OPT_GRADIENT_WRONG_FACTOR = 2,     /**< g is a number times the gradient */
    CUDA_OPT_GRADIENT_WRONG_COMPONENT = 3,  /**< g differs from the gradient otherwise, e.g. in one component */
    CUDA_OPT_GRADIENT_OF_ANOTHER_POINT = 4, /**< g depends on the point before, or is added to and not set */
    CUDA_OPT_GRADIENT_SINGLE_PRECISION = 5, /**< g has numbers of single precision alone, where x and f are double */
    CUDA_OPT_GRADIENT_KINK = 6,             /**< f has a kink at x: the differences to both sides disagree */
    CUDA_OPT_GRADIENT_UNDECIDED = 7         /**< differences of f do not settle, or f is not finite near x */
};
/* clang-format on */
/** One step of the protocol. Differences are formed along -g and along two random directions, each to both sides at ten
 *  steps of 0.1 to 1e-10 of the variables' sizes (those of cuda_opt_set_scales(), else max(1, |x_i|)), six in single
 *  precision; the step is the one where neighbouring differences agree best. About 65 evaluations, and 4 log2(n) more
 *  to find a component. Two n-vectors in the handle's memory space, freed at the end. All points are in the box; at a
 *  bound the check is made a thousandth of the size inside of it. Before the first call of cuda_opt_solve(), and not
 *  for ranks. cuda_opt_reset() ends a check that is under way.
 *  @param x  n values: the point, which is as it was at the end. In between it is the library's
 *  @param f  as for cuda_opt_solve()
 *  @param g  as for cuda_opt_solve(). The three have to be the same at each call
 *  @param seed            of the random directions
 *  @param find_component  not 0: where g is wrong in some components, the worst one that halving the variables finds
 *  @return CUDA_OPT_EVALUATE_FG; 0 when the check has ended, whose finding is cuda_opt_message() and
 *          cuda_opt_check_result(); CUDA_OPT_NOT_FINITE where f or g is not finite at x; CUDA_OPT_IMPROPER_INPUT where
 *          x is not, bounds cross, or a scale is not positive and finite; CUDA_OPT_MISUSE, CUDA_OPT_OUT_OF_MEMORY,
 *          CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_check_gradient(cuda_opt *s, double *x, double *f, double *g, int64_t seed,
                                         int32_t find_component);
/** As cuda_opt_check_gradient(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_check_gradient_f32(cuda_opt *s, float *x, double *f, float *g, int64_t seed,
                                             int32_t find_component);
/** The finding of the last check that has ended. Each pointer may be NULL.
 *  @param verdict     receives one of CUDA_OPT_GRADIENT_*
 *  @param component   receives the worst component, counted from 0; -1 where none was looked for or found
 *  @param supplied    receives that component of g; without one, g'd along a direction
 *  @param difference  receives what differences of f give for it
 *  @param error       receives what the error of the difference is at most, about
 *  @return 0; CUDA_OPT_MISUSE where no check has ended */
CUDA_OPT_API int cuda_opt_check_result(const cuda_opt *s, int32_t *verdict, int64_t *component, double *supplied,
                                       double *difference, double *error);

/* Helpers with which one program runs on both backends. You own the memory; it does not count as workspace. */
/** Allocate `bytes` bytes in the handle's memory space, aligned for any vector type.
 *  @param out  receives the address
 *  @return 0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_OUT_OF_MEMORY or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_alloc(cuda_opt *s, void **out, int64_t bytes);
/** Free memory that cuda_opt_alloc() has returned; NULL is allowed. */
CUDA_OPT_API int cuda_opt_free(cuda_opt *s, void *pointer);
/** Copy `bytes` bytes from host memory into the handle's memory space, in the order of the stream. The copy is complete
 *  on return. */
CUDA_OPT_API int cuda_opt_copy_in(cuda_opt *s, void *to, const void *from_host, int64_t bytes);
/** Copy `bytes` bytes from the handle's memory space to host memory, in the order of the stream. The copy is complete
 *  on return. */
CUDA_OPT_API int cuda_opt_copy_out(cuda_opt *s, void *to_host, const void *from, int64_t bytes);
/** Wait until all work on the handle's stream is complete. */
CUDA_OPT_API int cuda_opt_synchronize(cuda_opt *s);

#ifdef __cplusplus
}
#endif
#endif
