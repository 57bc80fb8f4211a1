#include "on_device.hpp"

#include <algorithm>

#include "../support/device_memory.cuh"

namespace on_device {

using cudaopt_test::check;

namespace {

__device__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Ends after the duration, or when the host has released this hold.
__global__ void hold_kernel(unsigned long long duration, const volatile unsigned *released, unsigned hold) {
    const unsigned long long start = nanoseconds();
    while (*released < hold && nanoseconds() - start < duration) __nanosleep(1000);
}

constexpr double longest_hold = 60; // seconds

// The number of holds, and in memory of the host that kernels can read, the number of those that were released.
unsigned holds = 0;
volatile unsigned *released() {
    static volatile unsigned *const number = [] {
        void *memory = nullptr;
        check(cudaHostAlloc(&memory, sizeof(unsigned), cudaHostAllocPortable | cudaHostAllocMapped));
        *static_cast<unsigned *>(memory) = 0;
        return static_cast<volatile unsigned *>(memory);
    }();
    return number;
}

template <class Real>
__global__ void bowl_kernel(int64_t n, const Real *x, double *f, Real *g) { // one thread suffices for the small n
    *f = 0;
    for (int64_t i = 0; i < n; i++) {
        const double away = static_cast<double>(x[i]) - static_cast<double>(i) / n, weight = 1 + i % 7;
        *f += weight * away * away / 2;
        g[i] = static_cast<Real>(weight * away);
    }
}

__global__ void squares_kernel(int n, int64_t walks, int64_t batch, const double *points, double *values) {
    for (int64_t p = threadIdx.x; p < batch; p += blockDim.x) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += points[2 * walks * j + p] * points[2 * walks * j + p];
        values[p] = sum;
    }
}

} // namespace

int devices() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void use(int device) { check(cudaSetDevice(device)); }

void *allocate(int64_t bytes) {
    void *memory = nullptr;
    check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)));
    return memory;
}

void *allocate_managed(int64_t bytes) {
    void *memory = nullptr;
    check(cudaMallocManaged(&memory, static_cast<std::size_t>(bytes)));
    return memory;
}

void release(void *memory) { check(cudaFree(memory)); }

void hold(double seconds) {
    hold_kernel<<<1, 1>>>(static_cast<unsigned long long>(1e9 * std::min(seconds, longest_hold)), released(),
                          holds + 1);
    check(cudaGetLastError());
    holds++;
}

void let_go() { *released() = holds; }

bool is_busy() { return cudaStreamQuery(nullptr) == cudaErrorNotReady; }

void synchronize() { check(cudaDeviceSynchronize()); }

template <class Real> void bowl(int64_t n, const Real *x, double *f, Real *g) {
    bowl_kernel<<<1, 1>>>(n, x, f, g);
    check(cudaGetLastError());
}
template void bowl(int64_t, const double *, double *, double *);
template void bowl(int64_t, const float *, double *, float *);

void squares(int n, int64_t walks, int64_t batch, const double *points, double *values) {
    squares_kernel<<<1, 128>>>(n, walks, batch, points, values);
    check(cudaGetLastError());
}

} // namespace on_device
