// The search's sweeps on the current CUDA device, on the handle's stream. Only what has to tell the host a number
// waits.
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include "backend/backend.hpp"
#include "backend/cuda_support.cuh"
#include "exec/map_reduce_cuda.cuh"
#include "search/sweeps_on.hpp"

namespace cudaopt {

namespace {

class CudaExecutor {
  public:
    template <class T> using Array = CudaArray<T, Lives::on_device>;

    CudaExecutor() { check(cudaGetDevice(&device_), "cudaGetDevice"); }
    void start(int, void *stream) { stream_ = static_cast<cudaStream_t>(stream); }
    template <class T> void allocate(Array<T> &array, int64_t count) {
        const OnDevice on(device_);
        array.allocate(count);
    }
    // Memory for the reductions and selections.
    void reserve(int64_t walks) {
        if (select_scratch_.bytes() > 0) return;
        const OnDevice on(device_);
        scratch_.allocate(map_reduce_scratch_bytes<SearchSummary>());
        check(cudaMemsetAsync(scratch_.get(), 0, static_cast<size_t>(scratch_.bytes()), stream_), "cudaMemset");
        summary_.allocate(1);
        count_.allocate(1);
        select_bytes_ = 0;
        select(nullptr, walks, nullptr, nullptr);
        select_scratch_.allocate(static_cast<int64_t>(select_bytes_));
    }
    int64_t bytes() const { return scratch_.bytes() + select_scratch_.bytes() + summary_.bytes() + count_.bytes(); }

    template <class Rule> void map(int64_t count, const Rule &rule) {
        const OnDevice on(device_);
        check(map_cuda(count, rule, stream_), "a kernel of the search");
    }
    template <class Rule> SearchSummary sum(int64_t count, const Rule &rule) {
        const OnDevice on(device_);
        const StoreRecord<SearchSummary> store{summary_.get()};
        check(map_reduce_cuda<SearchSummary>(count, rule, store, scratch_.get(), stream_), "a reduction of the search");
        SearchSummary sum;
        copy_out(&sum, summary_.get(), sizeof sum);
        return sum;
    }
    int64_t select(int64_t walks, const unsigned char *mark, int64_t *list) {
        const OnDevice on(device_);
        select(select_scratch_.get(), walks, mark, list);
        int64_t count = 0;
        copy_out(&count, count_.get(), sizeof count);
        return count;
    }
    void copy_in(void *to, const void *from, size_t bytes) { copy(to, from, bytes, cudaMemcpyHostToDevice); }
    void copy_out(void *to, const void *from, size_t bytes) { copy(to, from, bytes, cudaMemcpyDeviceToHost); }

  private:
    void select(void *scratch, int64_t walks, const unsigned char *mark, int64_t *list) {
        check(cub::DeviceSelect::Flagged(scratch, select_bytes_, thrust::counting_iterator<int64_t>(0), mark, list,
                                         count_.get(), walks, stream_),
              "a selection of walks");
    }
    void copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
        const OnDevice on(device_);
        check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    }

    int device_ = 0;
    cudaStream_t stream_ = nullptr;
    Array<unsigned char> scratch_, select_scratch_;
    Array<SearchSummary> summary_;
    Array<int64_t> count_;
    size_t select_bytes_ = 0;
};

} // namespace

std::unique_ptr<SearchSweeps> make_cuda_search() { return std::make_unique<SearchSweepsOn<CudaExecutor>>(); }

} // namespace cudaopt
