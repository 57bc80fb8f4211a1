/* Ranks: several handles, in threads or processes, on one machine or many, that minimise one f together.
 * Each holds a part of the variables, and its caller evaluates that part of g. A new task asks the caller to gather
 * packets, with whatever the program has for that: MPI (cuda_opt/mpi.h), NCCL (cuda_opt/nccl.h),
 * shared memory.
 *
 *     if (task == CUDA_OPT_EXCHANGE) {
 *         cuda_opt_gather(s, &send, &receive, &bytes);
 *         MPI_Allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, communicator);
 *     }
 *
 * All ranks get the same tasks and codes, bit for bit the same f, norms and counts, and the same decisions: so all have
 * to make the same calls, with the same settings but for THREADS, TIMED, REPORT_ITERATES, the IPRINTs. What fails on a
 * rank, or is asked of it by cuda_opt_request_stop(), ends the solve on all of them, with one code and a message that
 * names the rank, at the next exchange or, of a stop, at the first evaluation that would follow it. Until then the rank
 * that failed is asked for the same tasks as the others; its x, f and g may be lost. There is no cuda_opt_save() and no
 * cuda_opt_load(). See docs/ranks.md. */
#ifndef CUDA_OPT_RANKS_H
#define CUDA_OPT_RANKS_H

#include "../cuda_opt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a handle of cuda_opt_set_ranks() is given as f (CUDA_OPT_F_PART). */
enum {
    CUDA_OPT_F_OF_RANK = 0,     /**< one number, the rank's share; the library adds the shares in the order of ranks */
    CUDA_OPT_F_OF_SEGMENTS = 1, /**< one number for each of the rank's segments (cuda_opt_segment()), which f then
                                   points to, at least one; the sum has the same bits for any number of ranks. All parts
                                   cut at segments */
    CUDA_OPT_F_WHOLE = 2        /**< the whole f, on every rank */
};

/** The handle is a rank, one of several, and holds the variables first <= i < first + n of those that it was made for:
 * x, g, bounds and the diagonal have n elements; CUDA_OPT_DIMENSION and counts are of all variables, indices in
 * messages too. Before the first call of cuda_opt_solve(), whose first exchange checks that the ranks' parts follow one
 * another and leave none out. *f is whole when the solve has ended, and CUDA_OPT_F at any time.
 *  @param rank   from 0
 *  @param ranks  how many there are, >= 1
 *  @param first  number of the variables on the ranks before it, together
 *  @param n      of variables, >= 0; 0: x and g may be NULL
 *  @return 0, CUDA_OPT_IMPROPER_INPUT, CUDA_OPT_OUT_OF_MEMORY or CUDA_OPT_MISUSE */
CUDA_OPT_API int cuda_opt_set_ranks(cuda_opt *s, int32_t rank, int32_t ranks, int64_t first, int64_t n);
/** What CUDA_OPT_EXCHANGE asks for, in host memory of the handle: bring the `bytes` bytes at *send of each rank to
 *  *receive of every rank, one behind the other in the order of ranks, and call cuda_opt_solve() again.
 *  @return 0; CUDA_OPT_MISUSE where the last task was another */
CUDA_OPT_API int cuda_opt_gather(cuda_opt *s, void **send, void **receive, int64_t *bytes);
/** Instead of the next cuda_opt_solve(): the exchange could not be done, and the solve ends on this rank. x, f and g
 *  become the best iterate.
 *  @param why  for the message; NULL: unknown
 *  @return CUDA_OPT_EXCHANGE_FAILED; CUDA_OPT_MISUSE where the last task was another */
CUDA_OPT_API int cuda_opt_gather_failed(cuda_opt *s, const char *why);
/** Report that this rank's caller has failed, for instance in an evaluation or in the log function. The next packet of
 *  the rank carries the failure, and the solve ends on all ranks with CUDA_OPT_MISUSE and a message that names the
 *  rank. Until then the rank receives the same tasks as the others. May be called between calls of cuda_opt_solve()
 *  and from within the function of cuda_opt_set_log().
 *  @param why  the reason, for the message; NULL: unknown
 *  @return 0; CUDA_OPT_MISUSE if the handle is not a rank, or if its solve has ended */
CUDA_OPT_API int cuda_opt_fail_rank(cuda_opt *s, const char *why);
/** Segments of n variables: sums are formed segment by segment and joined in an order that is n's alone. Ranks whose
 * parts begin and end at segments have the same bits, however many they are, on the host those of one handle without
 * ranks; others have the bits of their cut. There are 256, each of 128 variables or more, or fewer where n < 32768. An
 * even cut gives rank r of R the segments from r S / R to (r + 1) S / R, S = cuda_opt_segments(n). 0 for n < 1 */
CUDA_OPT_API int64_t cuda_opt_segments(int64_t n);
/** The first variable of a segment, counted from 0; n from the last segment on. */
CUDA_OPT_API int64_t cuda_opt_segment(int64_t n, int64_t segment);

#ifdef __cplusplus
}
#endif
#endif
