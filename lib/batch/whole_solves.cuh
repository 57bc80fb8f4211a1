// The kernels of whole solves: a thread a problem, its state near or not, or a warp.
#pragma once

#include "batch/team.cuh"
#include "batch/whole_solves.hpp"

namespace cudaopt::batch {

constexpr int threads_of_block = warps_of_block * Warp::width;

// The threads of a block that still have problems wait for one another, or not.
template <bool waits> struct BlockMeets {
    __device__ void operator()() const {
        if constexpr (waits) __syncthreads();
    }
};

__device__ inline int64_t take_next(unsigned long long *next) { return static_cast<int64_t>(atomicAdd(next, 1ull)); }

// Blocks of threads with a problem each on a multiprocessor: as many as have registers enough, of which fewer threads
// have more; for few variables that is faster.
constexpr int blocks_of_threads(int n) { return n <= 10 ? 2 : 3; }

// A thread for each problem, whose memory is its own: local memory, which the hardware interleaves, so that threads
// that are at the same place load and store together.
template <class Shape, template <class> class Data, class Real, class Functor>
__global__ void __launch_bounds__(threads_of_block, blocks_of_threads(Shape::n))
    solve_by_threads(Functor functor, Data<Real> data, const __grid_constant__ Settings settings,
                     unsigned long long *next) {
    alignas(16) unsigned char working[working_bytes(Shape{})];
    alignas(16) unsigned char vectors[vectors_bytes<Real>(Shape{})];
    solve_in_turn<Shape, Metric::one_number>(OneThread{}, functor, data, settings, in_one_piece(Shape{}, working),
                                             vectors, [=] { return take_next(next); });
}

// Likewise, where the state is so little that it stands in shared memory: there are fewer threads, the rest of whose
// memory stays in the second-level cache.
template <class Shape, template <class> class Data, class Real, class Functor>
__global__ void __launch_bounds__((near_warps_meet<Shape> ? most_near_warps : 1) * Warp::width,
                                  near_warps_meet<Shape> ? 1 : most_near_warps)
    solve_near_by_threads(Functor functor, Data<Real> data, const __grid_constant__ Settings settings,
                          unsigned long long *next) {
    extern __shared__ __align__(16) unsigned char cuda_opt_batch_shared[];
    alignas(16) unsigned char vectors[vectors_bytes<Real>(Shape{})];
    alignas(16) unsigned char far[far_bytes(Shape{})];
    solve_in_turn<Shape, Metric::one_number>(
        OneThread{}, functor, data, settings,
        in_two_pieces(Shape{}, cuda_opt_batch_shared + threadIdx.x * near_stride(Shape{}), far), vectors,
        [=] { return take_next(next); }, BlockMeets<near_warps_meet<Shape>>{});
}

// A warp for each, in shared memory, or in slots of the device's where that is too small.
template <class Shape, int64_t metric, template <class> class Data, class Real, class Functor>
__global__ void __launch_bounds__((warps_meet<Shape, Real> ? most_warps_of_block : warps_of_block) * Warp::width,
                                  warps_meet<Shape, Real> ? 1 : blocks_of_warps<Shape, Real>())
    solve_by_warps(Functor functor, Data<Real> data, const __grid_constant__ Settings settings,
                   unsigned long long *next, unsigned char *slots) {
    extern __shared__ __align__(16) unsigned char cuda_opt_batch_shared[];
    constexpr int64_t bytes = bytes_of_warp<Shape, Real>;
    const int warp = static_cast<int>(threadIdx.x) / Warp::width, warps = static_cast<int>(blockDim.x) / Warp::width;
    // Known to the compiler, so that it knows what it addresses.
    unsigned char *const block =
        warps_share<Shape, Real> ? cuda_opt_batch_shared : slots + int64_t{blockIdx.x} * warps * bytes;
    unsigned char *const mine = block + warp * bytes;
    solve_in_turn<Shape, metric>(
        Warp{}, functor, data, settings, in_one_piece(Shape{}, mine), mine + working_bytes(Shape{}),
        [=] {
            int64_t taken = 0;
            if (Warp{}.lane() == 0) taken = take_next(next);
            return static_cast<int64_t>(__shfl_sync(~0u, static_cast<unsigned long long>(taken), 0));
        },
        BlockMeets<warps_meet<Shape, Real>>{});
}

} // namespace cudaopt::batch
