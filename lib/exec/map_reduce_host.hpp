// Rules applied to all variables on the host, and their records reduced.
//
// The order of a sum is a function of n alone: variables form tiles, a tile is summed in interleaved lanes, tiles are
// joined in a binary tree. So the bits do not depend on the number of threads, and the error of a sum of n terms grows
// like the depth of the tree, tile_variables / lanes + log2(n / tile_variables), not like n.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "exec/thread_pool.hpp"

namespace cudaopt {

constexpr int64_t tile_variables = 1024;
constexpr int tile_lanes = 4;          // independent chains of additions: shorter sums, and no waiting for the last one
constexpr int64_t subtree_limit = 256; // subtrees handed to the threads; their records lie on the stack

// Records of variables first <= i < last, at most tile_variables of them.
template <class Record, class Rule> Record reduce_tile(int64_t first, int64_t last, const Rule &rule) {
    Record lane[tile_lanes];
    int64_t i = first;
    for (; i + tile_lanes <= last; i += tile_lanes)
        for (int k = 0; k < tile_lanes; k++) rule(i + k, lane[k]);
    for (int k = 0; i + k < last; k++) rule(i + k, lane[k]);
    for (int stride = tile_lanes / 2; stride > 0; stride /= 2)
        for (int k = 0; k < stride; k++) lane[k].join(lane[k + stride]);
    return lane[0];
}

// Records of the tiles first <= tile < last, joined in a binary tree.
template <class Record, int64_t Variables, class Rule>
Record reduce_tiles(int64_t first, int64_t last, int64_t n, const Rule &rule) {
    if (last - first == 1) return reduce_tile<Record>(first * Variables, std::min(n, last * Variables), rule);
    const int64_t middle = first + (last - first) / 2;
    Record left = reduce_tiles<Record, Variables>(first, middle, n, rule);
    left.join(reduce_tiles<Record, Variables>(middle, last, n, rule));
    return left;
}

// Call rule(i, record) for all variables 0 <= i < n and return the joined record.
// rule: may write to variable i's own places; a variable is seen once, by one thread
// threads: 0: as many of the machine's as make it fastest
// Variables: how many make a tile; 1 where a "variable" is itself a tile of variables
template <class Record, int64_t Variables = tile_variables, class Rule>
Record map_reduce_host(int64_t n, const Rule &rule, HostThreads threads) {
    const int64_t tiles = (n + Variables - 1) / Variables;
    const int64_t subtrees = std::min(tiles, subtree_limit);
    if (subtrees == 0) return Record();
    std::array<Record, subtree_limit> record;
    const auto reduce = [&](int64_t k, int) {
        record[k] = reduce_tiles<Record, Variables>(tiles * k / subtrees, tiles * (k + 1) / subtrees, n, rule);
    };
    share_host(subtrees, reduce, Variables == 1 ? threads : threads.for_variables(n));
    for (int64_t stride = 1; stride < subtrees; stride *= 2)
        for (int64_t k = 0; k + stride < subtrees; k += 2 * stride) record[k].join(record[k + stride]);
    return record[0];
}

// Call rule(i) for all variables 0 <= i < n.
template <class Rule> void map_host(int64_t n, const Rule &rule, HostThreads threads) {
    const auto apply = [&rule](int64_t i, int) { rule(i); };
    share_host(n, apply, threads.for_variables(n));
}

} // namespace cudaopt
