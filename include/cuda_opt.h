/* cuda_opt: minimisation of smooth functions of very many variables, with or without bounds,
 * on an NVIDIA GPU or on the host, by L-BFGS-B with reverse communication.
 *
 *     minimise f(x) subject to l <= x <= u,   x in R^n,   n from 1 to 10^9 and beyond
 *
 * You own the loop. cuda_opt_solve() never calls your code: it returns a task, you do it, you call again.
 * x, f and g stay in the memory space of the backend: device memory on CUDA, host memory on HOST.
 * The whole protocol, for f(x) = sum (x_i - i)^2 / 2 in the box [0, 3]^n on the host:
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
 *  - After every task <= 0 that follows a first evaluation, x, f and g hold the best iterate accepted so far: the
 *    one with the lowest f. After CONVERGED by EPS or PGTOL it is the one at which the test holds; its f is the lowest
 *    but for rounding errors, at most 2.3e-11 |f| higher.
 *  - Every x you are asked to evaluate is finite and lies in the box, exactly: l <= x <= u holds without a rounding
 *    error.
 *  - f = NaN or Inf, or any such g_i, means that f is undefined at x: the step is then shortened (CUDA_OPT_MAX_CUTS).
 *  - The same calls give the same bits, on any number of host threads, and run after run on the same GPU with arrays
 *    of the same alignment to 16 bytes.
 *  - The library prints nothing, never exits and keeps no global state. Two handles may be used by two threads;
 *    one handle by one thread at a time, but for cuda_opt_request_stop(), which any thread may call.
 *  - No memory is allocated after the first call of cuda_opt_solve(), as long as the thread that calls is the same.
 *  - Threads that the host backend asks for and does not get, fork() and dlclose() end or change no solve on it;
 *    docs/backends.md says what holds there, and what does not.
 *  - Nothing is thrown, whatever fails.
 *
 * CUDA streams. All device work of a handle runs on its stream (cuda_opt_set_stream; by default the legacy
 * default stream). When cuda_opt_solve() asks for an evaluation, the kernels that write x may still be running:
 * evaluate on the same stream, or call cuda_opt_synchronize() first. Likewise f and g must be written on that
 * stream, or be complete, when cuda_opt_solve() is called again.
 * A call waits for the stream where it needs its results, your kernels' included. cuda_opt_request_stop() and
 * CUDA_OPT_MAX_SECONDS end that wait, some 0.3 s later at most, with STOPPED or TIME_LIMIT; what is on the stream goes
 * on, and x, f and g hold the best iterate when it has come to its end, as after any code <= 0: cuda_opt_synchronize()
 * waits for that. Not ended are the first call's allocations and what is called to wait: the helpers below, results
 * that are asked for, cuda_opt_destroy().
 *
 * CUDA devices. A handle works on the device that was current when it was made, whichever is current later. Its arrays
 * lie in that device's memory, or in managed memory. Memory of another device is refused, also where peer access makes
 * it reachable: by the call that names the array, or the first of the solve.
 *
 * Method: Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; Morales, Nocedal, ACM TOMS 38 (2011) 7;
 * line search: More, Thuente, ACM TOMS 20 (1994) 286. See docs/algorithm.md. */
#ifndef CUDA_OPT_H
#define CUDA_OPT_H

#include <stdint.h>

#if defined(__GNUC__)
/** What the library exports. */
#define CUDA_OPT_API __attribute__((visibility("default")))
#else
#define CUDA_OPT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_OPT_VERSION_MAJOR 0 /**< of this header; cuda_opt_version() has the library's */
#define CUDA_OPT_VERSION_MINOR 2 /**< likewise */
#define CUDA_OPT_VERSION_PATCH 0 /**< likewise */

/** One minimisation: its settings, its history, its workspace. */
typedef struct cuda_opt cuda_opt;

/** Where x, f, g, the bounds and the history live, and what computes on them. */
enum {
    CUDA_OPT_BACKEND_AUTO = 0, /**< CUDA where the library was built with it and a device is there, else HOST */
    CUDA_OPT_BACKEND_CUDA = 1, /**< the calling thread's current CUDA device at the time of cuda_opt_create() */
    CUDA_OPT_BACKEND_HOST = 2  /**< the CPU, with CUDA_OPT_THREADS threads */
};

/* clang-format off */
/** What cuda_opt_solve() returns, and what every other call returns on failure. Numbers are never reused. */
enum {
    /* > 0: do this, then call cuda_opt_solve() again */
    CUDA_OPT_EVALUATE_FG = 1,     /**< put f(x) into *f and its gradient into g; leave x alone */
    CUDA_OPT_SUPPLY_DIAGONAL = 2, /**< put the diagonal of H0, the approximate inverse Hessian at x, into the array
                                       given to cuda_opt_set_diagonal(); f and g belong to x; leave x, f, g alone */
    CUDA_OPT_NEW_ITERATE = 3,     /**< x, f, g are a new accepted iterate; look at them, change nothing */
    CUDA_OPT_EVALUATE_BATCH = 4,  /**< cuda_opt_search_solve(): put f at each of CUDA_OPT_BATCH points into values */
    CUDA_OPT_EXCHANGE = 5,        /**< cuda_opt/ranks.h: gather on each rank what cuda_opt_gather() says */
    /* 0 */
    CUDA_OPT_CONVERGED = 0,       /**< a stopping test holds (CUDA_OPT_STOP_TEST says which); x, f, g: the solution */
    /* < 0: ended otherwise. x, f, g: the best iterate accepted, where there was a first evaluation */
    CUDA_OPT_LINE_SEARCH_FAILED = -1, /**< no lower f along a descent direction, even with an empty history, although
                                           the model expects f to fall by more than CUDA_OPT_ROUNDING allows for. Most
                                           often g is not the gradient of f, or f has errors larger than rounding
                                           errors; CUDA_OPT_LINE_SEARCH_INFO says how the last search ended */
    CUDA_OPT_BAD_DIAGONAL = -2,       /**< an element of the user's diagonal is not positive and finite */
    CUDA_OPT_IMPROPER_INPUT = -3,     /**< n, m, x, a bound or an option is out of its range; nothing was changed */
    CUDA_OPT_ITERATION_LIMIT = -10,   /**< CUDA_OPT_MAX_ITERATIONS reached */
    CUDA_OPT_EVALUATION_LIMIT = -11,  /**< CUDA_OPT_MAX_EVALUATIONS reached */
    CUDA_OPT_TIME_LIMIT = -12,        /**< CUDA_OPT_MAX_SECONDS passed since the first call */
    CUDA_OPT_NOT_FINITE = -20,    /**< f or g is NaN or Inf at the start, or after CUDA_OPT_MAX_CUTS cuts */
    CUDA_OPT_UNBOUNDED = -21,     /**< f seems to have no lower bound: it is at or below CUDA_OPT_F_UNBOUNDED, or, with
                                       CUDA_OPT_ROBUST, two line searches in succession saw it fall along an almost
                                       straight line, to steps of more than 10^6 times the first and distances of
                                       more than 10^6, in a direction along which the box is open */
    CUDA_OPT_CUDA_FAILURE = -30,  /**< a CUDA call failed; the message names it. x, f, g may be lost */
    CUDA_OPT_OUT_OF_MEMORY = -31, /**< the workspace does not fit; the message says how many bytes were asked for */
    CUDA_OPT_BACKEND_UNAVAILABLE = -32, /**< CUDA asked for, but no device is there or the library was built without */
    CUDA_OPT_EXCHANGE_FAILED = -33,   /**< cuda_opt_gather_failed() was called, or a packet arrived damaged */
    CUDA_OPT_MISUSE = -40,            /**< a NULL argument, a call out of order, the wrong precision or memory space */
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

/** Settings and results. Settings may be changed between any two calls of cuda_opt_solve(), unless noted; a line search
 *  under way may go on with its old ones. (P g)_i = x_i - min(u_i, max(l_i, x_i - g_i)), the projected gradient. */
enum {
    /* ---- integer settings: cuda_opt_set_int, cuda_opt_get_int ---- */
    CUDA_OPT_MAX_ITERATIONS = 100,  /**< >= 0; default 2000 (the manual's icall); 0: no limit */
    CUDA_OPT_MAX_EVALUATIONS = 101, /**< >= 0; default 0: no limit */
    CUDA_OPT_MAXFEV = 102,          /**< >= 1; default 20: evaluations within one line search, besides cuts and one to
                                         go back to the lowest point */
    CUDA_OPT_MAX_CUTS = 103,        /**< >= 0; default 30: cuts in a row because f or g is not finite */
    CUDA_OPT_DIAGCO = 104,          /**< 0 or 1; default 0. 1: ask for H0's diagonal. Before the first call of
                                         cuda_opt_solve(); needs cuda_opt_set_diagonal(). The manual's name for
                                         CUDA_OPT_INITIAL_HESSIAN = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL: setting one of
                                         the two changes the other */
    CUDA_OPT_APPROXIMATE_CAUCHY = 105, /**< 0 or 1; default 0: exact generalized Cauchy point. 1: stop at the first
                                            breakpoint, t = max(0, min(t_1, t_1*)) (Fei et al. 2014) */
    CUDA_OPT_REPORT_ITERATES = 106, /**< 0 or 1; default 0. 1: return CUDA_OPT_NEW_ITERATE after each iteration */
    CUDA_OPT_THREADS = 107,         /**< 0 to 4096; default 0: the environment's OMP_NUM_THREADS where that is positive,
                                         else as many as make it fastest of the processors that the process may
                                         use. Host backend only. Before the first call of cuda_opt_solve() */
    CUDA_OPT_IPRINT_FREQUENCY = 108, /**< the manual's iprint[0]: < 0 no log; 0 first and last iterate; k > 0
                                          iterates 1, k + 1, 2k + 1, ... and the last. Default -1. Lines go to the
                                          callback of cuda_opt_set_log() */
    CUDA_OPT_IPRINT_TYPE = 109,     /**< the manual's iprint[1], 0 to 3; default 0: a line an iteration; 1: and the
                                         first x and g; 2: and every x; 3: and every x and g (of each iterate logged) */
    CUDA_OPT_ROBUST = 110,          /**< 0 or 1; default 1: go on where version 3.0 of L-BFGS-B gives up. Where f
                                         differs by rounding errors alone, approximate Wolfe conditions accept a step by
                                         its slopes (Hager and Zhang 2005); an exhausted line search goes back to the
                                         lowest point that it saw; a memory that is dropped keeps its scale. Two vectors
                                         of n more. 0: version 3.0's path. Before the first call of cuda_opt_solve() */
    CUDA_OPT_HISTORY_BITS = 111,    /**< 64 (of double precision alone), 32 or 16; default: those of x. Of an element of
                                         the correction pairs' columns, S and Y: float has 32, bfloat16 16. d and y are
                                         rounded as they are stored, x moves by the rounded d, and every product is
                                         formed of the rounded columns, so that B is positive definite for what is used;
                                         sums stay double. Fewer bits make an iteration cheaper by their bytes; 32 cost
                                         no evaluations, 16 a few per cent (docs/memory.md). With fewer bits than x has,
                                         the workspace is 2m + 2 vectors of these bits and 4 of x's, 2 without ROBUST.
                                         Fewer than 64 have the range of float. Changes of g beyond 3.4e38 cannot be
                                         stored, and those below 1e-45 (16: 1e-40) vanish: such a pair is left out. Of a
                                         step, what is beyond 3.4e38 is cut, and what is as small vanishes: scale
                                         x and f so that it matters not, or no lower f may be found. Before the first
                                         call of cuda_opt_solve(), not while a warm start keeps pairs of other bits */
    CUDA_OPT_INITIAL_HESSIAN = 112, /**< CUDA_OPT_INITIAL_HESSIAN_SCALAR (default), _DIAGONAL or _LEARNED: the initial
                                         approximation B0 of the Hessian. Before the first call of cuda_opt_solve() */
    CUDA_OPT_METRIC = CUDA_OPT_INITIAL_HESSIAN, /**< former name of CUDA_OPT_INITIAL_HESSIAN */
    CUDA_OPT_PRODUCT_BITS = 113,    /**< 64 or 32; default 64: the precision in which inner products of the correction
                                         pairs are formed. 32 allows single precision where that is faster: with
                                         CUDA_OPT_HISTORY_BITS 16 on CUDA and m <= 22, on the matrix units made for
                                         bfloat16, whose products are exact; sums of 128 rows (256 of float) are then
                                         added in double. Not for products that would lose digits by overflow or
                                         underflow, beyond the first breakpoint, or with a diagonal: those stay double,
                                         as do the line search's slopes and all other sums (docs/memory.md) */
    CUDA_OPT_DIAGONAL_EVERY = 115,  /**< >= 0; default 1: iterations that a caller's diagonal D holds for; 0: all. So
                                         long its array stays as it is. 1: H0 = D, else D s'y / y'Dy (docs/metric.md) */
    CUDA_OPT_F_PART = 114,          /**< what a rank is given as f, before its first call: see cuda_opt/ranks.h */
    CUDA_OPT_TIMED = 116,           /**< default 1; 0, before the first call: no SOLVER_SECONDS (CUDA: 4 us a call) */
    /* of a search (cuda_opt_create_search()), before its first call; it also has MAX_ITERATIONS, MAX_EVALUATIONS,
       THREADS, MAX_SECONDS, F_TARGET, ITERATIONS, EVALUATIONS, F, DIMENSION, STOP_TEST and WORKSPACE_BYTES */
    CUDA_OPT_SEARCH_SEED = 120,     /**< >= 0; default 0: of the random numbers */
    CUDA_OPT_AT_SMALLEST_STEP = 121, /**< 0, 1 or 2: what a walk does then; default 0: it takes its first step again;
                                          1: it ends; 2: it starts again from a new random point */
    CUDA_OPT_HALVINGS = 122,        /**< 1 to 1000; default 16: the smallest step is Delta_0 / 2^halvings */
    CUDA_OPT_ROUND_ITERATIONS = 123, /**< 0 to 2^62 - 1; default 0: never. Rounds of so many iterations: then all walks
                                          start again from new random points, with the first step; each one's best is
                                          kept. Not with AT_SMALLEST_STEP 1 */

    /* ---- real settings: cuda_opt_set_real, cuda_opt_get_real ---- */
    CUDA_OPT_EPS = 200,    /**< >= 0; default 0: off. Converged when ||P g||_2 < eps * max(1, ||x||_2), VA15's test.
                                It depends on the units of x and f.
                                Not at an iterate that MAXFEV evaluations of a line search led to: on the way to a
                                minimum at infinity ||x|| grows, and the slope is what it was */
    CUDA_OPT_PGTOL = 201,  /**< >= 0; default 1e-5. Converged when ||P g||_inf <= pgtol; 0: only if P g = 0 */
    CUDA_OPT_FACTR = 202,  /**< >= 0; default 1e7; 0: off. Converged when
                                f_k - f_{k+1} <= factr * 2.22e-16 * max(|f_k|, |f_{k+1}|, 1). With ROBUST only if f has
                                not risen, the step was not a first one along -g, and RELATIVE_GTOL holds as well */
    CUDA_OPT_F_TARGET = 203, /**< default -Inf: off. Converged when f <= target */
    CUDA_OPT_GTOL = 204,   /**< 1e-4 < gtol < 1; default 0.9. Curvature condition |phi'(t)| <= gtol |phi'(0)|;
                                with CUDA_OPT_INITIAL_HESSIAN_LEARNED phi'(t) >= gtol phi'(0) alone */
    CUDA_OPT_FTOL = 205,   /**< 0 <= ftol < 1; default 1e-4. Sufficient decrease phi(t) <= phi(0) + ftol t phi'(0) */
    CUDA_OPT_XTOL = 206,   /**< >= 0; default 0.1. The line search ends when its interval's relative width is below */
    CUDA_OPT_STPMIN = 207, /**< 0 to the present stpmax; default 1e-20. Smallest step of a line search; along -g at a
                                start in units of the first, if below 1. A smaller first step is taken; cuts go below */
    CUDA_OPT_STPMAX = 208, /**< > 0; default 1e20. Largest step of a line search; bounds may demand a smaller one */
    CUDA_OPT_MAX_SECONDS = 209, /**< >= 0; default 0: no limit. Wall time since the first call, tested at each call, and
                                     on CUDA while a call waits for the stream */
    CUDA_OPT_RELATIVE_GTOL = 210, /**< >= 0; default 5e-4. With ROBUST, FACTR ends a solve if the 2-norm of the vector
                                       of x_i (P g)_i is at most the larger of this and 10 sqrt(factr * 2.22e-16),
                                       times max(|f|, 1). Otherwise the solve restarts along -g with an empty history,
                                       and ends by FACTR if f has fallen by at most 1e-4 max(|f|, 1) since, in five
                                       iterations or more. Infinity: without this condition */
    CUDA_OPT_ROUNDING = 211,      /**< >= 0; default 100; 0: off. With ROBUST a solve converges where no lower f is
                                       found if the model expects f to fall by at most the larger of FACTR's bound and
                                       rounding * (u_f |f| + u_x ||x||_2 ||P g||_2). The unit roundoffs u_f and u_x are
                                       1.1e-16; 6.0e-8 where all f so far, or x, are of single precision */
    CUDA_OPT_F_UNBOUNDED = 212,   /**< default -1e300: the solve ends with UNBOUNDED when f is at or below it. -Inf: no
                                       solve ends with UNBOUNDED */

    /* ---- integer results: cuda_opt_get_int ---- */
    CUDA_OPT_ITERATIONS = 300,      /**< accepted iterates after the start */
    CUDA_OPT_EVALUATIONS = 301,     /**< evaluations of f and g asked for and given */
    CUDA_OPT_FREE_COUNT = 302,      /**< i with l_i < x_i < u_i */
    CUDA_OPT_LOWER_COUNT = 303,     /**< i with x_i = l_i (also where l_i = u_i) */
    CUDA_OPT_UPPER_COUNT = 304,     /**< i with x_i = u_i > l_i */
    CUDA_OPT_SKIPPED_UPDATES = 305, /**< pairs left out because y's <= 2.2e-16 * |g's| (scale-invariant) */
    CUDA_OPT_CAUCHY_SEGMENTS = 306, /**< segments of the projected path searched, all iterations together */
    CUDA_OPT_LINE_SEARCH_INFO = 307, /**< the manual's info of the last line search: 0 improper input, 1 both conditions
                                          hold, 2 interval below xtol, 3 maxfev reached, 4 step at stpmin, 5 step at
                                          stpmax, 6 rounding errors prevent progress */
    CUDA_OPT_REFRESHES = 308,       /**< times the memory was dropped after a breakdown */
    CUDA_OPT_CUTS = 309,            /**< steps cut because f or g was not finite */
    CUDA_OPT_CAUCHY_CROSSINGS = 310, /**< iterations whose Cauchy point lies beyond the first breakpoint */
    CUDA_OPT_BREAKPOINTS_CROSSED = 311, /**< breakpoints passed on the way to the Cauchy points, all together,
                                             but for iterations without pairs */
    CUDA_OPT_WORKSPACE_BYTES = 312, /**< memory held in the handle's memory space; at most
                                         (2m + 9) vectors of n plus a constant that does not depend on n */
    CUDA_OPT_STOP_TEST = 313,       /**< after CONVERGED: the key that held (EPS, PGTOL, FACTR, F_TARGET, ROUNDING),
                                         else 0 */
    CUDA_OPT_PAIRS = 314,           /**< correction pairs stored, 0 to m */
    CUDA_OPT_START_PROJECTED = 315, /**< components of the start that were moved into the box */
    CUDA_OPT_DIMENSION = 316,       /**< n */
    CUDA_OPT_HISTORY_SIZE = 317,    /**< m, the largest number of correction pairs */
    CUDA_OPT_MEMORY = CUDA_OPT_HISTORY_SIZE, /**< former name of CUDA_OPT_HISTORY_SIZE */
    CUDA_OPT_PRECISION = 318,       /**< 64 or 32: bits of a component of x */
    CUDA_OPT_SUBSPACE_TRUNCATIONS = 319, /**< iterations whose projected subspace step was no descent direction, or with
                                              a learned metric hardly one, and was truncated (Morales, Nocedal 2011) */
    /* of the last direction whose first trial point was evaluated: */
    CUDA_OPT_CAUCHY_FREE_COUNT = 320, /**< i that are free at its generalized Cauchy point: neither held nor stopped */
    CUDA_OPT_CAUCHY_BREAKPOINTS = 321, /**< breakpoints passed on the way there, without pairs too */
    CUDA_OPT_SUBSPACE_PROJECTED = 322, /**< i at which the subspace minimiser lay outside the box */
    /* of a search: */
    CUDA_OPT_BATCH = 340,        /**< points to evaluate now; 0 where none are asked for */
    CUDA_OPT_WALKS = 341,        /**< walks */
    CUDA_OPT_ACTIVE_WALKS = 342, /**< walks that have not ended */
    CUDA_OPT_BEST_WALK = 343,    /**< the one whose best is CUDA_OPT_F, of equal ones the lowest; -1 before the start */

    /* ---- real results: cuda_opt_get_real ---- */
    CUDA_OPT_F = 400,              /**< f at the last accepted iterate */
    CUDA_OPT_PG_NORM2 = 401,       /**< ||P g||_2 there */
    CUDA_OPT_PG_NORM_INF = 402,    /**< ||P g||_inf there */
    CUDA_OPT_X_NORM2 = 403,        /**< ||x||_2 there */
    CUDA_OPT_STEP = 404,           /**< the last accepted step length */
    CUDA_OPT_THETA = 405,          /**< theta = y'y / s'y of the model, the scale of its matrix; 1/theta is gamma */
    CUDA_OPT_SOLVER_SECONDS = 406, /**< time inside the solver. HOST: wall time of the calls. CUDA: time on the stream
                                        between the first and the last command of each call, a rank's exchanges in
                                        it, but a handle's first, which allocates; 0 without CUDA_OPT_TIMED */
    CUDA_OPT_CAUCHY_T = 407,       /**< t* of the last generalized Cauchy point */
    CUDA_OPT_CAUCHY_T_FIRST = 408, /**< what the one-breakpoint approximation gives there: max(0, min(t_1, t_1*)) */
    CUDA_OPT_DIRECTION_NORM2 = 409, /**< ||d||_2 of the last direction whose first trial point was evaluated */
    CUDA_OPT_SLOPE_START = 410,    /**< phi'(0) = g'd of its line search */
    CUDA_OPT_SLOPE = 411           /**< phi' at the last trial point evaluated */
};
/* clang-format on */

/** Make a handle for n variables and m correction pairs (3 to 20 are usual), double precision.
 *  @param out      receives the handle. Also on failure, unless out is NULL or memory for the handle itself is
 *                  lacking (then *out is NULL): such a handle is good for cuda_opt_message() and cuda_opt_destroy().
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
/** Free the handle and all it owns, and set *s to NULL. NULL and a pointer to NULL are allowed. A call from within the
 *  function of cuda_opt_set_log() is refused with a message because the handle is in use, and *s does not change. */
CUDA_OPT_API void cuda_opt_destroy(cuda_opt **s);
/** Bounds l <= x <= u. The arrays belong to the caller, are read at every iteration and must stay as they are until
 *  the solve ends. Before the first call of cuda_opt_solve(), which also checks them (l_i <= u_i, no NaN).
 *  @param lower  n values, where x is; -INFINITY for none. NULL: what cuda_opt_set_uniform_bounds() says
 *  @param upper  likewise, +INFINITY for none
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_bounds(cuda_opt *s, const double *lower, const double *upper);
/** As cuda_opt_set_bounds(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_set_bounds_f32(cuda_opt *s, const float *lower, const float *upper);
/** Bounds that are the same for all variables, without arrays to hold and to read: x >= 0 is (0, INFINITY). Each holds
 *  where cuda_opt_set_bounds() has given no array for its side, be it called before or after. Before the first call of
 *  cuda_opt_solve(). Not for a search.
 *  @param lower  -INFINITY, the default, for none
 *  @param upper  +INFINITY, the default, for none
 *  @return 0; CUDA_OPT_IMPROPER_INPUT where no finite x is left, and for NaN (the old bounds stay); CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_uniform_bounds(cuda_opt *s, double lower, double upper);
/** As cuda_opt_set_uniform_bounds(), for a handle of cuda_opt_create_f32(). The floats themselves are the bounds: 0.1
 *  becomes 0.1f when it is passed, and x keeps to 0.1f, exactly. */
CUDA_OPT_API int cuda_opt_set_uniform_bounds_f32(cuda_opt *s, float lower, float upper);
/** The array that the caller fills at CUDA_OPT_SUPPLY_DIAGONAL: n values, in the memory space of x. Read only. */
CUDA_OPT_API int cuda_opt_set_diagonal(cuda_opt *s, const double *diagonal);
/** As cuda_opt_set_diagonal(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_set_diagonal_f32(cuda_opt *s, const float *diagonal);
/** The diagonal of H0, the inverse of B0, of the newest model: the learned diagonal, if it is in use with
 *  CUDA_OPT_INITIAL_HESSIAN_LEARNED; the diagonal that you supply; otherwise 1 / theta for all variables. May be called
 *  once a solve has begun, and after its end.
 *  @param diagonal  receives n values, a rank's those of its part, in host memory
 *  @return 0; CUDA_OPT_MISUSE where there is no solve to ask; CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_get_diagonal(cuda_opt *s, double *diagonal);
/** As cuda_opt_get_diagonal(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_get_diagonal_f32(cuda_opt *s, float *diagonal);
/** The CUDA stream (a cudaStream_t) of all device work; NULL: the legacy default stream. Before the first call of
 *  cuda_opt_solve(). It has to outlive the handle; call cuda_opt_synchronize() before another takes its place. On the
 *  host backend it is remembered and has no effect. */
CUDA_OPT_API int cuda_opt_set_stream(cuda_opt *s, void *stream);
/** Where the log lines go (CUDA_OPT_IPRINT_FREQUENCY >= 0). line is one line without its newline, valid during the
 *  call; the function may read the handle, and change settings and the log; other calls are refused. NULL: no log. */
CUDA_OPT_API int cuda_opt_set_log(cuda_opt *s, void (*write_line)(void *user, const char *line), void *user);

/** One step of the protocol; see the top of this file.
 *  @param x  n values. First call: the start, which is moved into the box. Then the library's: it changes between calls
 *  @param f  one value, in the memory space of x (device memory on CUDA)
 *  @param g  n values
 *  The three must be the same at each call of one solve, and share no memory with each other, bounds or a diagonal.
 *  @return a task > 0, CUDA_OPT_CONVERGED, or a negative code. After a code <= 0, cuda_opt_reset() comes before the
 *          next solve. */
CUDA_OPT_API int cuda_opt_solve(cuda_opt *s, double *x, double *f, double *g);
/** As cuda_opt_solve(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_solve_f32(cuda_opt *s, float *x, double *f, float *g);
/** Forget the history and the counts, keep settings, bounds and workspace: the next cuda_opt_solve() starts anew. */
CUDA_OPT_API int cuda_opt_reset(cuda_opt *s);
/** As cuda_opt_reset(), but the correction pairs stay and are the memory of the next solve, which may have other
 *  bounds, another start, other arrays, and an f that has changed a little: in a sequence of such problems each takes
 *  fewer evaluations. A learned diagonal is kept as well if CUDA_OPT_INITIAL_HESSIAN does not change. After
 *  cuda_opt_load() the pairs of the saved solve are kept.
 *  @return 0 or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_warm_start(cuda_opt *s);
/** A checkpoint: all that a solve needs to go on elsewhere or later, on the host or on CUDA: x, f and g, the pairs, the
 *  settings, the counts. Between any two calls of cuda_opt_solve(), before or after the task is done; after the end,
 *  too.
 *  @param buffer  host memory; NULL: *bytes alone is set
 *  @param bytes   in: the size of the buffer; out: what the checkpoint takes. It grows as pairs are stored, to at most
 *                 2m + 8 vectors of n and some 40 m^2 + 4000 bytes
 *  @return 0; CUDA_OPT_IMPROPER_INPUT where the buffer is too small; CUDA_OPT_MISUSE where there is no solve to save;
 *          CUDA_OPT_CUDA_FAILURE */
CUDA_OPT_API int cuda_opt_save(cuda_opt *s, void *buffer, int64_t *bytes);
/** Go on from a checkpoint, instead of the first call of cuda_opt_solve(): x, f and g are filled, and the next
 *  cuda_opt_solve(), with these arrays, returns the task of the save again. From there on all is as if nothing had
 *  happened: on the same backend, with the same bits. Bounds, diagonal, stream and log have to be set before, as they
 *  were; settings become those of the save, but for CUDA_OPT_THREADS and CUDA_OPT_TIMED, and may be changed then. n, m
 *  and the precision are those of cuda_opt_create().
 *  A CRC-64 detects damage, but forged bytes may hold any numbers: load only checkpoints that you trust.
 *  @param buffer  what cuda_opt_save() wrote, in host memory
 *  @param bytes   how many they are
 *  @param x  as for cuda_opt_solve()
 *  @param f  likewise
 *  @param g  likewise
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for bytes that are no checkpoint, torn, damaged, of another n, m or precision, or
 *          of a solve whose x these bounds leave out, or that had bounds where there are none; CUDA_OPT_MISUSE after
 *          the first call of cuda_opt_solve(); else as cuda_opt_solve(). The first two change nothing. After any
 *          other failure the handle is as after cuda_opt_reset(), and x, f and g may have changed */
CUDA_OPT_API int cuda_opt_load(cuda_opt *s, const void *buffer, int64_t bytes, double *x, double *f, double *g);
/** As cuda_opt_load(), for a handle of cuda_opt_create_f32(). */
CUDA_OPT_API int cuda_opt_load_f32(cuda_opt *s, const void *buffer, int64_t bytes, float *x, double *f, float *g);
/** Ask that the solve end with CUDA_OPT_STOPPED: at its next call, which still reads f and g, or values, if they have
 *  been asked for; on CUDA also in one that waits for the stream. Safe from any thread and from a signal handler. */
CUDA_OPT_API int cuda_opt_request_stop(cuda_opt *s);

/** Change an integer setting.
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key or a value out of range (the old value stays);
 *          CUDA_OPT_MISUSE for NULL */
CUDA_OPT_API int cuda_opt_set_int(cuda_opt *s, int32_t key, int64_t value);
/** Change a real setting; returns as cuda_opt_set_int(). */
CUDA_OPT_API int cuda_opt_set_real(cuda_opt *s, int32_t key, double value);
/** Read an integer setting or result.
 *  @return 0; CUDA_OPT_IMPROPER_INPUT for an unknown key; CUDA_OPT_MISUSE for NULL; *value is then left alone */
CUDA_OPT_API int cuda_opt_get_int(const cuda_opt *s, int32_t key, int64_t *value);
/** Read a real setting or result; returns as cuda_opt_get_int(). */
CUDA_OPT_API int cuda_opt_get_real(const cuda_opt *s, int32_t key, double *value);
/** One English sentence on the last call that had something to say, with its numbers. Never NULL. Valid until the
 *  next call with this handle. */
CUDA_OPT_API const char *cuda_opt_message(const cuda_opt *s);
/** CUDA_OPT_BACKEND_CUDA or CUDA_OPT_BACKEND_HOST; a negative code for NULL or a failed handle. */
CUDA_OPT_API int cuda_opt_backend(const cuda_opt *s);
/** "major.minor.patch". */
CUDA_OPT_API const char *cuda_opt_version(void);
/** A task's or code's name, e.g. "CUDA_OPT_CONVERGED"; "unknown" for other numbers. */
CUDA_OPT_API const char *cuda_opt_task_name(int task);

/* Multi-walk pattern search (docs/search.md), for a function without a gradient in a finite box: `walks` independent
 * searches from random points, by reverse communication with a batch of points at a time. The handle is a cuda_opt, and
 * the settings, results and helpers of this header serve it; CUDA_OPT_F is the best value so far. The search for a
 * function that is written as a functor is in cuda_opt/search.cuh. Ends: CUDA_OPT_CONVERGED (all walks have ended, or
 * CUDA_OPT_F_TARGET), a limit, STOPPED, NOT_FINITE where every value was NaN or Inf. */
/** Make a handle for a search.
 *  @param out      as for cuda_opt_create()
 *  @param n        number of variables, 1 to 2^31 - 1
 *  @param walks    number of walks, >= 1. The workspace holds n * walks values, twice that where walks start again from
 *                  new points, at the smallest step or in rounds, and 40 to 50 bytes for each walk
 *  @param backend  CUDA_OPT_BACKEND_AUTO, _CUDA or _HOST: where points and values lie
 *  @return as cuda_opt_create(). cuda_opt_set_bounds() has to follow, with finite bounds, which it copies */
CUDA_OPT_API int cuda_opt_create_search(cuda_opt **out, int64_t n, int64_t walks, int32_t backend);
/** The first step Delta_0 of each coordinate, before the first call of cuda_opt_search_solve().
 *  @param steps  n positive values in the handle's memory space, which are copied; NULL: (upper - lower) / 20 */
CUDA_OPT_API int cuda_opt_search_set_steps(cuda_opt *s, const double *steps);
/** One step of the protocol.
 *  @param points  room for n * 2 * walks values in the handle's memory space: coordinate j of point p, both from 0, is
 *                 points[j * 2 * walks + p]. Leave them as they are from call to call
 *  @param values  room for 2 * walks values there. After CUDA_OPT_EVALUATE_BATCH, put f at point p into values[p] for
 *                 all p below CUDA_OPT_BATCH; NaN and Inf are worse than any other value
 *  @return CUDA_OPT_EVALUATE_BATCH, CUDA_OPT_CONVERGED, or a negative code. After a code <= 0, cuda_opt_reset() comes
 *          before the next search */
CUDA_OPT_API int cuda_opt_search_solve(cuda_opt *s, double *points, const double *values);
/** The best point of a walk and f there, at any time after the first values.
 *  @param walk  from 0
 *  @param x     receives n values, in host memory; or NULL
 *  @param f     receives one value, in host memory; or NULL
 *  @return 0, CUDA_OPT_IMPROPER_INPUT for a walk that is not there, CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_search_walk(cuda_opt *s, int64_t walk, double *x, double *f);
/** The walk of a rank: 0 for the best, walks - 1 for the worst; of equal ones the lower number comes first.
 *  @param walk  receives its number, in host memory; for cuda_opt_search_walk()
 *  @return as cuda_opt_search_walk() */
CUDA_OPT_API int cuda_opt_search_ranked(cuda_opt *s, int64_t rank, int64_t *walk);

/* Helpers with which one program runs on both backends. The memory is the caller's, and not counted as workspace. */
/** Allocate bytes in the handle's memory space, aligned for any vector. */
CUDA_OPT_API int cuda_opt_alloc(cuda_opt *s, void **out, int64_t bytes);
/** Free what cuda_opt_alloc() gave; NULL is allowed. */
CUDA_OPT_API int cuda_opt_free(cuda_opt *s, void *pointer);
/** Copy bytes from host memory into the handle's memory space, ordered on the stream, complete on return. */
CUDA_OPT_API int cuda_opt_copy_in(cuda_opt *s, void *to, const void *from_host, int64_t bytes);
/** Copy bytes from the handle's memory space to host memory, ordered on the stream, complete on return. */
CUDA_OPT_API int cuda_opt_copy_out(cuda_opt *s, void *to_host, const void *from, int64_t bytes);
/** Wait until all work on the handle's stream is done. */
CUDA_OPT_API int cuda_opt_synchronize(cuda_opt *s);

#ifdef __cplusplus
}
#endif
#endif
