/* This header executes the task CUDA_OPT_EXCHANGE by NCCL, for programs that are compiled with CUDA and NCCL. The
 * library itself does not use NCCL. NCCL is useful on several machines whose network adapters access GPU memory
 * directly. Within one machine, an exchange through host memory or MPI is as fast (docs/ranks.md).
 *
 *     cuda_opt_nccl nccl;
 *     int task = cuda_opt_nccl_begin(&nccl, communicator, ranks, stream);
 *     while (task >= 0) {
 *         task = cuda_opt_solve(s, x, f, g);
 *         if (task == CUDA_OPT_EXCHANGE) task = cuda_opt_exchange_nccl(s, &nccl);
 *         else if (task == CUDA_OPT_EVALUATE_FG) evaluate(x, f, g, stream);
 *         else break;
 *     }
 *     cuda_opt_nccl_end(&nccl);
 *
 * The packets are gathered in device memory. On the stream they are copied to device memory and back through a buffer
 * in pinned host memory. The packets themselves are in pageable memory, from which copies are not asynchronous. */
#ifndef CUDA_OPT_NCCL_H
#define CUDA_OPT_NCCL_H

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stddef.h>
#include <string.h>

#include "ranks.h"

/** The communicator, the stream and the buffers that exchanges by NCCL use. */
typedef struct cuda_opt_nccl {
    ncclComm_t communicator; /**< The ranks of this communicator have to be those of cuda_opt_set_ranks(). */
    int ranks;               /**< The number of ranks of the communicator. */
    cudaStream_t stream;     /**< The stream for the copies and for NCCL: that of the handle, or another one. */
    char *device;            /**< Device memory for the packets of all ranks, followed by the packet of this rank. */
    char *pinned;            /**< Pinned host memory with the same layout as `device`. */
    int64_t room;            /**< The buffers have space for packets of at most this number of bytes. */
} cuda_opt_nccl;

/** Initialises the object. The buffers are allocated in the first exchange.
 *  @return 0 */
static inline int cuda_opt_nccl_begin(cuda_opt_nccl *by, ncclComm_t communicator, int ranks, cudaStream_t stream) {
    by->communicator = communicator;
    by->ranks = ranks;
    by->stream = stream;
    by->device = by->pinned = NULL;
    by->room = 0;
    return 0;
}
/** Frees the buffers. The communicator and the stream remain yours. */
static inline void cuda_opt_nccl_end(cuda_opt_nccl *by) {
    cudaFree(by->device);
    cudaFreeHost(by->pinned);
    by->device = by->pinned = NULL;
    by->room = 0;
}

/** All-gather the packets of CUDA_OPT_EXCHANGE by ncclAllGather, and wait until they have arrived. All ranks have to
 *  call this function.
 *  @return CUDA_OPT_EXCHANGE: continue with cuda_opt_solve(). CUDA_OPT_EXCHANGE_FAILED: the solve has ended on this
 *          rank, and the message says why; the other ranks wait until ncclCommAbort() is called. CUDA_OPT_MISUSE: the
 *          last task was not CUDA_OPT_EXCHANGE */
static inline int cuda_opt_exchange_nccl(cuda_opt *s, cuda_opt_nccl *by) {
    void *send, *receive;
    int64_t bytes;
    cudaError_t cuda = cudaSuccess;
    ncclResult_t nccl;
    size_t all;
    const int code = cuda_opt_gather(s, &send, &receive, &bytes);
    if (code != 0) return code;
    all = (size_t)by->ranks * (size_t)bytes;
    if (bytes > by->room) {
        cuda_opt_nccl_end(by);
        cuda = cudaMalloc((void **)&by->device, all + (size_t)bytes);
        if (cuda == cudaSuccess) cuda = cudaMallocHost((void **)&by->pinned, all + (size_t)bytes);
        if (cuda != cudaSuccess) return cuda_opt_gather_failed(s, cudaGetErrorString(cuda));
        by->room = bytes;
    }
    memcpy(by->pinned + all, send, (size_t)bytes);
    cuda = cudaMemcpyAsync(by->device + all, by->pinned + all, (size_t)bytes, cudaMemcpyHostToDevice, by->stream);
    if (cuda != cudaSuccess) return cuda_opt_gather_failed(s, cudaGetErrorString(cuda));
    nccl = ncclAllGather(by->device + all, by->device, (size_t)bytes, ncclInt8, by->communicator, by->stream);
    if (nccl != ncclSuccess) return cuda_opt_gather_failed(s, ncclGetErrorString(nccl));
    cuda = cudaMemcpyAsync(by->pinned, by->device, all, cudaMemcpyDeviceToHost, by->stream);
    if (cuda == cudaSuccess) cuda = cudaStreamSynchronize(by->stream);
    if (cuda != cudaSuccess) return cuda_opt_gather_failed(s, cudaGetErrorString(cuda));
    memcpy(receive, by->pinned, all);
    return CUDA_OPT_EXCHANGE;
}

#endif
