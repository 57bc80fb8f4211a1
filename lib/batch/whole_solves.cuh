// The kernels that solve problems completely within one launch, each by one thread or by one warp.
#pragma once

#include "batch/team.cuh"
#include "batch/whole_solves.hpp"

namespace cudaopt::batch {

constexpr int threads_of_block = warps_of_block * Warp::width;

// Synchronises the threads of a block that still have problems if `syncs` is true; otherwise does nothing.
template <bool syncs> struct BlockSync {
    __device__ void operator()() const {
        if constexpr (syncs) __syncthreads();
    }
};

__device__ inline int64_t take_next(unsigned long long *next) { return static_cast<int64_t>(atomicAdd(next, 1ull)); }

// Resident blocks per multiprocessor, for __launch_bounds__ of the kernel with one thread per problem. Two blocks
// instead of three leave more registers for each thread, which is faster for few variables.
constexpr int blocks_of_threads(int n) { return n <= 10 ? 2 : 3; }

// Solves problems with one thread per problem, whose data is in local memory. The hardware interleaves local memory, so
// that threads that execute the same instruction access contiguous memory.
template <class Shape, template <class> class Data, class Real, class Functor>
__global__ void __launch_bounds__(threads_of_block, blocks_of_threads(Shape::n))
    solve_by_threads(Functor functor, Data<Real> data, const __grid_constant__ Settings settings,
                     unsigned long long *next) {
    alignas(16) unsigned char working[workspace_bytes(Shape{})];
    alignas(16) unsigned char vectors[vectors_bytes<Real>(Shape{})];
    solve_in_turn<Shape, Metric::one_number>(OneThread{}, functor, data, settings, in_one_piece(Shape{}, working),
                                             vectors, [=] { return take_next(next); });
}

// Solves problems with one thread per problem, whose persistent data is in shared memory. Fewer threads run than with
// local memory alone, so that their local memory stays in the second-level cache.
template <class Shape, template <class> class Data, class Real, class Functor>
__global__ void __launch_bounds__((threads_need_block_sync<Shape> ? most_shared_warps : 1) * Warp::width,
                                  threads_need_block_sync<Shape> ? 1 : most_shared_warps)
    solve_by_threads_in_shared(Functor functor, Data<Real> data, const __grid_constant__ Settings settings,
                               unsigned long long *next) {
    extern __shared__ __align__(16) unsigned char cuda_opt_batch_shared[];
    alignas(16) unsigned char vectors[vectors_bytes<Real>(Shape{})];
    alignas(16) unsigned char local[local_bytes(Shape{})];
    solve_in_turn<Shape, Metric::one_number>(
        OneThread{}, functor, data, settings,
        in_two_pieces(Shape{}, cuda_opt_batch_shared + threadIdx.x * shared_stride(Shape{}), local), vectors,
        [=] { return take_next(next); }, BlockSync<threads_need_block_sync<Shape>>{});
}

// Solves problems with one warp per problem. The data is in shared memory, or in global memory if that is too small.
template <class Shape, int64_t metric, template <class> class Data, class Real, class Functor>
__global__ void __launch_bounds__((evaluation_needs_block_sync<Shape, Real> ? most_warps_of_block : warps_of_block) *
                                      Warp::width,
                                  evaluation_needs_block_sync<Shape, Real> ? 1 : blocks_of_warps<Shape, Real>())
    solve_by_warps(Functor functor, Data<Real> data, const __grid_constant__ Settings settings,
                   unsigned long long *next, unsigned char *slots) {
    extern __shared__ __align__(16) unsigned char cuda_opt_batch_shared[];
    constexpr int64_t bytes = bytes_of_warp<Shape, Real>;
    const int warp = static_cast<int>(threadIdx.x) / Warp::width, warps = static_cast<int>(blockDim.x) / Warp::width;
    // This condition is a compile-time constant, and so is the address space of `block`.
    unsigned char *const block =
        warps_share<Shape, Real> ? cuda_opt_batch_shared : slots + int64_t{blockIdx.x} * warps * bytes;
    unsigned char *const mine = block + warp * bytes;
    solve_in_turn<Shape, metric>(
        Warp{}, functor, data, settings, in_one_piece(Shape{}, mine), mine + workspace_bytes(Shape{}),
        [=] {
            int64_t taken = 0;
            if (Warp{}.lane() == 0) taken = take_next(next);
            return static_cast<int64_t>(__shfl_sync(~0u, static_cast<unsigned long long>(taken), 0));
        },
        BlockSync<evaluation_needs_block_sync<Shape, Real>>{});
}

} // namespace cudaopt::batch
