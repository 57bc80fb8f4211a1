// These functions apply a functor, called a rule, to each variable on a CUDA device. They also reduce the resulting
// records to one. A reduction is one kernel launch without allocation or synchronisation.
//
// The result is bitwise reproducible. The size of the grid depends on n alone, and the assignment of variables to
// threads and the reduction trees are fixed. The block that finishes last joins the records of all blocks in the order
// of the blocks. A thread divides its variables into runs and sums each run separately. The rounding error of a sum of
// n terms thus grows like run_variables + n / (grid_threads * run_variables) rather than like n.
#pragma once

#include "exec/annotations.hpp"
#include "exec/launch_cuda.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cudaopt {

constexpr int block_threads = 256;
constexpr int warp_threads = 32;
// A Hopper GPU has 132 multiprocessors. This number is used on every device, so that sums are bitwise equal.
constexpr int multiprocessors = 132;
// The largest number of blocks per multiprocessor.
constexpr int most_resident = 8;
constexpr int block_limit = multiprocessors * most_resident;
constexpr int run_variables = 64;

// Returns the number of blocks of a launch for n variables. There are at most `resident` blocks per multiprocessor.
inline int blocks_for(int64_t n, int resident = most_resident) {
    return static_cast<int>(
        std::clamp<int64_t>((n + block_threads - 1) / block_threads, 1, multiprocessors * resident));
}

// The scratch memory begins with the counter of finished blocks, and the records of the blocks follow. The counter
// occupies this many bytes, so that the records are aligned.
constexpr std::size_t arrivals_bytes = 256;

// Returns the number of bytes of device memory that map_reduce_cuda() needs for this type of record. The caller sets
// this memory to zero once. Any number of calls on one stream can then use it, with any type of record that fits.
template <class Record> constexpr std::size_t map_reduce_scratch_bytes() {
    return arrivals_bytes + block_limit * sizeof(Record);
}

// Returns the record of the thread of the warp whose lane number is larger by delta. If there is no such lane, the
// calling thread gets its own record.
template <class Record> __device__ Record shuffle_down(const Record &record, int delta) {
    static_assert(std::is_trivially_copyable_v<Record>, "a record travels between threads as its bytes");
    unsigned words[(sizeof(Record) + sizeof(unsigned) - 1) / sizeof(unsigned)] = {};
    std::memcpy(words, &record, sizeof(Record));
    for (unsigned &word : words) word = __shfl_down_sync(~0u, word, delta);
    Record received;
    std::memcpy(&received, words, sizeof(Record));
    return received;
}

// Joins the records of the threads of a block, and thread 0 receives the result. All block_threads threads must call
// this function.
template <class Record> __device__ void join_block(Record &mine) {
    constexpr int warps = block_threads / warp_threads;
    __shared__ alignas(Record) unsigned char storage[warps * sizeof(Record)];
    Record *warp_record = reinterpret_cast<Record *>(storage);
    const int lane = threadIdx.x % warp_threads;
    for (int delta = warp_threads / 2; delta > 0; delta /= 2) mine.join(shuffle_down(mine, delta));
    // A second call must not overwrite the shared memory before all threads have read it.
    __syncthreads();
    if (lane == 0) std::memcpy(&warp_record[threadIdx.x / warp_threads], &mine, sizeof(Record));
    __syncthreads();
    if (threadIdx.x >= warp_threads) return;
    mine = lane < warps ? warp_record[lane] : Record();
    for (int delta = warps / 2; delta > 0; delta /= 2) mine.join(shuffle_down(mine, delta));
}

// Calls rule.look_ahead(i) if the rule has this function. It may prefetch the data of variable i, which the calling
// thread will process next.
template <class Rule> __device__ auto look_ahead(const Rule &rule, int64_t i) -> decltype(rule.look_ahead(i)) {
    rule.look_ahead(i);
}
template <class Rule> __device__ void look_ahead(const Rule &, ...) {}

// Calls rule(i, record) for the variables i, i + step, ... below `end`, which the calling thread processes. Then it
// joins the records of all threads of the block; thread 0 receives the result.
template <class Record, class Rule>
__device__ Record record_of_block(int64_t i, int64_t end, int64_t step, const Rule &rule) {
    Record mine;
    while (i < end) {
        Record run;
        for (int k = 0; k < run_variables && i < end; k++, i += step) {
            if (i + step < end) look_ahead(rule, i + step);
            rule(i, run);
        }
        mine.join(run);
    }
    join_block(mine);
    return mine;
}

// Calls rule(i, record) for all variables, combines all records into one by their function join(), and then calls
// finish(combined record) once.
template <class Record, int resident, class Rule, class Finish>
__global__ void __launch_bounds__(block_threads, resident < most_resident ? resident : 1)
    map_reduce_kernel(int64_t n, Rule rule, Finish finish, Record *block_record, unsigned *arrivals) {
    Record mine = record_of_block<Record>(int64_t(blockIdx.x) * block_threads + threadIdx.x, n,
                                          int64_t(gridDim.x) * block_threads, rule);

    __shared__ bool last_block;
    if (threadIdx.x == 0) {
        block_record[blockIdx.x] = mine;
        // Makes the record visible to other blocks before this block is counted as finished.
        __threadfence();
        last_block = atomicAdd(arrivals, 1u) == gridDim.x - 1;
        // Ensures that the count of finished blocks is read before the records of the other blocks.
        __threadfence();
    }
    __syncthreads();
    if (!last_block) return;

    Record total;
    for (int block = threadIdx.x; block < gridDim.x; block += block_threads) total.join(block_record[block]);
    join_block(total);
    if (threadIdx.x == 0) {
        finish(total);
        *arrivals = 0;
    }
}

// StoreRecord is the usual argument `finish` of map_reduce_cuda(). It stores the record that combines those of all
// variables in device memory.
template <class Record> struct StoreRecord {
    Record *to;
    CUDA_OPT_HD void operator()(const Record &record) const { *to = record; }
};

// Calls rule(i, record) on the device for all variables 0 <= i < n, combines the records into one, and then calls
// finish(combined record). Returns the status of the launch, and does not wait for the kernel.
// resident: blocks per multiprocessor; rules that need many registers require a lower number
// scratch: map_reduce_scratch_bytes<Record>() bytes of device memory, which are zero before the first use
template <class Record, int resident = most_resident, class Rule, class Finish>
cudaError_t map_reduce_cuda(int64_t n, const Rule &rule, const Finish &finish, void *scratch, cudaStream_t stream) {
    auto *arrivals = static_cast<unsigned *>(scratch);
    auto *block_record = reinterpret_cast<Record *>(static_cast<char *>(scratch) + arrivals_bytes);
    return launch(map_reduce_kernel<Record, resident, Rule, Finish>, blocks_for(n, resident), block_threads, 0, stream,
                  n, rule, finish, block_record, arrivals);
}

template <class Rule> __global__ void __launch_bounds__(block_threads) map_kernel(int64_t n, Rule rule) {
    trigger_programmatic_launch();
    const int64_t step = int64_t(gridDim.x) * block_threads;
    for (int64_t i = int64_t(blockIdx.x) * block_threads + threadIdx.x; i < n; i += step) rule(i);
}

// Calls rule(i) on the device for all variables 0 <= i < n.
template <class Rule> cudaError_t map_cuda(int64_t n, const Rule &rule, cudaStream_t stream) {
    return launch(map_kernel<Rule>, blocks_for(n), block_threads, 0, stream, n, rule);
}

} // namespace cudaopt
