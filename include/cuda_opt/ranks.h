/* Ranks: several handles, in threads or processes, on one machine or several, that minimise one f together.
 * Each handle has a part of the variables, and its caller evaluates this part of g. The library does no communication
 * itself: the task CUDA_OPT_EXCHANGE requests that you all-gather a buffer, by MPI (cuda_opt/mpi.h), NCCL
 * (cuda_opt/nccl.h) or shared memory.
 *
 *     if (task == CUDA_OPT_EXCHANGE) {
 *         cuda_opt_gather(s, &send, &receive, &bytes);
 *         MPI_Allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, communicator);
 *     }
 *
 * All ranks receive the same tasks and codes, and have the same f, norms and counts to the last bit. Therefore all
 * ranks have to make the same calls with the same settings, except THREADS, TIMED, REPORT_ITERATES, IPRINT_FREQUENCY
 * and IPRINT_TYPE. A failure on one rank, and a cuda_opt_request_stop() for one rank, end the solve on all ranks, with
 * one code and a message that names the rank: a failure at the next exchange, a stop at the first evaluation that would
 * follow the next exchange. Until then the rank that failed receives the same tasks as the others; its x, f and g may
 * be lost. cuda_opt_save() and cuda_opt_load() are not available. See docs/ranks.md. */
#ifndef CUDA_OPT_RANKS_H
#define CUDA_OPT_RANKS_H

#include "../cuda_opt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The values of CUDA_OPT_F_PART: how you supply f on each rank. */
enum {
    CUDA_OPT_F_OF_RANK = 0, /**< *f is the rank's summand of f; the library adds the summands in the order of ranks */
    CUDA_OPT_F_OF_SEGMENTS = 1, /**< f points to one summand for each of the rank's segments (cuda_opt_segment()), at
                                   least one. The sum has the same bits for any number of ranks. The part of each rank
                                   has to begin and end at a segment */
    CUDA_OPT_F_WHOLE = 2        /**< *f is the whole f, on every rank */
};

/** Make the handle one of several ranks, which has the variables first <= i < first + n. x, g, the bounds and the
 * diagonal of this handle have n elements. CUDA_OPT_DIMENSION, the counts and the indices in messages refer to all
 * variables. Call this before the first call of cuda_opt_solve(), whose first exchange checks that the parts of the
 * ranks are contiguous and cover all variables. *f is the whole f when the solve has ended; CUDA_OPT_F always is.
 *  @param rank   the number of the rank, from 0
 *  @param ranks  the number of ranks, >= 1
 *  @param first  the number of variables on all ranks with lower numbers
 *  @param n      the number of variables of this rank, >= 0; with 0, x and g may be NULL
 *  @return 0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_OUT_OF_MEMORY or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_ranks(cuda_opt *s, int32_t rank, int32_t ranks, int64_t first, int64_t n);
/** The buffers of the task CUDA_OPT_EXCHANGE: all-gather `bytes` bytes from *send of each rank to *receive of every
 *  rank, in the order of ranks, and call cuda_opt_solve() again.
 *  @param send     receives the address of the rank's own packet, in host memory of the handle
 *  @param receive  receives the address of the buffer for the packets of all ranks, in host memory of the handle
 *  @param bytes    receives the size of one packet, the same on all ranks
 *  @return 0; CUDA_OPT_MISUSE if the last task was another */
CUDA_OPT_API int cuda_opt_gather(cuda_opt *s, void **send, void **receive, int64_t *bytes);
/** Report that the exchange failed, instead of calling cuda_opt_solve(). The solve ends on this rank, and x, f and g
 *  become the best iterate.
 *  @param why  the reason, for the message; NULL: unknown
 *  @return CUDA_OPT_EXCHANGE_FAILED; CUDA_OPT_MISUSE if the last task was another */
CUDA_OPT_API int cuda_opt_gather_failed(cuda_opt *s, const char *why);
/** Report that this rank's caller has failed, for instance in an evaluation or in the log function. The next packet of
 *  the rank carries the failure, and the solve ends on all ranks with CUDA_OPT_MISUSE and a message that names the
 *  rank. Until then the rank receives the same tasks as the others. May be called between calls of cuda_opt_solve()
 *  and from within the function of cuda_opt_set_log().
 *  @param why  the reason, for the message; NULL: unknown
 *  @return 0; CUDA_OPT_MISUSE if the handle is not a rank, or if its solve has ended */
CUDA_OPT_API int cuda_opt_fail_rank(cuda_opt *s, const char *why);
/** The number of segments of n variables: 256, each of 128 variables or more, or fewer segments if n < 32768. Sums are
 * formed over the variables of a segment first, and then over the segments in an order that depends on n only.
 * Therefore results have the same bits for any number of ranks if the part of each rank begins and ends at a segment;
 * on the host they are also the bits of one handle without ranks. Otherwise the bits depend on the parts. To distribute
 * the variables evenly, give rank r of R the segments from r S / R to (r + 1) S / R, S = cuda_opt_segments(n).
 *  @return the number of segments; 0 for n < 1 */
CUDA_OPT_API int64_t cuda_opt_segments(int64_t n);
/** The first variable of a segment, both counted from 0; n if there is no such segment because its number is too large.
 */
CUDA_OPT_API int64_t cuda_opt_segment(int64_t n, int64_t segment);

#ifdef __cplusplus
}
#endif
#endif
