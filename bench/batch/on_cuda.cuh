// The rows of CUDA for problems of n variables. Each n has its own translation unit, because its kernels take long to
// compile.
#pragma once

#include <algorithm>

#include "bench/batch/chained_rosenbrock.hpp"
#include "bench/batch/rows.hpp"
#include "bench/common/stopwatch.hpp"
#include "tests/support/device_memory.cuh"

namespace cudaopt::bench {

using cudaopt_test::check;
using cudaopt_test::DeviceMemory;

// f and g of the active problems, a warp for each.
template <int n, class Real>
__global__ void evaluate_kernel(int64_t active, const int64_t *list, const Real *x, double *f, Real *g) {
    const int64_t k = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / batch::Warp::width;
    if (k >= active) return;
    const int64_t p = list[k];
    const double value = ChainedRosenbrock<n, Real>()(batch::Warp{}, p, x + p * n, g + p * n);
    if (batch::Warp{}.lane() == 0) f[p] = value;
}

template <int n, class Real> class OnCuda {
  public:
    explicit OnCuda(const BatchTask &task)
        : task_(task), count_(static_cast<std::size_t>(task.count)), starts_(count_ * n), x_(count_ * n),
          g_(count_ * n), lower_(n), upper_(n), f_(count_), ends_(count_) {
        for (std::size_t k = 0; k < starts_.size(); k++) starts_[k] = static_cast<Real>(random_start(k));
        std::vector<Real> l(n, lower_bound), u(n);
        for (int i = 0; i < n; i++) u[static_cast<std::size_t>(i)] = static_cast<Real>(upper_bound(i));
        lower_.store(l), upper_.store(u);
    }

    BatchRow by_functor(int lanes) {
        CudaBatch<n, 5, ChainedRosenbrock<n, Real>, Real> batch;
        BatchOptions options;
        options.settings.eps = 0;
        options.settings.pgtol = task_.pgtol;
        options.settings.max_iterations = task_.max_iterations;
        options.lanes = lanes;
        const BatchBounds<Real> bounds =
            task_.bounds ? BatchBounds<Real>{lower_.data(), upper_.data()} : BatchBounds<Real>{};
        const Times times = repeat([&] {
            check(batch.run({}, task_.count, x_.data(), bounds, ends_.data(), options));
            check(cudaDeviceSynchronize());
        });
        std::vector<BatchEnd> ends(count_);
        ends_.fetch(ends);
        BatchRow row{"CUDA, functor, one " + std::string(lanes == 1 ? "thread" : "warp") + " per problem",
                     times.median,
                     task_.count,
                     0,
                     0,
                     0,
                     times.least,
                     times.most};
        for (const BatchEnd &end : ends)
            row.converged += end.code == 0, row.iterations += end.iterations, row.evaluations += end.evaluations;
        return row;
    }

    BatchRow by_calls(bool learned) {
        Batch<Real> s(n, task_.count, task_.pairs, CUDA_OPT_BACKEND_CUDA);
        if (task_.bounds) s.set_bounds(lower_.data(), upper_.data());
        s.set_real(CUDA_OPT_FACTR, 0).set_real(CUDA_OPT_PGTOL, task_.pgtol);
        s.set_int(CUDA_OPT_MAX_ITERATIONS, task_.max_iterations);
        s.set_int(CUDA_OPT_INITIAL_HESSIAN,
                  learned ? CUDA_OPT_INITIAL_HESSIAN_LEARNED : CUDA_OPT_INITIAL_HESSIAN_SCALAR);
        const Times times = repeat([&] {
            s.reset();
            while (s.solve(x_.data(), f_.data(), g_.data()) > 0) {
                const int64_t active = s.active();
                evaluate_kernel<n><<<static_cast<unsigned>((active + 7) / 8), 256>>>(active, s.active_problems(),
                                                                                     x_.data(), f_.data(), g_.data());
            }
            check(cudaDeviceSynchronize());
        });
        BatchRow row{learned ? "CUDA, the same, learned metric" : "CUDA, reverse communication",
                     times.median,
                     task_.count,
                     0,
                     0,
                     0,
                     times.least,
                     times.most};
        add_ends(s, row);
        return row;
    }

  private:
    struct Times {
        double least, median, most;
    };
    // Each repetition begins with the starts. A first one allocates and is not counted.
    template <class Work> Times repeat(const Work &work) {
        std::vector<double> seconds;
        for (int k = 0; k <= task_.repetitions; k++) {
            x_.store(starts_);
            const Stopwatch watch;
            work();
            if (k > 0) seconds.push_back(watch.seconds());
        }
        std::sort(seconds.begin(), seconds.end());
        return {seconds.front(), seconds[seconds.size() / 2], seconds.back()};
    }

    BatchTask task_;
    std::size_t count_;
    std::vector<Real> starts_;
    DeviceMemory<Real> x_, g_, lower_, upper_;
    DeviceMemory<double> f_;
    DeviceMemory<BatchEnd> ends_;
};

template <int n> std::vector<BatchRow> rows_on_cuda(const BatchTask &task) {
    const auto rows = [](auto &&on_cuda) -> std::vector<BatchRow> {
        return {on_cuda.by_functor(1), on_cuda.by_functor(32), on_cuda.by_calls(false), on_cuda.by_calls(true)};
    };
    return task.single ? rows(OnCuda<n, float>(task)) : rows(OnCuda<n, double>(task));
}

} // namespace cudaopt::bench
