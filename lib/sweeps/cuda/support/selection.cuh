// Selection finds the items that have a mark. It writes the list of their indices to device memory, in ascending order,
// and returns their number to the host. selection.cu contains the part that uses CUB: its headers and kernels take
// about six seconds to compile, and this header is included in several translation units.
#pragma once

#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

class Selection {
  public:
    // `what` names the work of the stream up to the end of the selection in error messages.
    explicit Selection(const char *what) : what_(what) {}

    // Allocates memory for up to `count` items. It also performs one selection, because CUB's kernels are loaded by
    // their first launch.
    void reserve(int64_t count, cudaStream_t stream) {
        count_.allocate(1);
        scratch_.allocate(static_cast<int64_t>(enqueue(nullptr, 0, count, nullptr, nullptr, stream)));
        no_mark_.allocate(1);
        check(cudaMemsetAsync(no_mark_.get(), 0, 1, stream), "cudaMemsetAsync");
        enqueue(1, no_mark_.get(), nullptr, stream);
    }
    int64_t bytes() const { return scratch_.bytes(); }

    // Selects the marked items, waits for the stream and returns their number. Both `marks` and `list` are in device
    // memory.
    int64_t operator()(int64_t count, const unsigned char *marks, int64_t *list, cudaStream_t stream,
                       CancellationToken &cancellation) {
        enqueue(count, marks, list, stream);
        wait_for_stream(stream, cancellation, what_);
        return count_[0];
    }

  private:
    // Enqueues the selection and returns the number of bytes of scratch memory that it needs. If `scratch` is NULL, the
    // function only computes this number.
    std::size_t enqueue(void *scratch, std::size_t bytes, int64_t count, const unsigned char *marks, int64_t *list,
                        cudaStream_t stream);
    void enqueue(int64_t count, const unsigned char *marks, int64_t *list, cudaStream_t stream) {
        enqueue(scratch_.get(), static_cast<std::size_t>(scratch_.bytes()), count, marks, list, stream);
    }

    const char *const what_;
    CudaArray<unsigned char, Lives::on_device> scratch_, no_mark_;
    CudaArray<int64_t, Lives::on_host_mapped> count_;
};

} // namespace cudaopt
