// The executor of a batch by reverse communication on the current CUDA device, on the handle's stream. One kernel
// launch advances every active problem until it needs an evaluation. Selection (selection.cuh) then writes the list of
// the problems that do. The host waits only for the length of this list.
#pragma once

#include <algorithm>

#include "batch/machine_on.hpp"
#include "batch/team.cuh"
#include "sweeps/cuda/executor.cuh"

namespace cudaopt {

using batch::warps_of_block;
constexpr int threads_of_block = warps_of_block * batch::Warp::width;

// A rule (rules.hpp) is a __grid_constant__ kernel parameter, so that its settings are read in place.

// Applies a rule with one warp per problem. working: the workspaces in global memory, or NULL for shared memory.
template <class Rule>
__global__ void __launch_bounds__(threads_of_block, 4)
    team_kernel(int64_t count, const __grid_constant__ Rule rule, unsigned char *working, int64_t working_bytes) {
    extern __shared__ __align__(16) unsigned char shared[];
    const int warp = static_cast<int>(threadIdx.x) / batch::Warp::width;
    const int64_t first = int64_t{blockIdx.x} * warps_of_block + warp;
    unsigned char *const mine = working ? working + first * working_bytes : shared + warp * working_bytes;
    for (int64_t k = first; k < count; k += int64_t{gridDim.x} * warps_of_block) {
        rule(batch::Warp{}, k, mine);
        __syncwarp();
    }
}

// Applies a rule with one thread per problem. The workspace of a thread is in local memory, which the hardware
// interleaves for the threads of a warp. The registers suffice for three blocks on a multiprocessor.
template <class Rule, int bytes_of_thread>
__global__ void __launch_bounds__(threads_of_block, 3) thread_kernel(int64_t count, const __grid_constant__ Rule rule) {
    alignas(16) unsigned char working[bytes_of_thread];
    for (int64_t k = int64_t{blockIdx.x} * threads_of_block + threadIdx.x; k < count;
         k += int64_t{gridDim.x} * threads_of_block)
        rule(batch::OneThread{}, k, working);
}

// Applies a rule with one thread per problem, whose workspace is in shared memory. A block is one warp.
template <class Rule, int stride>
__global__ void __launch_bounds__(batch::Warp::width, 4)
    shared_memory_kernel(int64_t count, const __grid_constant__ Rule rule) {
    extern __shared__ __align__(16) unsigned char shared[];
    for (int64_t k = int64_t{blockIdx.x} * batch::Warp::width + threadIdx.x; k < count;
         k += int64_t{gridDim.x} * batch::Warp::width)
        rule(batch::OneThread{}, k, shared + threadIdx.x * stride);
}

// ByWarps and the structs below describe how problems are assigned to threads: the kernel that applies a rule, the
// numbers of threads and problems per block, the shared memory of a block, and the number of blocks per multiprocessor.
struct ByWarps {
    static constexpr int threads = threads_of_block, problems = warps_of_block;
    static int blocks_of_processor() { return 4; }
    template <class Rule> static constexpr auto kernel = team_kernel<Rule>;
};
template <int bytes_of_thread> struct ByThreads {
    static constexpr int threads = threads_of_block, problems = threads_of_block;
    static constexpr int64_t shared = 0;
    static int blocks_of_processor() { return 3; }
    template <class Rule> static constexpr auto kernel = thread_kernel<Rule, bytes_of_thread>;
};
template <int bytes_of_thread> struct ByThreadsInShared {
    static constexpr int threads = batch::Warp::width, problems = threads;
    static constexpr int64_t shared = int64_t{threads} * bytes_of_thread;
    static int blocks_of_processor() {
        const int device = current_device();
        const int all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
        return static_cast<int>(all / (shared + device_attribute(cudaDevAttrReservedSharedMemoryPerBlock, device)));
    }
    static bool serves_current_device() { return blocks_of_processor() >= batch::least_shared_warps; }
    template <class Rule> static constexpr auto kernel = shared_memory_kernel<Rule, bytes_of_thread>;
};

template <class How> class CudaTeams : public CudaExecutor {
  public:
    CudaTeams() : CudaExecutor(current_device(), "a pass over the batch") {}
    void start(int64_t working_bytes, const BatchShape &shape, void *stream, CancellationToken &cancellation) {
        CudaExecutor::start<>({shape.threads, stream, cancellation});
        working_bytes_ = working_bytes;
    }
    // Allocates memory for the list of active problems and, if shared memory is too small, for the workspaces of the
    // warps. Also loads all kernels: loading one later could wait until the caller's kernels have ended.
    template <class... Rules> void reserve(int64_t count) {
        if (selection_) return;
        const OnDevice on(device_);
        const int processors = device_attribute(cudaDevAttrMultiProcessorCount, device_);
        const int most_shared = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device_);
        // Shared memory is used if a multiprocessor has room for at least two blocks.
        most_blocks_ = std::min<int64_t>(int64_t{processors} * How::blocks_of_processor(), blocks_for(count));
        if constexpr (by_warps) {
            const int64_t shared = warps_of_block * working_bytes_;
            shared_ = 2 * (shared + 1024) <= most_shared ? static_cast<int>(shared) : 0;
            if (shared_ < shared) scratch_.allocate(most_blocks_ * shared);
        }
        (prepare<Rules>(most_shared), ...);
        reserve_selection(count, "a pass over the batch");
    }

    template <class Rule> void each(int64_t count, const Rule &rule) {
        const OnDevice on(device_);
        const int64_t blocks = std::min(most_blocks_, blocks_for(count));
        const dim3 grid(static_cast<unsigned>(blocks));
        const auto launch_with = [&](int64_t shared, auto... more) {
            check(launch(How::template kernel<Rule>, grid, How::threads, static_cast<std::size_t>(shared), stream_,
                         count, rule, more...),
                  map_);
        };
        if constexpr (by_warps) launch_with(shared_, scratch_.get(), working_bytes_);
        else launch_with(How::shared);
    }

  private:
    static constexpr bool by_warps = std::is_same_v<How, ByWarps>;
    static int64_t blocks_for(int64_t count) { return (count + How::problems - 1) / How::problems; }

    // Loads the kernel of a rule and sets the largest amount of shared memory of its launches. With one warp per
    // problem it is most_shared, that of the device, because problems of other sizes use the same kernel.
    template <class Rule> void prepare([[maybe_unused]] int most_shared) {
        constexpr auto kernel = How::template kernel<Rule>;
        check(load(kernel), "the loading of a kernel");
        int shared = most_shared;
        if constexpr (!by_warps) shared = static_cast<int>(How::shared);
        if (shared > 0)
            check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                  "cudaFuncSetAttribute");
    }

    int shared_ = 0;
    int64_t working_bytes_ = 0, most_blocks_ = 0;
};

// Creates a batch with one thread per problem, whose m is a compile-time constant (cuda_threads.cuh). The second one is
// for problems without bounds, with persistent data in shared memory. It returns NULL if that is too small.
template <class Real, int m, bool weights = false> std::unique_ptr<BatchMachine> make_cuda_batch_of_threads();
template <class Real, int m> std::unique_ptr<BatchMachine> make_cuda_batch_in_shared();

} // namespace cudaopt
