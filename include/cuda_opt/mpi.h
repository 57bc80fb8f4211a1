/* CUDA_OPT_EXCHANGE by MPI, for programs that are compiled with MPI: the library itself is not.
 *
 *     do {
 *         task = cuda_opt_solve(s, x, &f, g);
 *         if (task == CUDA_OPT_EXCHANGE) task = cuda_opt_exchange_mpi(s, MPI_COMM_WORLD);
 *         if (task == CUDA_OPT_EVALUATE_FG) f = evaluate(x, g);
 *     } while (task > 0);
 *
 * The communicator's ranks are those of cuda_opt_set_ranks(). MPI ends the program where it fails, unless
 * MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN) has been called. */
#ifndef CUDA_OPT_MPI_H
#define CUDA_OPT_MPI_H

#include <limits.h>
#include <mpi.h>

#include "ranks.h"

/** Do what CUDA_OPT_EXCHANGE asks for; all ranks of the communicator have to.
 *  @return CUDA_OPT_EXCHANGE: go on with cuda_opt_solve(). CUDA_OPT_EXCHANGE_FAILED: the solve has ended on this rank,
 *          and the message says why. CUDA_OPT_MISUSE where the last task was another */
static inline int cuda_opt_exchange_mpi(cuda_opt *s, MPI_Comm communicator) {
    void *send, *receive;
    int64_t bytes;
    int code = cuda_opt_gather(s, &send, &receive, &bytes);
    if (code != 0) return code;
    if (bytes > INT_MAX) return cuda_opt_gather_failed(s, "MPI counts no more than 2^31 - 1 bytes of a rank");
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
