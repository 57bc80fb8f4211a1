// This file replaces device.cu in a library that is built without CUDA.
#include <cstring>

#include "cuda_opt.h"
#include "device.hpp"

namespace cudaopt::unlp {

int device_of(const void *) { return on_host; }
int current_device() { return on_host; }
int copy(void *to, const void *from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    return 0;
}
int select_device(int) { return CUDA_OPT_BACKEND_UNAVAILABLE; }
int best_device() { return CUDA_OPT_BACKEND_UNAVAILABLE; }
int device_memory(std::size_t *, std::size_t *) { return CUDA_OPT_BACKEND_UNAVAILABLE; }
int sum_on_device(int, const double *, double *) { return CUDA_OPT_BACKEND_UNAVAILABLE; }

} // namespace cudaopt::unlp
