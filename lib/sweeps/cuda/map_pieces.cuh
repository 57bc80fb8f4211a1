// A rule applied to the variables of all pieces, a block each, whose records are left unjoined, for who joins them
// later.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/pieces.hpp"

namespace cudaopt {

// rule(i, record) for the groups of `variables` neighbouring variables of which i is the number.
template <class Record, int resident, int variables, class Rule>
__global__ void __launch_bounds__(block_threads, resident < most_resident ? resident : 1)
    map_pieces_kernel(Pieces pieces, int64_t n, Rule rule, Record *records) {
    trigger_programmatic_launch();
    const BlockShare share = pieces.share(n, variables, blockIdx.x, gridDim.x, block_threads);
    const int64_t first = share.begin + share.offset + threadIdx.x;
    const Record mine = record_of_block<Record>(first, share.end, share.step, rule);
    if (threadIdx.x == 0) records[pieces.place(blockIdx.x)] = mine;
}

// Returns what the launch returned.
template <class Record, int resident, int variables, class Rule>
cudaError_t map_pieces_cuda(const Pieces &pieces, int64_t n, const Rule &rule, Record *records, cudaStream_t stream) {
    return launch(map_pieces_kernel<Record, resident, variables, Rule>, pieces.count(), block_threads, 0, stream,
                  pieces, n, rule, records);
}

} // namespace cudaopt
