/* Minimises many small problems of the same n at once by L-BFGS-B. A functor computes f and g. One CUDA kernel computes
 * whole solves, with one thread or one warp per problem; the host can do the same. cuda_opt_batch.h is for functions
 * that are evaluated outside the library; docs/batch.md compares the two. Compile with the flags of `pkg-config
 * cuda_opt_batch`.
 *
 * @code{.cpp}
 * #include <cuda_opt/batch.cuh>
 * #include <cstdio>
 *
 * struct Rosenbrock { // in two variables; problem p has the bound x1 <= p / 1000
 *     template <class Team>
 *     CUDA_OPT_HD double operator()(const Team &team, int64_t, const double *x, double *g) const
 *     {
 *         const double a = x[1] - x[0] * x[0], b = 1 - x[0];
 *         if (team.lane() == 0) {
 *             g[0] = -400 * x[0] * a - 2 * b;
 *             g[1] = 200 * a;
 *         }
 *         return 100 * a * a + b * b;
 *     }
 * };
 *
 * int main()
 * {
 *     const int count = 1000;
 *     std::vector<double> x(2 * count, -1), lower(2 * count, -INFINITY), upper(2 * count, INFINITY);
 *     for (int p = 0; p < count; p++)
 *         upper[2 * p] = p / 1000.0;
 *     std::vector<cudaopt::BatchEnd> ends(count);
 *     cudaopt::BatchOptions options;
 *     options.settings.pgtol = 1e-8;
 *     cudaopt::HostBatch<2, 5>().run(Rosenbrock(), count, x.data(), {lower.data(), upper.data(), true}, ends.data(),
 *                                    options);
 *     std::printf("code %d, f = %.4f, x = (%.2f, %.2f)\n", ends[500].code, ends[500].f, x[1000], x[1001]);
 * }
 * @endcode
 *
 * The functor is copied to each thread. It returns f and writes g of problem p, counted from 0:
 *
 * @code{.cc}
 * template <class Team> double operator()(const Team &team, int64_t p, const Real *x, Real *g) const;
 * @endcode
 *
 * The team is the group of threads that works on one problem. All its threads, the lanes, call the functor. team.lane()
 * is the number of the calling lane, counted from 0; there are Team::width lanes, 1 or 32. Each lane returns the whole
 * f; team.sum(v) returns the sum of v over the lanes. If each lane computes the variables i = lane, lane + width, ...,
 * one functor works with teams of both sizes. x and g are n values in memory of the solver. NaN means that f is
 * undefined at x, as for cuda_opt_solve().
 *
 * The template arguments of HostBatch and CudaBatch choose the history precision and the initial Hessian. History is
 * the type of an element of the correction pairs (CUDA_OPT_HISTORY_BITS). If Real is double, History is double, float
 * or cudaopt::bfloat16; if Real is float, it is float or cudaopt::bfloat16. initial_hessian is a value of
 * CUDA_OPT_INITIAL_HESSIAN. With CUDA_OPT_INITIAL_HESSIAN_DIAGONAL the functor needs a second member. It writes the
 * diagonal of H0 at x for the variables of the lane, with positive and finite elements. It is called as often as
 * settings.diagonal_every says:
 *
 * @code{.cc}
 * template <class Team> void diagonal(const Team &team, int64_t p, const Real *x, Real *h) const;
 * @endcode
 *
 * The iterates of a problem do not depend on the other problems or on their number. They do not depend on the size of
 * the team if f and g of the functor do not. They are the same on the host and on CUDA if the functor returns the same
 * bits on both, compiled with -fmad=false and -ffp-contract=off. After its first call run() allocates nothing, except
 * on the host when the number of threads grows. */
#ifndef CUDA_OPT_BATCH_CUH
#define CUDA_OPT_BATCH_CUH

#include "../cuda_opt.h"
#include "batch/whole_solves.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __CUDACC__
#include "batch/whole_solves.cuh"
#endif

namespace cudaopt {

/** The bounds of a batch. The arrays are in the same memory space as x. */
template <class Real> struct BatchBounds {
    /** Lower bounds: n values that all problems share, or `count` rows of n values; NULL: lower_all applies. */
    const Real *lower = nullptr;
    /** Upper bounds: n values that all problems share, or `count` rows of n values; NULL: upper_all applies. */
    const Real *upper = nullptr;
    bool for_each = false; /**< True if each problem has its own row in the arrays. */
    /** The lower bound of all variables if there is no array. The type Real has to represent this number exactly. */
    double lower_all = -INFINITY;
    /** The upper bound of all variables if there is no array. The type Real has to represent this number exactly. */
    double upper_all = INFINITY;

    /** Returns whether there may be finite bounds. */
    CUDA_OPT_HD bool exist() const { return lower || upper || !(lower_all == -INFINITY) || !(upper_all == INFINITY); }

    /** Returns the bounds of problem p. */
    CUDA_OPT_HD BoxArrays<Real> of(int64_t p, int n) const {
        const int64_t first = for_each ? p * n : 0;
        return {lower ? lower + first : nullptr, upper ? upper + first : nullptr, lower_all, upper_all};
    }
};

/** The result of the solve of one problem. */
struct BatchEnd {
    double f;            /**< The value of f at the best iterate. */
    double pg_norm_inf;  /**< ||P g||_inf at the best iterate, where P g is the projected gradient. */
    int32_t code;        /**< The return code of the problem: 0 or a negative code of cuda_opt.h. */
    int32_t stop_test;   /**< The key of the stopping test that was satisfied, as CUDA_OPT_STOP_TEST. */
    int32_t iterations;  /**< The number of iterations, as CUDA_OPT_ITERATIONS. */
    int32_t evaluations; /**< The number of evaluations, as CUDA_OPT_EVALUATIONS. */
};

/** The settings of a batch. */
struct BatchOptions {
    /** The settings of cuda_opt.h for stopping tests, limits and tolerances, with the same defaults. Each member has
     *  the name of its key in lower case, with three exceptions: evaluations_per_search is MAXFEV, step_min is STPMIN,
     *  and step_max is STPMAX. The members metric, history_bits, product_bits, threads, log_frequency, log_type,
     *  report_iterates, f_part, timed, noise_auto and max_seconds have no effect in a batch. */
    Settings settings{};
    /** The number of threads on the host, if the program uses OpenMP; 0: the number that OpenMP uses by default. */
    int threads = 0;
    /** The number of threads per problem on CUDA, 1 or 32. 0 selects 1 for many problems of few variables and 32 in all
     *  other cases. With a learned or supplied diagonal the number is always 32. */
    int lanes = 0;
    void *stream = nullptr; /**< The cudaStream_t on CUDA; NULL: the legacy default stream. */
};

namespace batch {

/** Returns the result of a problem, with the return code `code`. */
CUDA_OPT_HD inline BatchEnd end_of(const Results &r, int code) {
    return {r.f,
            r.pg_norm_max,
            code,
            static_cast<int32_t>(r.stop_test),
            static_cast<int32_t>(r.iterations),
            static_cast<int32_t>(r.evaluations)};
}

/** The arrays of a batch, as the kernels use them. */
template <class Real> struct BatchData {
    int64_t count;            /**< The number of problems in the batch. */
    Real *x;                  /**< `count` rows of n values: the starts, then the best iterates. */
    BatchBounds<Real> bounds; /**< the bounds of x */
    BatchEnd *ends;           /**< The results, one for each problem. */

    /** Stores the result of problem p. */
    CUDA_OPT_HD void end(int64_t p, const Results &results, int code) const { ends[p] = end_of(results, code); }
};

} // namespace batch

/** A batch on the host. If the program is compiled with OpenMP, the problems are distributed over its threads. */
template <int n, int m, class Real = double, int64_t initial_hessian = CUDA_OPT_INITIAL_HESSIAN_SCALAR,
          class History = Real>
class HostBatch {
    static_assert(n >= 1 && n <= batch::most_variables && m >= 1 && m <= batch::most_pairs,
                  "n has to be from 1 to 4096, m from 1 to 64");

  public:
    /** Minimises all problems.
     *  @param functor  computes f and g, see the beginning of this file
     *  @param count    the number of problems
     *  @param x        `count` rows of n values: the starts, then the best iterates
     *  @param bounds   the bounds of x
     *  @param ends     receives `count` results */
    template <class Functor>
    void run(const Functor &functor, int64_t count, Real *x, const BatchBounds<Real> &bounds, BatchEnd *ends,
             const BatchOptions &options = {}) {
        int threads = 1;
#ifdef _OPENMP
        threads = options.threads > 0 ? options.threads : omp_get_max_threads();
#endif
        memory_.resize(std::max(memory_.size(), static_cast<std::size_t>(threads) * memory_of_thread));
        const batch::BatchData<Real> data{count, x, bounds, ends};
        const Settings settings = batch::for_small_problems(options.settings, initial_hessian);
        if (bounds.exist()) share_out<Shape<true>>(functor, data, settings, threads);
        else share_out<Shape<false>>(functor, data, settings, threads);
    }

  private:
    struct Line {
        alignas(64) unsigned char bytes[64];
    };
    template <bool bounds> using Shape = batch::ShapeIn<n, m, initial_hessian, History, bounds>;

    template <class ShapeOf, class Functor>
    void share_out(const Functor &functor, const batch::BatchData<Real> &data, const Settings &settings,
                   [[maybe_unused]] int threads) {
        int64_t next = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
        {
            int thread = 0;
#ifdef _OPENMP
            thread = omp_get_thread_num();
#endif
            unsigned char *const working = memory_[thread * memory_of_thread].bytes;
            batch::solve_in_turn<ShapeOf, initial_hessian>(batch::OneThread{}, functor, data, settings,
                                                           batch::in_one_piece(ShapeOf{}, working),
                                                           working + working_bytes, [&next] { return take(next); });
        }
    }
    static int64_t take(int64_t &next) {
        int64_t taken;
#ifdef _OPENMP
#pragma omp atomic capture
#endif
        taken = next++;
        return taken;
    }

    // This is the workspace of a problem with bounds. A problem without bounds needs less.
    static constexpr int64_t working_bytes = batch::workspace_bytes(Shape<true>{}),
                             vectors_bytes = batch::vectors_bytes<Real>(Shape<true>{});
    static constexpr std::size_t memory_of_thread =
        (static_cast<std::size_t>(working_bytes + vectors_bytes) + sizeof(Line) - 1) / sizeof(Line);
    std::vector<Line> memory_;
};

#ifdef __CUDACC__

/** A batch on the current CUDA device. Its memory is allocated by prepare() or, without such a call, in the first
 *  run(). */
template <int n, int m, class Functor, class Real = double, int64_t initial_hessian = CUDA_OPT_INITIAL_HESSIAN_SCALAR,
          class History = Real>
class CudaBatch {
    static_assert(n >= 1 && n <= batch::most_variables && m >= 1 && m <= batch::most_pairs,
                  "n has to be from 1 to 4096, m from 1 to 64");

  public:
    CudaBatch() = default;
    CudaBatch(const CudaBatch &) = delete;
    CudaBatch &operator=(const CudaBatch &) = delete;
    ~CudaBatch() { // An error of cudaFree() is ignored here, because a destructor cannot report it.
        static_cast<void>(cudaFree(next_));
        for (const Warps &warps : warps_) static_cast<void>(cudaFree(warps.slots));
    }

    /** Minimises all problems on the stream. The call returns when the kernel has been launched. Runs of one object
     *  must not overlap: a run on another stream has to wait for the previous one.
     *  @param functor  computes f and g, see the beginning of this file
     *  @param count    the number of problems
     *  @param x        `count` rows of n values in device memory: the starts, then the best iterates
     *  @param bounds   the bounds of x, in device memory
     *  @param ends     receives `count` results, in device memory
     *  @return the error of the CUDA runtime */
    cudaError_t run(const Functor &functor, int64_t count, Real *x, const BatchBounds<Real> &bounds, BatchEnd *ends,
                    const BatchOptions &options = {}) {
        if (count < 1) return cudaSuccess; // CUDA does not permit a launch without blocks.
        const bool bounded = bounds.exist();
        const int64_t many =
            bounded && n > batch::most_shared_within_bounds ? batch::many_large_problems : batch::many_problems;
        const bool by_threads = serves_threads && (options.lanes == 1 ||
                                                   (options.lanes == 0 && n <= batch::most_of_thread && count >= many));
        if (const cudaError_t error = prepare(by_threads, bounded)) return error;
        if (const cudaError_t error =
                cudaMemsetAsync(next_, 0, sizeof *next_, static_cast<cudaStream_t>(options.stream)))
            return error;
        const batch::BatchData<Real> data{count, x, bounds, ends};
        const auto launch = [&](auto kernel, int blocks, int threads, int problems, int64_t shared, auto... more) {
            const int64_t wanted = (count + problems - 1) / problems;
            kernel<<<static_cast<unsigned>(std::min<int64_t>(blocks, wanted)), threads,
                     static_cast<std::size_t>(shared), static_cast<cudaStream_t>(options.stream)>>>(
                functor, data, batch::for_small_problems(options.settings, initial_hessian), next_, more...);
            return cudaGetLastError();
        };
        using batch::Warp;
        if constexpr (serves_threads)
            if (by_threads) {
                const auto by_shared_warps = [&](auto kernel, int64_t bytes) {
                    const InShared &all = in_shared_[bounded];
                    const int threads = Warp::width * batch::warps_for((count + Warp::width - 1) / Warp::width,
                                                                       processors_, 1, all.warps);
                    return launch(kernel, all.blocks, threads, threads, threads / Warp::width * bytes);
                };
                if constexpr (batch::state_fits_shared<Shape<true>>)
                    if (bounded && in_shared_[true].blocks > 0)
                        return by_shared_warps(shared_kernel<true>, bytes_of_shared_warp<true>);
                if (!bounded && in_shared_[false].blocks > 0)
                    return by_shared_warps(shared_kernel<false>, bytes_of_shared_warp<false>);
                return launch(thread_kernel(), thread_blocks_, batch::threads_of_block, batch::threads_of_block, 0);
            }
        const auto by_warps = [&](auto kernel, const Warps &all, int64_t bytes) {
            const int warps = batch::warps_for(count, processors_, batch::warps_of_block, all.of_block);
            return launch(kernel, all.blocks, warps * Warp::width, warps, all.slots ? 0 : warps * bytes, all.slots);
        };
        return bounded ? by_warps(warp_kernel<true>, warps_[true], batch::bytes_of_warp<ShapeOfWarp<true>, Real>)
                       : by_warps(warp_kernel<false>, warps_[false], batch::bytes_of_warp<ShapeOfWarp<false>, Real>);
    }

    /** Allocates the memory that run() needs for one thread or one warp per problem, with or without bounds.
     *  @return the error of the CUDA runtime */
    cudaError_t prepare(bool by_threads, bool bounded = true) {
        cudaError_t error = next_ ? cudaSuccess : cudaMalloc(reinterpret_cast<void **>(&next_), sizeof *next_);
        if (error == cudaSuccess && processors_ == 0) {
            int device = 0;
            error = cudaGetDevice(&device);
            if (error == cudaSuccess)
                error = cudaDeviceGetAttribute(&most_shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
            if (error == cudaSuccess)
                error = cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device);
        }
        if (error != cudaSuccess) return error;
        if constexpr (serves_threads)
            if (by_threads) {
                if (in_shared_[bounded].blocks < 0)
                    error = bounded ? prepare_in_shared<true>() : prepare_in_shared<false>();
                if (error != cudaSuccess || in_shared_[bounded].blocks > 0 || thread_blocks_ > 0) return error;
                return count_blocks(thread_kernel(), batch::threads_of_block, 0, batch::blocks_of_threads(n),
                                    thread_blocks_);
            }
        return bounded ? prepare_warps<true>() : prepare_warps<false>();
    }

  private:
    template <bool bounds> using Shape = batch::ShapeIn<n, m, initial_hessian, History, bounds>;
    template <bool bounds> using ShapeOfWarp = batch::ShapeIn<n, m, initial_hessian, History, bounds>;
    static constexpr bool serves_threads = initial_hessian == CUDA_OPT_INITIAL_HESSIAN_SCALAR;
    template <bool bounds>
    static constexpr int64_t bytes_of_shared_warp = batch::Warp::width *batch::shared_stride(Shape<bounds>{});

    static constexpr auto thread_kernel() {
        return batch::solve_by_threads<Shape<true>, batch::BatchData, Real, Functor>;
    }
    template <bool bounds>
    static constexpr auto shared_kernel =
        batch::solve_by_threads_in_shared<Shape<bounds>, batch::BatchData, Real, Functor>;
    template <bool bounds>
    static constexpr auto warp_kernel =
        batch::solve_by_warps<ShapeOfWarp<bounds>, initial_hessian, batch::BatchData, Real, Functor>;

    struct InShared {
        // `blocks` is -1 before the number of blocks has been determined, and 0 if the device has too little shared
        // memory. `warps` is the largest number of warps per block.
        int blocks = -1, warps = 1;
    };
    struct Warps {
        unsigned char *slots = nullptr;
        // The member of_block is the largest number of warps per block.
        int blocks = 0, of_block = batch::warps_of_block;
    };

    // Prepares the kernel with one thread per problem that keeps the state of each problem in shared memory. The number
    // of blocks is set to 0 if the device has too little shared memory.
    template <bool bounds> cudaError_t prepare_in_shared() {
        InShared &prepared = in_shared_[bounds];
        int blocks = 0, resident = 0;
        if constexpr (batch::state_fits_shared<Shape<bounds>>) {
            constexpr auto kernel = shared_kernel<bounds>;
            constexpr int most = batch::threads_need_block_sync<Shape<bounds>> ? batch::most_shared_warps : 1;
            prepared.warps = room_for(bytes_of_shared_warp<bounds>, most);
            const int64_t shared = prepared.warps * bytes_of_shared_warp<bounds>;
            cudaError_t error = prepared.warps > 0 ? share(kernel, shared) : cudaSuccess;
            if (error == cudaSuccess && prepared.warps > 0)
                error = count_blocks(kernel, prepared.warps * batch::Warp::width, shared, 32, blocks, &resident);
            if (error != cudaSuccess) return error;
        }
        prepared.blocks = prepared.warps * resident >= batch::least_shared_warps ? blocks : 0;
        return cudaSuccess;
    }
    template <bool bounds> cudaError_t prepare_warps() {
        using Own = ShapeOfWarp<bounds>;
        Warps &warps = warps_[bounds];
        if (warps.blocks > 0) return cudaSuccess;
        constexpr auto kernel = warp_kernel<bounds>;
        constexpr int64_t bytes = batch::bytes_of_warp<Own, Real>;
        int blocks = 0;
        cudaError_t error = cudaSuccess;
        if (batch::evaluation_needs_block_sync<Own, Real>) warps.of_block = room_for(bytes, batch::most_warps_of_block);
        const int64_t shared = batch::warps_share<Own, Real> ? warps.of_block * bytes : 0;
        if (shared > 0) error = share(kernel, shared);
        if (error == cudaSuccess) error = count_blocks(kernel, warps.of_block * batch::Warp::width, shared, 32, blocks);
        if (error == cudaSuccess && shared == 0)
            error = cudaMalloc(reinterpret_cast<void **>(&warps.slots),
                               static_cast<std::size_t>(blocks * warps.of_block * bytes));
        if (error == cudaSuccess) warps.blocks = blocks;
        return error;
    }
    // Returns the number of warps, at most `most`, whose data fits into the shared memory of a block.
    int room_for(int64_t bytes_of_warp, int most) const {
        return static_cast<int>(std::min<int64_t>(most, most_shared_ / bytes_of_warp));
    }
    template <class Kernel> static cudaError_t share(Kernel kernel, int64_t bytes) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    }
    // Computes the number of blocks that the device runs at the same time, with at most `most` per multiprocessor.
    template <class Kernel>
    cudaError_t count_blocks(Kernel kernel, int threads, int64_t shared, int most, int &blocks,
                             int *of_processor = nullptr) const {
        int resident = 0;
        const cudaError_t error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, static_cast<std::size_t>(shared));
        if (error != cudaSuccess) return error;
        if (of_processor) *of_processor = resident;
        blocks = processors_ * std::clamp(resident, 1, most);
        return cudaSuccess;
    }

    unsigned long long *next_ = nullptr; // The index of the next problem, in device memory.
    // The launch data of one warp per problem: [0] without bounds, [1] with bounds.
    Warps warps_[2];
    // The launch data of one thread per problem: [0] without bounds, [1] with bounds.
    InShared in_shared_[2];
    int thread_blocks_ = 0, processors_ = 0, most_shared_ = 0;
};

#endif

} // namespace cudaopt
#endif
