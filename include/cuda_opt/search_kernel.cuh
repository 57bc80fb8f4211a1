/* The CUDA kernels of the pattern search, a part of cuda_opt/search.cuh. A walk is one of many independent searches. A
 * trial is a change of one coordinate of a walk's point. Polling a coordinate means to evaluate the objective at two
 * trials, one above and one below the coordinate. The better trial is accepted if it is not worse than the point. */
#ifndef CUDA_OPT_SEARCH_KERNEL_CUH
#define CUDA_OPT_SEARCH_KERNEL_CUH

#include "search.cuh"

#include <cuda_runtime.h>

namespace cudaopt {
namespace pattern {

constexpr int search_threads = 128; /**< The number of threads per block, if there are enough walks. */
/** The number of blocks per multiprocessor, which permits 80 registers per thread. */
constexpr int search_blocks = 6;
constexpr int summary_threads = 256; /**< The number of threads per block of the kernel that computes the summary. */
/** The number of blocks of the summary kernel: two per multiprocessor of a Hopper GPU. */
constexpr int summary_blocks = 264;

/** Advances all walks, with one thread per walk. */
template <int N, class Objective, class Real>
__global__ void __launch_bounds__(search_threads, search_blocks)
    advance_kernel(Objective f, RulesOf<Real> rules, WalksOf<Real> walks, int64_t iterations, Note note) {
    const int64_t w = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (w < rules.walks) advance<N>(f, rules, walks, w, iterations, note);
}

/** Performs one iteration of a walk by a warp, for objectives with full evaluations. The 32 threads evaluate the two
 *  trials of each of the next 16 coordinates at the same time, as if none of the trials were accepted. When a trial is
 *  accepted, the results for later coordinates are discarded, and polling continues with the next coordinate. The warp
 *  therefore accepts the same trials as a single thread that polls one coordinate after the other. */
struct PollByWarp {
    int lane; /**< The number of this thread in the warp, 0 to 31. */

    /** Synchronises the warp, so that no thread overwrites a value that another thread still has to read. */
    __device__ void together() const { __syncwarp(); }

    /** Performs the iteration.
     *  @return whether f has decreased, the same in all threads of the warp */
    template <class Objective, class Point, class Real>
    __device__ bool operator()(Tally<Objective, Real> &tally, const Objective &f, const RulesOf<Real> &rules,
                               Real scale, int n, Point &x, Real &value) const {
        using Trial = TrialOf<Real>;
        constexpr unsigned all = ~0u;
        bool improved = false;
        for (int first = 0; first < n;) {
            // The test is lane / 2 < n - first, because first + lane / 2 may overflow if n is the largest int.
            const bool inside = lane / 2 < n - first;
            const int j = inside ? first + lane / 2 : first;
            Real x_j = 0;
            Trial mine{0, Real(HUGE_VAL)};
            if (inside) {
                x_j = x[j];
                mine = tally.trial(f, x, j, n, lane % 2 ? rules.below(j, x_j, scale) : rules.above(j, x_j, scale));
            }
            const Trial other{__shfl_xor_sync(all, mine.at, 1), __shfl_xor_sync(all, mine.value, 1)};
            const Trial above = lane % 2 ? other : mine, below = lane % 2 ? mine : other;
            const Trial best = prefers_below(x_j, above, below) ? below : above;
            const unsigned taken = __ballot_sync(all, inside && is_taken(x_j, value, best));
            if (taken == 0) {
                if (n - first <= 16) break;
                first += 16;
                continue;
            }
            const int source = __ffs(int(taken)) - 1, moved = first + source / 2;
            const Real at = __shfl_sync(all, best.at, source), f_at = __shfl_sync(all, best.value, source);
            improved = improved || f_at < value;
            value = f_at;
            x.set(moved, at); // All threads write the same value.
            together();
            first = moved + 1;
        }
        return improved;
    }
};

/** Advances all walks, with one warp per walk. The threads of a warp differ only in the trials that they evaluate. */
template <class Objective, class Real>
__global__ void __launch_bounds__(search_threads)
    advance_by_warp_kernel(Objective f, RulesOf<Real> rules, WalksOf<Real> walks, int64_t iterations, Note note) {
    const int64_t w = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    const int lane = int(threadIdx.x % 32);
    if (w >= rules.walks || walks.walk[w].level == ended) return;
    StridedPointOf<Real> x{walks.x + w, rules.walks};
    advance_at(PollByWarp{lane}, f, rules, walks, w, rules.n, x, iterations, Note{lane == 0 ? note.least : nullptr});
}

/** Initialises the data of all walks, before their first starts. */
template <class Real> __global__ void not_begun_kernel(RulesOf<Real> rules, WalksOf<Real> walks) {
    const int64_t w = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (w < rules.walks) walks.walk[w] = not_begun();
}

/** Computes one summary per block, for the walks of the block: the best value and the numbers of evaluations and of
 *  active walks. */
template <class Real>
__global__ void summary_kernel(RulesOf<Real> rules, WalksOf<Real> walks, SearchSummary *of_block) {
    __shared__ alignas(SearchSummary) unsigned char storage[summary_threads * sizeof(SearchSummary)];
    SearchSummary *of_thread = reinterpret_cast<SearchSummary *>(storage);
    SearchSummary mine;
    for (int64_t w = int64_t(blockIdx.x) * summary_threads + threadIdx.x; w < rules.walks;
         w += int64_t(gridDim.x) * summary_threads)
        mine.join(walks.summary(rules, w));
    of_thread[threadIdx.x] = mine;
    for (int half = summary_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half) of_thread[threadIdx.x].join(of_thread[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) of_block[blockIdx.x] = of_thread[0];
}

/** A deleter of std::unique_ptr that frees device memory. */
struct CudaFree {
    /** Frees the array. */
    void operator()(void *memory) const { cudaFree(memory); }
};
template <class T> using DeviceArray = std::unique_ptr<T[], CudaFree>; /**< An array in device memory. */

} // namespace pattern

/** The pattern search on the CUDA device that is current when it is constructed. This device has to be current in each
 *  later call. N is n if n is a compile-time constant; the point of a walk can then be stored in registers or local
 *  memory. Otherwise N is 0. Real is double or float. All members wait for the device. */
template <class Objective, int N = 0, class Real = double> class CudaSearch final : public PatternSearch {
  public:
    /** Prepares a search in the box lower <= x <= upper. Both vectors have n finite values in host memory. */
    CudaSearch(const Objective &objective, const std::vector<double> &lower, const std::vector<double> &upper,
               const SearchOptions &options)
        : PatternSearch(Real(), N, lower, upper, options), objective_(objective),
          stream_(static_cast<cudaStream_t>(options.stream)) {
        int devices = 0;
        if (code() == 0 && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
            cudaGetLastError();
            fail(CUDA_OPT_BACKEND_UNAVAILABLE, "there is no CUDA device, or no driver for it");
        }
        if (code() != 0) return;
        const bool lives = has_lives();
        if (!allocate(x_, coordinates()) || (lives && !allocate(best_x_, coordinates())) ||
            !allocate(walk_, std::size_t(options.walks)) || !allocate(on_device_, box_.size()) ||
            !allocate(history_, std::max<std::size_t>(history_size(), 1)) ||
            !allocate(summaries_, pattern::summary_blocks))
            return;
        const std::vector<Real> box = this->template box<Real>();
        copy(on_device_.get(), box.data(), box.size() * sizeof(Real), cudaMemcpyHostToDevice);
        check(cudaMemsetAsync(history_.get(), 0xff, history_size() * sizeof(uint64_t), stream_), "cudaMemset");
        const pattern::RulesOf<Real> rules = this->rules(on_device_.get());
        launch("the preparation of the walks", pattern::not_begun_kernel<Real>, blocks(256), 256, rules, walks());
    }

    SearchSummary summary() override {
        SearchSummary all;
        if (code() != 0) return all;
        SearchSummary of_block[pattern::summary_blocks];
        const int count = int(std::min<int64_t>(pattern::summary_blocks, blocks(pattern::summary_threads)));
        launch("the summary of the walks", pattern::summary_kernel<Real>, unsigned(count), pattern::summary_threads,
               rules(on_device_.get()), walks(), summaries_.get());
        copy(of_block, summaries_.get(), std::size_t(count) * sizeof(SearchSummary), cudaMemcpyDeviceToHost);
        for (int block = 0; block < count; block++) all.join(of_block[block]);
        return all;
    }
    std::vector<double> walk_point(int64_t walk) override {
        if (!has(walk)) return {};
        std::vector<Real> x(static_cast<std::size_t>(n_));
        pattern::Walk it = pattern::not_begun();
        copy(&it, walk_.get() + walk, sizeof it, cudaMemcpyDeviceToHost);
        const Real *from = (it.was_better() ? best_x_.get() : x_.get()) + walk;
        check(cudaMemcpy2DAsync(x.data(), sizeof(Real), from, std::size_t(options_.walks) * sizeof(Real), sizeof(Real),
                                std::size_t(n_), cudaMemcpyDeviceToHost, stream_),
              "cudaMemcpy2D");
        finish("cudaMemcpy2D");
        return {x.begin(), x.end()};
    }
    std::vector<double> walk_values() override {
        if (code() != 0) return {};
        std::vector<pattern::Walk> walk(std::size_t(options_.walks), pattern::not_begun());
        copy(walk.data(), walk_.get(), walk.size() * sizeof(pattern::Walk), cudaMemcpyDeviceToHost);
        std::vector<double> value;
        for (const pattern::Walk &it : walk) value.push_back(std::min(it.best, it.value));
        return value;
    }

  private:
    pattern::WalksOf<Real> walks() const { return {x_.get(), best_x_.get(), walk_.get()}; }
    unsigned blocks(int threads) const { return unsigned((options_.walks + threads - 1) / threads); }

    /** Returns whether one warp processes each walk. This is the case for objectives with full evaluations if one
     *  thread per walk would not occupy the device. */
    bool by_warp() const {
        // The number of threads that a Hopper GPU executes at the same time.
        constexpr int resident = 132 * pattern::search_blocks * pattern::search_threads;
        return options_.lanes == 32 || (options_.lanes == 0 && n_ >= 16 && options_.walks <= resident / 32);
    }

    bool take(int64_t iterations) override {
        const pattern::RulesOf<Real> rules = this->rules(on_device_.get());
        const pattern::Note note{history_size() > 0 ? history_.get() : nullptr};
        if constexpr (pattern::offers<Objective>(0) == pattern::Offers::evaluation)
            if (by_warp()) {
                constexpr int threads = pattern::search_threads;
                return launch("the search's kernel", pattern::advance_by_warp_kernel<Objective, Real>,
                              blocks(threads / 32), threads, objective_, rules, walks(), iterations, note);
            }
        // If there are few walks, blocks of one warp distribute the walks over all multiprocessors.
        const int threads = options_.walks < 132 * 8 * pattern::search_threads ? 32 : pattern::search_threads;
        return launch("the search's kernel", pattern::advance_kernel<N, Objective, Real>, blocks(threads), threads,
                      objective_, rules, walks(), iterations, note);
    }
    void read_history(std::vector<uint64_t> &keys) override {
        copy(keys.data(), history_.get(), keys.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost);
    }

    template <class T> bool allocate(pattern::DeviceArray<T> &array, std::size_t count) {
        void *memory = nullptr;
        if (code() == 0 && cudaMalloc(&memory, count * sizeof(T)) != cudaSuccess) {
            cudaGetLastError();
            fail_memory();
        }
        array.reset(static_cast<T *>(memory));
        return code() == 0;
    }
    bool check(cudaError_t error, const char *what) {
        if (error != cudaSuccess && code() == 0)
            fail(CUDA_OPT_CUDA_FAILURE, "CUDA failed in %s: %s (%s)", what, cudaGetErrorString(error),
                 cudaGetErrorName(error));
        return code() == 0;
    }
    bool finish(const char *what) { return check(cudaStreamSynchronize(stream_), what); }
    /** Launches a kernel and waits for it. cudaLaunchKernelEx() returns the error of this launch, whereas
     *  cudaGetLastError() would also report an earlier error of the caller. */
    template <class... Parameters, class... Arguments>
    bool launch(const char *what, void (*kernel)(Parameters...), unsigned blocks, int threads,
                const Arguments &...arguments) {
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(unsigned(threads));
        config.stream = stream_;
        return check(cudaLaunchKernelEx(&config, kernel, arguments...), what) && finish(what);
    }
    void copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
        if (code() == 0 && check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "cudaMemcpy")) finish("cudaMemcpy");
    }

    Objective objective_;
    cudaStream_t stream_;
    pattern::DeviceArray<Real> x_, best_x_, on_device_;
    pattern::DeviceArray<pattern::Walk> walk_;
    pattern::DeviceArray<uint64_t> history_;
    pattern::DeviceArray<SearchSummary> summaries_;
};

} // namespace cudaopt
#endif
