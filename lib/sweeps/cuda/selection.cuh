// The selection of marked items: a list of their indices on the device, in order, and their number for the host.
#pragma once

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "sweeps/cuda/support.cuh"

namespace cudaopt {

class Selection {
  public:
    // For messages: what selects, and what the stream has worked on up to then.
    Selection(const char *what, const char *work) : what_(what), work_(work) {}

    // Memory for up to so many items; and CUB's kernels, which are loaded by what launches them, be it for one item
    // without a mark.
    void reserve(int64_t count, cudaStream_t stream) {
        count_.allocate(1);
        scratch_.allocate(static_cast<int64_t>(enqueue(nullptr, 0, count, nullptr, nullptr, stream)));
        no_mark_.allocate(1);
        check(cudaMemsetAsync(no_mark_.get(), 0, 1, stream), "cudaMemsetAsync");
        enqueue(1, no_mark_.get(), nullptr, stream);
    }
    int64_t bytes() const { return scratch_.bytes(); }

    // marks, list: on the device. Waits, and returns how many of the items are marked.
    int64_t operator()(int64_t count, const unsigned char *marks, int64_t *list, cudaStream_t stream,
                       CancellationToken &cancellation) {
        enqueue(count, marks, list, stream);
        wait_for_stream(stream, cancellation, work_);
        return count_[0];
    }

  private:
    // Returns the bytes of scratch that it takes; without scratch that is all it does.
    std::size_t enqueue(void *scratch, std::size_t bytes, int64_t count, const unsigned char *marks, int64_t *list,
                        cudaStream_t stream) {
        cudaGetLastError(); // an error that another call has left behind would be taken for one of the selection
        check(cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<int64_t>(0), marks, list,
                                         count_.get(), count, stream),
              what_);
        return bytes;
    }
    void enqueue(int64_t count, const unsigned char *marks, int64_t *list, cudaStream_t stream) {
        enqueue(scratch_.get(), static_cast<std::size_t>(scratch_.bytes()), count, marks, list, stream);
    }

    const char *const what_, *const work_;
    CudaArray<unsigned char, Lives::on_device> scratch_, no_mark_;
    CudaArray<int64_t, Lives::on_host_mapped> count_;
};

} // namespace cudaopt
