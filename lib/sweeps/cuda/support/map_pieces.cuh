// This kernel applies a rule to variables that are divided into segments (sweeps/segments.hpp). Each block processes
// a segment or a part of it and stores its own record. The records are not combined into one.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/support/pieces.hpp"

namespace cudaopt {

// Calls rule(i, record) for each group i of `variables` neighbouring variables.
template <class Record, int resident, int variables, class Rule>
__global__ void __launch_bounds__(block_threads, resident < most_resident ? resident : 1)
    map_pieces_kernel(Pieces pieces, int64_t n, Rule rule, Record *records) {
    trigger_programmatic_launch();
    const BlockShare share = pieces.share(n, variables, blockIdx.x, gridDim.x, block_threads);
    const int64_t first = share.begin + share.offset + threadIdx.x;
    const Record mine = record_of_block<Record>(first, share.end, share.step, rule);
    if (threadIdx.x == 0) records[pieces.place(blockIdx.x)] = mine;
}

} // namespace cudaopt
