// What of the manual's interface touches CUDA itself; without CUDA every pointer is one to host memory.
#pragma once

#include <cstddef>

namespace cudaopt::unlp {

constexpr int on_host = -1;

/// The device whose memory this is, or on_host.
int device_of(const void *pointer);
/// The calling thread's current device, or on_host.
int current_device();
/// Between any two memories, complete on return. 0 or a negative code of cuda_opt.h.
int copy(void *to, const void *from, std::size_t bytes);
/// 0 or a negative code of cuda_opt.h.
int select_device(int id);
/// In device memory, enqueued on the legacy default stream. 0 or a negative code of cuda_opt.h.
int sum_on_device(int n, const double *values, double *sum);

} // namespace cudaopt::unlp
