// The end of sweep 1 where the variables are cut at segments: the pieces' partial sums become the numbers of each
// subtree.
#pragma once

#include "sweeps/cuda/pieces.hpp"
#include "sweeps/cuda/reduce_partials.cuh"

namespace cudaopt {

// Of a rank's segments, as a kernel's parameter.
struct OwnSubtrees {
    int count = 0;
    struct {
        int16_t begin, end; // segments
    } of[most_subtrees];

    explicit OwnSubtrees(const OwnSegments &own) : count(own.subtree_count()), of{} {
        for (int k = 0; k < count; k++)
            of[k] = {static_cast<int16_t>(own.subtree(k).begin), static_cast<int16_t>(own.subtree(k).end)};
    }
};

// What the host gets: of each subtree the numbers of the inner products, the sums of the direction that led here, and f
// where that is given for each segment; then f, and how many variables were sent ahead.
constexpr int numbers_of_subtree(const ProductsLayout &layout) { return layout.size + direction_numbers + 1; }
constexpr int posted_numbers(const ProductsLayout &layout, int subtrees) {
    return subtrees * numbers_of_subtree(layout) + 2;
}

// One of the numbers of each piece, which stands at first[(piece * segments + segment) * stride]; and how two are
// joined.
struct PieceNumbers {
    enum Join { sum, largest, least } how;
    const double *first;
    int segments, pieces, stride;

    __device__ double nothing() const { return how == least ? infinity : 0; }
    __device__ double join(double a, double b) const {
        return how == sum ? a + b : how == largest ? larger_size(b, a) : fmin(a, b);
    }
};

// What a warp makes of those of segments begin, ..., end - 1, at most 32 `runs`, the result on lane 0: those of a
// segment one after the other, segments in the order of join_in_tree(). All loads are on their way together.
template <int pieces, int runs> __device__ double join_of_segments(const PieceNumbers &of, int begin, int end) {
    const int lane = threadIdx.x % 32;
    double parts[runs][pieces], v[runs];
#pragma unroll
    for (int j = 0; j < runs; j++)
#pragma unroll
        for (int p = 0; p < pieces; p++) {
            const int segment = min(begin + 32 * j + lane, end - 1);
            parts[j][p] = of.first[(p * of.segments + segment) * of.stride];
        }
#pragma unroll
    for (int j = 0; j < runs; j++) {
        v[j] = parts[j][0];
#pragma unroll
        for (int p = 1; p < pieces; p++) v[j] = of.join(v[j], parts[j][p]);
        if (begin + 32 * j + lane >= end) v[j] = of.nothing();
    }
#pragma unroll
    for (int delta = 1; delta < 32; delta *= 2)
#pragma unroll
        for (int j = 0; j < runs; j++) v[j] = of.join(v[j], __shfl_down_sync(~0u, v[j], delta));
#pragma unroll
    for (int stride = 1; stride < runs; stride *= 2)
#pragma unroll
        for (int j = 0; j + stride < runs; j += 2 * stride) v[j] = of.join(v[j], v[j + stride]);
    return v[0];
}
template <int runs> __device__ double join_of_segments(const PieceNumbers &of, int begin, int end) {
    switch (of.pieces) {
    case 0: return of.nothing();
    case 1: return join_of_segments<1, runs>(of, begin, end);
    case 2: return join_of_segments<2, runs>(of, begin, end);
    case 4: return join_of_segments<4, runs>(of, begin, end);
    default: return join_of_segments<most_pieces, runs>(of, begin, end);
    }
}

// As reduce_partials, a warp a number. f: one for each segment, or one.
static __global__ void __launch_bounds__(products_threads)
    reduce_pieces(ProductsLayout layout, const __grid_constant__ OwnSubtrees subtrees, int segments,
                  const double *partials, int pieces, const DirectionRecord *directions, int direction_pieces,
                  const double *f, bool f_of_segments, unsigned long long *sent, Posted *to, unsigned ticket) {
    grid_dependency_sync();
    const int number = blockIdx.x * products_warps + threadIdx.x / 32, each = numbers_of_subtree(layout);
    const int subtree = number / each, entry = number % each;
    double v = 0;
    if (subtree < subtrees.count) {
        PieceNumbers of{PieceNumbers::sum, partials + static_cast<int64_t>(entry) * pieces * segments, segments, pieces,
                        1};
        if (entry == layout.maximum) {
            of.how = PieceNumbers::largest;
        } else if (entry == layout.minimum) {
            of.how = PieceNumbers::least;
        } else if (entry == layout.size + direction_numbers) {
            of.first = f, of.pieces = f_of_segments ? 1 : 0;
        } else if (entry >= layout.size) {
            of.first = reinterpret_cast<const double *>(directions) + (entry - layout.size);
            of.pieces = direction_pieces, of.stride = direction_numbers;
        }
        const int begin = subtrees.of[subtree].begin, end = subtrees.of[subtree].end;
        v = end - begin <= 32 ? join_of_segments<1>(of, begin, end)
                              : join_of_segments<most_segments / 32>(of, begin, end);
    } else if (entry == 0) {
        v = *f;
    } else if (entry == 1 && threadIdx.x % 32 == 0) {
        v = static_cast<double>(*sent);
        *sent = 0;
    }
    post_numbers(to, v, posted_numbers(layout, subtrees.count), ticket);
}

} // namespace cudaopt
