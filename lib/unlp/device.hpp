// What of the manual's interface touches CUDA itself; without CUDA every pointer is one to host memory.
#pragma once

#include <cstddef>

namespace cudaopt::unlp {

constexpr int on_host = -1;
constexpr int unknown_device = -2; // CUDA is there, but fails to reply

// The device whose memory this is, on_host, or not_told.
int device_of(const void *pointer);
// The calling thread's current device, on_host without CUDA, or not_told.
int current_device();
// Between any two memories, complete on return. 0 or a negative code of cuda_opt.h.
int copy(void *to, const void *from, std::size_t bytes);
// 0 or a negative code of cuda_opt.h.
int select_device(int id);
// The fastest device, or CUDA_OPT_BACKEND_UNAVAILABLE.
int best_device();
// Of the current device, in bytes. 0 or a negative code of cuda_opt.h.
int device_memory(std::size_t *free, std::size_t *whole);
// In device memory, enqueued on the legacy default stream. 0 or a negative code of cuda_opt.h.
int sum_on_device(int n, const double *values, double *sum);

} // namespace cudaopt::unlp
