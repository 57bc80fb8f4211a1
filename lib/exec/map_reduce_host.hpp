// These functions apply a functor, called a rule, to each variable on the host. They also reduce the resulting records
// to one.
//
// The order of additions depends on n alone, so the results are bitwise independent of the number of threads. The
// variables are divided into tiles of tile_variables variables. The sum over a tile consists of tile_lanes independent
// partial sums, each over every tile_lanes-th variable. The sums of the tiles are added in the order of a binary tree.
// The rounding error of a sum of n terms grows like tile_variables / tile_lanes + log2(n / tile_variables) rather than
// like n.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "exec/thread_pool.hpp"

namespace cudaopt {

constexpr int64_t tile_variables = 1024;
// Each tile has tile_lanes independent partial sums. They hide the latency of an addition and reduce the rounding
// error.
constexpr int tile_lanes = 4;
// The binary tree over the tiles is divided into at most subtree_limit subtrees, which the threads process in parallel.
// Their number is limited, because the record of each subtree is stored on the stack.
constexpr int64_t subtree_limit = 256;

// Joins the records of the variables first <= i < last, at most tile_variables of them, and returns the result.
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

// Joins the records of the tiles first <= tile < last in a binary tree and returns the result.
template <class Record, int64_t Variables, class Rule>
Record reduce_tiles(int64_t first, int64_t last, int64_t n, const Rule &rule) {
    if (last - first == 1) return reduce_tile<Record>(first * Variables, std::min(n, last * Variables), rule);
    const int64_t middle = first + (last - first) / 2;
    Record left = reduce_tiles<Record, Variables>(first, middle, n, rule);
    left.join(reduce_tiles<Record, Variables>(middle, last, n, rule));
    return left;
}

// Calls rule(i, record) for all variables 0 <= i < n and returns one record that combines the records of all tiles.
// rule: may write to elements of variable i, because only one thread processes each variable, and only once
// threads: the number of threads; 0 selects the number with the shortest run time
// Variables: the number of variables per tile; 1 if each index i denotes a whole tile
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

// Calls rule(i) for all variables 0 <= i < n.
template <class Rule> void map_host(int64_t n, const Rule &rule, HostThreads threads) {
    const auto apply = [&rule](int64_t i, int) { rule(i); };
    share_host(n, apply, threads.for_variables(n));
}

} // namespace cudaopt
