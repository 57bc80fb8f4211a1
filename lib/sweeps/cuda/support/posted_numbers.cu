#include "sweeps/cuda/support/posted_numbers.hpp"

#include "sweeps/cuda/support/device_variables.cuh"

namespace cudaopt {

namespace {

__device__ void post(Posted *to, double value, unsigned ticket) {
    const uint64_t tag = static_cast<uint64_t>(ticket) << 32, bits = __double_as_longlong(value);
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(tag | (bits & 0xffffffffu)),
                 "l"(tag | bits >> 32)
                 : "memory");
}

// Writes the numbers of a block to host memory. Each warp has one of them: lane 0 holds the number whose index is that
// of the warp in the grid. Only the first `count` numbers are written. One warp writes all numbers of the block, so
// that they cross the bus together. The last number is the number of variables that sweep 1 has sent to the host. All
// threads must call the function.
__device__ void post_numbers(const NumbersPosted &to, double v, int count) {
    __shared__ double of_block[products_warps];
    if (threadIdx.x % 32 == 0) of_block[threadIdx.x / 32] = v;
    __syncthreads();
    const int place = blockIdx.x * products_warps + threadIdx.x;
    if (threadIdx.x >= products_warps || place >= count) return;
    // The fence ensures that the host sees the variables that sweep 1 has sent before it sees their number.
    if (place == count - 1 && of_block[threadIdx.x] > 0) __threadfence_system();
    post(to.to + place, of_block[threadIdx.x], to.ticket);
}

// Returns the numbers that follow those of the subtrees: f and the number of variables that sweep 1 has sent.
__device__ double number_after_subtrees(int which, const NumbersOfBlocks &from, const NumbersPosted &to) {
    if (which == 0) return *from.f;
    if (which != 1 || threadIdx.x % 32 != 0) return 0;
    const auto sent = static_cast<double>(*to.sent);
    *to.sent = 0;
    return sent;
}

// Joins `count` numbers within a warp: join(a, b) is their sum, maximum or minimum. Lane 0 receives the result. All
// loads of a lane are in flight together, so that their latency is that of one load.
template <class Load, class Join> __device__ double join_of_warp(int count, double nothing, Load load, Join join) {
    constexpr int at_once = (most_products_blocks + 31) / 32;
    double v = nothing;
    for (int first = threadIdx.x % 32; first < count; first += 32 * at_once) {
        double part[at_once];
#pragma unroll
        for (int e = 0; e < at_once; e++) part[e] = first + 32 * e < count ? load(first + 32 * e) : nothing;
#pragma unroll
        for (int e = 0; e < at_once; e++) v = join(v, part[e]);
    }
    for (int delta = 16; delta > 0; delta /= 2) v = join(v, __shfl_down_sync(~0u, v, delta));
    return v;
}

// Joins the partial sums of the blocks, with one warp per entry, and writes the results to host memory. With
// programmatic dependent launch, the blocks of this kernel are resident before sweep 1 ends.
__global__ void __launch_bounds__(products_threads)
    reduce_partials(ProductsLayout layout, NumbersOfBlocks from, NumbersPosted to) {
    grid_dependency_sync();
    const int entry = blockIdx.x * products_warps + threadIdx.x / 32;
    const auto partial = [=](int b) { return from.partials[static_cast<int64_t>(entry) * from.blocks + b]; };
    const auto sum = [](double a, double b) { return a + b; };
    double v = 0;
    if (entry < layout.maximum) {
        v = join_of_warp(from.blocks, 0, partial, sum);
    } else if (entry == layout.maximum) {
        v = join_of_warp(from.blocks, 0, partial, [](double a, double b) { return larger_size(b, a); });
    } else if (entry == layout.minimum) {
        v = join_of_warp(from.blocks, infinity, partial, [](double a, double b) { return fmin(a, b); });
    } else if (entry >= layout.size && entry < layout.size + direction_numbers) {
        // The index of the number (g'd, d'd or the count `projected`) within a record of sweep 2.
        const int which = entry - layout.size;
        const double *const records = reinterpret_cast<const double *>(from.directions);
        v = join_of_warp(
            from.direction_blocks, 0, [=](int b) { return records[direction_numbers * b + which]; }, sum);
    } else {
        v = number_after_subtrees(entry - numbers_of_subtree(layout), from, to);
    }
    post_numbers(to, v, posted_numbers(layout, 1));
}

// The variables are divided into segments, and each segment into parts, one per block of sweep 1 or 2. PieceNumbers
// describes the partial sums of all parts for a number of a subtree, and how two of them are combined: they are
// added, or the one of larger size is kept, or the smaller one. The value of part p of segment k has the index (p *
// segments + k) * stride in `first`.
struct PieceNumbers {
    enum Join { sum, largest, least } how;
    const double *first;
    int segments, pieces, stride;

    __device__ double nothing() const { return how == least ? infinity : 0; }
    __device__ double join(double a, double b) const {
        return how == sum ? a + b : how == largest ? larger_size(b, a) : fmin(a, b);
    }
};

// Joins the values of the segments begin <= k < end within a warp, and lane 0 receives the result. Each lane loads the
// values of `runs` segments, so there are at most 32 * runs segments. The values of the parts of a segment are combined
// in their order, and segments in the order of join_in_tree(). All loads are in flight together.
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

// Like reduce_partials(), this kernel joins the partial sums, but for variables that are divided into segments. It uses
// one warp per number. If f_of_segments is true, from.f is an array with one value per segment. Otherwise it points to
// a single value.
__global__ void __launch_bounds__(products_threads)
    reduce_pieces(ProductsLayout layout, const __grid_constant__ OwnSubtrees subtrees, int segments, bool f_of_segments,
                  NumbersOfBlocks from, NumbersPosted to) {
    grid_dependency_sync();
    const int number = blockIdx.x * products_warps + threadIdx.x / 32, each = numbers_of_subtree(layout);
    const int subtree = number / each, entry = number % each;
    double v = 0;
    if (subtree < subtrees.count) {
        PieceNumbers of{PieceNumbers::sum, from.partials + static_cast<int64_t>(entry) * from.blocks, segments,
                        from.blocks / segments, 1};
        if (entry == layout.maximum) {
            of.how = PieceNumbers::largest;
        } else if (entry == layout.minimum) {
            of.how = PieceNumbers::least;
        } else if (entry == layout.size + direction_numbers) {
            of.first = from.f, of.pieces = f_of_segments ? 1 : 0;
        } else if (entry >= layout.size) {
            of.first = reinterpret_cast<const double *>(from.directions) + (entry - layout.size);
            of.pieces = from.direction_blocks / segments, of.stride = direction_numbers;
        }
        const int begin = subtrees.of[subtree].begin, end = subtrees.of[subtree].end;
        v = end - begin <= 32 ? join_of_segments<1>(of, begin, end)
                              : join_of_segments<most_segments / 32>(of, begin, end);
    } else {
        v = number_after_subtrees(number - subtrees.count * each, from, to);
    }
    post_numbers(to, v, posted_numbers(layout, subtrees.count));
}

// Launches a kernel with one warp per number.
template <class... Parameters, class... Arguments>
void launch_warps(const LaunchPlace &at, int warps, void (*kernel)(Parameters...), const Arguments &...arguments) {
    launch_behind(at.early, "the launch of sweep 1's reduction", kernel, (warps + products_warps - 1) / products_warps,
                  1, 0, at.stream, arguments...);
}

} // namespace

void load_numbers_kernels() {
    check(load(reduce_partials), "the loading of a kernel");
    check(load(reduce_pieces), "the loading of a kernel");
}

void post_numbers_of_blocks(const ProductsLayout &layout, const NumbersOfBlocks &from, const NumbersPosted &to,
                            const LaunchPlace &at) {
    launch_warps(at, posted_numbers(layout, 1), reduce_partials, layout, from, to);
}

void post_numbers_of_pieces(const ProductsLayout &layout, const OwnSubtrees &subtrees, int segments, bool f_of_segments,
                            const NumbersOfBlocks &from, const NumbersPosted &to, const LaunchPlace &at) {
    launch_warps(at, posted_numbers(layout, subtrees.count), reduce_pieces, layout, subtrees, segments, f_of_segments,
                 from, to);
}

} // namespace cudaopt
