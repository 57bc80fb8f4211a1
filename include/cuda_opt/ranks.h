/* Several handles, called ranks, minimise one f together. They are in threads or processes, on one machine or several.
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
 * and IPRINT_TYPE. A failure on one rank ends the solve on all ranks at the next exchange. cuda_opt_request_stop() for
 * one rank ends the solve on all ranks at the first evaluation that would follow the next exchange. All ranks receive
 * the same code, and a message that names the rank. Until then the rank that failed receives the same tasks as the
 * others; its x, f and g may be lost. cuda_opt_save() and cuda_opt_load() are not available. See docs/ranks.md. */
#ifndef CUDA_OPT_RANKS_H
#define CUDA_OPT_RANKS_H

#include "../cuda_opt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The values of the setting CUDA_OPT_F_PART, which says how the caller of each rank supplies f. */
enum {
    CUDA_OPT_F_OF_RANK = 0, /**< *f is the rank's summand of f. The library adds the summands in the order of ranks. */
    /** f points to one summand for each segment of the rank (cuda_opt_segment()), at least one. The sum then has the
     *  same bits for any number of ranks. The part of each rank has to begin and end at the boundary of a segment. */
    CUDA_OPT_F_OF_SEGMENTS = 1,
    CUDA_OPT_F_WHOLE = 2 /**< *f is the whole f, on every rank. */
};

/** Make the handle one of several ranks. It then has the variables i with first <= i < first + n. x, g, the bounds and
 *  the diagonal of this handle have n elements. CUDA_OPT_DIMENSION, the counts and the indices in messages refer to all
 *  variables. Call this before the first call of cuda_opt_solve(), whose first exchange checks that the parts of the
 *  ranks are contiguous and cover all variables. When the solve has ended, *f is the whole f. CUDA_OPT_F is always the
 *  whole f.
 *  @param rank   the number of the rank, from 0
 *  @param ranks  the number of ranks, >= 1
 *  @param first  the number of variables on all ranks with lower numbers
 *  @param n      the number of variables of this rank, >= 0; with 0, x and g may be NULL
 *  @return 0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_OUT_OF_MEMORY or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_ranks(cuda_opt *s, int32_t rank, int32_t ranks, int64_t first, int64_t n);
/** Read the addresses of the buffers for the task CUDA_OPT_EXCHANGE. All-gather `bytes` bytes from *send of each rank
 *  to *receive of every rank, in the order of ranks, and call cuda_opt_solve() again.
 *  @param send     receives the address of the rank's own packet, in host memory of the handle
 *  @param receive  receives the address of the buffer for the packets of all ranks, in host memory of the handle
 *  @param bytes    receives the size of one packet, the same on all ranks
 *  @return 0; CUDA_OPT_MISUSE if the last task was not CUDA_OPT_EXCHANGE */
CUDA_OPT_API int cuda_opt_gather(cuda_opt *s, void **send, void **receive, int64_t *bytes);
/** Report that the exchange failed. Call this function instead of cuda_opt_solve(). The solve ends on this rank, and
 *  x, f and g become the best iterate.
 *  @param why  the reason, for the message; NULL: unknown
 *  @return CUDA_OPT_EXCHANGE_FAILED; CUDA_OPT_MISUSE if the last task was not CUDA_OPT_EXCHANGE */
CUDA_OPT_API int cuda_opt_gather_failed(cuda_opt *s, const char *why);
/** Report that this rank's caller has failed, for instance in an evaluation or in the log function. The next packet of
 *  the rank carries the failure, and the solve ends on all ranks with CUDA_OPT_MISUSE and a message that names the
 *  rank. Until then the rank receives the same tasks as the others. The function may be called between calls of
 *  cuda_opt_solve() and by the log function (cuda_opt_set_log()).
 *  @param why  the reason, for the message; NULL: unknown
 *  @return 0; CUDA_OPT_MISUSE if the handle is not a rank, or if its solve has ended */
CUDA_OPT_API int cuda_opt_fail_rank(cuda_opt *s, const char *why);
/** Returns the number of segments into which n variables are divided. There are 256 segments, each of 128 variables or
 *  more, or fewer segments if n < 32768. The library first sums over the variables of each segment, and then over the
 *  segments in an order that depends on n only. Therefore results have the same bits for any number of ranks if the
 *  part of each rank begins and ends at the boundary of a segment. On the host they also equal the results of one
 *  handle without ranks. Otherwise the bits depend on the parts.
 *  To distribute the variables evenly over R ranks, let S = cuda_opt_segments(n). Then give rank r the segments
 *  from r S / R to (r + 1) S / R.
 *  @return the number of segments; 0 for n < 1 */
CUDA_OPT_API int64_t cuda_opt_segments(int64_t n);
/** Returns the index of the first variable of a segment. Variables and segments are counted from 0. If the number of
 *  the segment is too large, the result is n. */
CUDA_OPT_API int64_t cuda_opt_segment(int64_t n, int64_t segment);

#ifdef __cplusplus
}
#endif
#endif
