// This file implements the utility functions of the 2013 manual of L-BFGS for GPU-CUDA. None of them throws an
// exception.
#include <algorithm>

#include "cuda_opt_unlp.h"
#include "boundary/format.hpp"
#include "device.hpp"
#include "settings.hpp"

using namespace cudaopt::unlp;

namespace {

constexpr int per_line = 6;
constexpr int per_copy = 1000 * per_line;
constexpr const char *no_device = "there is no CUDA device, or the library was built without CUDA";

int refuse_vector(const char *call) { return refuse("%s: n is negative, or an array is NULL", call); }

int check_cuda(int code, const char *call) {
    if (code != 0) set_message("%s: CUDA failed", call);
    return code;
}

void print_lines(int count, const double *values) {
    for (int begin = 0; begin < count; begin += per_line) {
        for (int i = begin; i < std::min(begin + per_line, count); i++) cudaopt::print("  %13.6e", values[i]);
        cudaopt::print("\n");
    }
}

// Returns the sum of n values by pairwise summation, whose rounding error grows like log n.
double sum_on_host(int n, const double *values) {
    constexpr int leaf = 64;
    if (n > leaf) return sum_on_host(n / 2, values) + sum_on_host(n - n / 2, values + n / 2);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += values[i];
    return sum;
}

} // namespace

int cuda_opt_unlp_get_solution(int n, const double *dev_x, double *x) {
    if (n < 0 || !dev_x || !x) return refuse_vector("get_solution");
    return check_cuda(copy(x, dev_x, static_cast<std::size_t>(n) * sizeof *x), "get_solution");
}

int cuda_opt_unlp_set_device_ID(int id) {
    const int code = select_device(id);
    if (code == CUDA_OPT_IMPROPER_INPUT) set_message("there is no CUDA device %d", id);
    else if (code == CUDA_OPT_BACKEND_UNAVAILABLE) set_message("%s", no_device);
    else if (code != 0) set_message("CUDA device %d cannot be used", id);
    return code;
}

int cuda_opt_unlp_print_vector(int n, const double *dev_v) {
    if (n < 0 || !dev_v) return refuse_vector("print_vector");
    double values[per_copy];
    for (int begin = 0; begin < n;) {
        const int count = std::min(per_copy, n - begin);
        const std::size_t bytes = count * sizeof *values;
        if (const int code = check_cuda(copy(values, dev_v + begin, bytes), "print_vector")) return code;
        print_lines(count, values);
        begin += count;
    }
    return 0;
}

int cuda_opt_unlp_my_reduce(int n, const double *dev_v, double *dev_sum) {
    if (n < 0 || !dev_v || !dev_sum) return refuse_vector("my_reduce");
    const int device = device_of(dev_v), other = device_of(dev_sum);
    if (device == unknown_device || other == unknown_device) return check_cuda(CUDA_OPT_CUDA_FAILURE, "my_reduce");
    if (device != other) return refuse("my_reduce: dev_v and dev_sum are not in the same memory");
    if (device != on_host) return check_cuda(sum_on_device(n, dev_v, dev_sum), "my_reduce");
    *dev_sum = sum_on_host(n, dev_v);
    return 0;
}

int cuda_opt_unlp_get_best_device_id(void) {
    const int id = best_device();
    if (id < 0) set_message("%s", no_device);
    return id;
}

int cuda_opt_unlp_gpu_mem_info(void) {
    std::size_t free = 0, whole = 0;
    const int code = device_memory(&free, &whole);
    if (code == CUDA_OPT_BACKEND_UNAVAILABLE) set_message("%s", no_device);
    else if (code != 0) return check_cuda(code, "gpu_mem_info");
    else cudaopt::print("GPU memory: %zu of %zu bytes free\n", free, whole);
    return code;
}

int cuda_opt_unlp_getNumBlocksAndThreads(int n, int *blocks, int *threads) {
    if (n < 1 || !blocks || !threads) return refuse("getNumBlocksAndThreads: n is below 1, or a pointer is NULL");
    int block = 1;
    while (block < 256 && block < n) block *= 2;
    *threads = block;
    *blocks = (n - 1) / block + 1;
    return 0;
}
