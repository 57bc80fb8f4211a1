// This header declares those functions of the interface of the 2013 manual of L-BFGS for GPU-CUDA that call CUDA. In a
// build without CUDA every pointer refers to host memory.
#pragma once

#include <cstddef>

namespace cudaopt::unlp {

constexpr int on_host = -1;
constexpr int unknown_device = -2; // CUDA is available, but a call of CUDA that determines the device has failed.

// Returns the number of the device that owns the memory, on_host for host memory, or unknown_device if CUDA fails.
int device_of(const void *pointer);
// Returns the number of the calling thread's current device, on_host without CUDA, or unknown_device if CUDA fails.
int current_device();
// Copies memory between host and device or within one of them, and waits until the copy is complete. Returns 0 or a
// negative code of cuda_opt.h.
int copy(void *to, const void *from, std::size_t bytes);
// Makes the device with this number the current one. Returns 0 or a negative code of cuda_opt.h.
int select_device(int id);
// Returns the number of the fastest device, or CUDA_OPT_BACKEND_UNAVAILABLE.
int best_device();
// Reads the free and the total memory of the current device in bytes. Returns 0 or a negative code of cuda_opt.h.
int device_memory(std::size_t *free, std::size_t *whole);
// Sums n values in device memory on the legacy default stream, without waiting for the result. Returns 0 or a negative
// code of cuda_opt.h.
int sum_on_device(int n, const double *values, double *sum);

} // namespace cudaopt::unlp
