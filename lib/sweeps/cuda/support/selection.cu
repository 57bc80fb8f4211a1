// Implements the selection of marked items (selection.cuh) by CUB.
#include "sweeps/cuda/support/selection.cuh"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace cudaopt {

std::size_t Selection::enqueue(void *scratch, std::size_t bytes, int64_t count, const unsigned char *marks,
                               int64_t *list, cudaStream_t stream) {
    // The call of cudaGetLastError() clears an earlier error, which CUB would otherwise report.
    cudaGetLastError();
    check(cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<int64_t>(0), marks, list, count_.get(),
                                     count, stream),
          what_);
    return bytes;
}

} // namespace cudaopt
