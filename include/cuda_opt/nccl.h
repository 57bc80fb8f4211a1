/* The task CUDA_OPT_EXCHANGE by NCCL, for programs that are compiled with CUDA and NCCL. The library itself does not
 * use NCCL. This is for several machines whose network adapters access GPU memory directly; within one machine host
 * memory or MPI is as fast (docs/ranks.md).
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
 * The packets are gathered in device memory. They are copied to it and back on the stream through a buffer in pinned
 * memory, because the packets themselves are in pageable memory, whose copies are not asynchronous. */
#ifndef CUDA_OPT_NCCL_H
#define CUDA_OPT_NCCL_H

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stddef.h>
#include <string.h>

#include "ranks.h"

/** The communicator, the stream and the buffers of exchanges by NCCL. */
typedef struct cuda_opt_nccl {
    ncclComm_t communicator; /**< its ranks are those of cuda_opt_set_ranks() */
    int ranks;               /**< the number of its ranks */
    cudaStream_t stream;     /**< the stream of the handle, or another one */
    char *device;            /**< device memory for the packets of all ranks, followed by the rank's own packet */
    char *pinned;            /**< pinned host memory with the same layout */
    int64_t room;            /**< the size of a packet for which there is memory, in bytes */
} cuda_opt_nccl;

/** Initialise the object. Memory is allocated in the first exchange.
 *  @return 0 */
static inline int cuda_opt_nccl_begin(cuda_opt_nccl *by, ncclComm_t communicator, int ranks, cudaStream_t stream) {
    by->communicator = communicator;
    by->ranks = ranks;
    by->stream = stream;
    by->device = by->pinned = NULL;
    by->room = 0;
    return 0;
}
/** Free the memory. The communicator and the stream remain yours. */
static inline void cuda_opt_nccl_end(cuda_opt_nccl *by) {
    cudaFree(by->device);
    cudaFreeHost(by->pinned);
    by->device = by->pinned = NULL;
    by->room = 0;
}

/** All-gather the packets of CUDA_OPT_EXCHANGE by ncclAllGather, and wait until they have arrived. All ranks have to
 *  call this.
 *  @return CUDA_OPT_EXCHANGE: continue with cuda_opt_solve(). CUDA_OPT_EXCHANGE_FAILED: the solve has ended on this
 *          rank, and the message says why; the other ranks wait until ncclCommAbort() is called. CUDA_OPT_MISUSE if the
 *          last task was another */
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
