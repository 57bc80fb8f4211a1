// What bench_batch measures: a task, and a row for each way to do it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::bench {

struct BatchTask {
    int n = 20; // 5, 20 or 100
    int64_t count = 100000;
    bool bounds = false, single = false; // single: precision
    double pgtol = 1e-5;
    int threads = 2, repetitions = 5;
    int64_t max_iterations = 2000;
};

struct BatchRow {
    std::string name;
    double seconds; // the least of the repetitions
    int64_t problems, converged, iterations, evaluations;
};

// By functor, a thread and a warp a problem, and by reverse communication. None without a device.
std::vector<BatchRow> batches_on_cuda(const BatchTask &task);

} // namespace cudaopt::bench
