// The measurements of bench_batch: a task, and one row for each way to perform it.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "cuda_opt.hpp"

namespace cudaopt::bench {

struct BatchTask {
    int n = 20;    // 5, 20 or 100
    int pairs = 5; // by reverse communication; a functor has 5
    int64_t count = 100000;
    bool bounds = false, single = false; // single: precision
    double pgtol = 1e-5;
    int threads = 2, repetitions = 20;
    int64_t max_iterations = 2000;
};

struct BatchRow {
    std::string name;
    double seconds; // the median of the repetitions
    int64_t problems, converged, iterations, evaluations;
    double least = 0, most = 0; // seconds of the repetitions, if there are several
};

// What the problems of a batch have come to.
template <class Real> void add_ends(const Batch<Real> &batch, BatchRow &row) {
    for (const int64_t code : batch.integers(CUDA_OPT_BATCH_CODE)) row.converged += code == 0;
    const auto sum = [&](int32_t key) {
        const std::vector<int64_t> values = batch.integers(key);
        return std::accumulate(values.begin(), values.end(), int64_t{0});
    };
    row.iterations += sum(CUDA_OPT_ITERATIONS);
    row.evaluations += sum(CUDA_OPT_EVALUATIONS);
}

// By functor with one thread or one warp per problem, and by reverse communication. No rows without a device.
std::vector<BatchRow> batches_on_cuda(const BatchTask &task);
template <int n> std::vector<BatchRow> rows_on_cuda(const BatchTask &task);

} // namespace cudaopt::bench
