#include "bench/batch/rows.hpp"

namespace cudaopt::bench {

std::vector<BatchRow> batches_on_cuda(const BatchTask &task) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        cudaGetLastError();
        return {};
    }
    return task.n == 5 ? rows_on_cuda<5>(task) : task.n == 20 ? rows_on_cuda<20>(task) : rows_on_cuda<100>(task);
}

} // namespace cudaopt::bench
