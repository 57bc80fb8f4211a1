/* This header executes the task CUDA_OPT_EXCHANGE by MPI, for programs that are compiled with MPI. The library itself
 * does not use MPI.
 *
 *     do {
 *         task = cuda_opt_solve(s, x, &f, g);
 *         if (task == CUDA_OPT_EXCHANGE) task = cuda_opt_exchange_mpi(s, MPI_COMM_WORLD);
 *         if (task == CUDA_OPT_EVALUATE_FG) f = evaluate(x, g);
 *     } while (task > 0);
 *
 * The ranks of the communicator are those of cuda_opt_set_ranks(). MPI ends the program on an error, unless
 * MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN) has been called. */
#ifndef CUDA_OPT_MPI_H
#define CUDA_OPT_MPI_H

#include <limits.h>
#include <mpi.h>

#include "ranks.h"

/** All-gather the packets of CUDA_OPT_EXCHANGE by MPI_Allgather. All ranks of the communicator have to call this
 *  function.
 *  @return CUDA_OPT_EXCHANGE: continue with cuda_opt_solve(). CUDA_OPT_EXCHANGE_FAILED: the solve has ended on this
 *          rank, and the message says why. CUDA_OPT_MISUSE: the last task was not CUDA_OPT_EXCHANGE */
static inline int cuda_opt_exchange_mpi(cuda_opt *s, MPI_Comm communicator) {
    void *send, *receive;
    int64_t bytes;
    int code = cuda_opt_gather(s, &send, &receive, &bytes);
    if (code != 0) return code;
    if (bytes > INT_MAX) return cuda_opt_gather_failed(s, "MPI_Allgather takes at most 2^31 - 1 bytes per rank");
    code = MPI_Allgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, communicator);
    if (code != MPI_SUCCESS) {
        char why[MPI_MAX_ERROR_STRING];
        int length = 0;
        if (MPI_Error_string(code, why, &length) != MPI_SUCCESS) return cuda_opt_gather_failed(s, 0);
        return cuda_opt_gather_failed(s, why);
    }
    return CUDA_OPT_EXCHANGE;
}

#endif
