// CudaExecutor applies functors, called rules, to all variables on a CUDA device, on the stream of the handle. Classes
// that are written once for both host and CUDA use it. The counterpart for the host is in sweeps/host/executor.hpp.
// Applying a rule without a record does not wait for the stream. Reductions, selections and copies do.
#pragma once

#include <algorithm>
#include <memory>

#include "exec/accumulators.hpp"
#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/support/selection.cuh"
#include "sweeps/cuda/support/support.cuh"

namespace cudaopt {

class CudaExecutor {
  public:
    template <class T> using Array = CudaArray<T, Lives::on_device>;

    // The other arguments name the operations in error messages: each of them, or all by one name.
    CudaExecutor(int device, const char *map, const char *reduction, const char *before_copy, const char *copy)
        : device_(device), map_(map), reduction_(reduction), before_copy_(before_copy), copy_(copy) {}
    CudaExecutor(int device, const char *what) : CudaExecutor(device, what, what, what, what) {}
    // The destructor waits for the stream before memory is freed. It cannot report errors.
    ~CudaExecutor() {
        const OnDevice on(device_, std::nothrow);
        if (cancellation_) cudaStreamSynchronize(stream_);
    }
    // Begins a solve, which uses these rules. Their kernels are loaded before their first launch. Otherwise the first
    // launch might wait until the caller's kernels have ended. The first call also allocates the memory that the
    // reductions share.
    template <class... Rules> void start(const Resources &resources) {
        stream_ = static_cast<cudaStream_t>(resources.stream);
        cancellation_ = &resources.cancellation;
        const OnDevice on(device_);
        const std::size_t record_bytes = std::max({std::size_t{0}, load_kernel<Rules>()...});
        // The array record_ is allocated last, so if it exists, all others exist too.
        if (record_bytes == 0 || record_.bytes() > 0) return;
        scratch_.allocate(static_cast<int64_t>(arrivals_bytes + block_limit * record_bytes));
        check(cudaMemsetAsync(scratch_.get(), 0, static_cast<std::size_t>(scratch_.bytes()), stream_),
              "cudaMemsetAsync");
        record_.allocate(static_cast<int64_t>(record_bytes));
    }
    // Returns the memory of the array, and allocates it unless that has been done before.
    template <class T> T *allocate(Array<T> &array, int64_t count) {
        const OnDevice on(device_);
        if (!array.get()) array.allocate(count);
        return array.get();
    }
    // Allocates memory for selections among `count` items. `what` names them in error messages.
    void reserve_selection(int64_t count, const char *what) {
        if (selection_) return;
        const OnDevice on(device_);
        auto selection = std::make_unique<Selection>(what);
        selection->reserve(count, stream_);
        selection_ = std::move(selection);
    }
    int64_t bytes() const { return scratch_.bytes() + (selection_ ? selection_->bytes() : 0); }

    template <class Rule> void map(int64_t n, const Rule &rule) {
        const OnDevice on(device_);
        check(map_cuda(n, rule, stream_), map_);
    }
    template <class Rule> RecordOf<Rule> reduce(int64_t n, const Rule &rule) {
        using Record = RecordOf<Rule>;
        const OnDevice on(device_);
        auto *const to = reinterpret_cast<Record *>(record_.get());
        check(map_reduce_cuda<Record>(n, rule, StoreRecord<Record>{to}, scratch_.get(), stream_), reduction_);
        wait_for_stream(stream_, *cancellation_, reduction_);
        return *to;
    }
    // Lists the indices of the marked items in ascending order, and returns their number.
    int64_t select(int64_t count, const unsigned char *marks, int64_t *list) {
        const OnDevice on(device_);
        return (*selection_)(count, marks, list, stream_, *cancellation_);
    }
    void copy_in(void *to, const void *from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyHostToDevice); }
    void copy_out(void *to, const void *from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyDeviceToHost); }

  protected:
    const int device_;
    const char *const map_, *const reduction_, *const before_copy_, *const copy_;
    cudaStream_t stream_ = nullptr;
    CancellationToken *cancellation_ = nullptr; // NULL before the first solve
    Array<unsigned char> scratch_;              // of the reductions, or of a derived class without reductions
    std::unique_ptr<Selection> selection_;

  private:
    // Loads the kernel of a rule, and returns the size of its record, or 0 if it has none.
    template <class Rule> std::size_t load_kernel() {
        using Record = RecordOf<Rule>;
        constexpr const char *what = "the loading of a kernel";
        if constexpr (std::is_void_v<Record>) {
            check(cudaopt::load(map_kernel<Rule>), what);
            return 0;
        } else {
            check(cudaopt::load(map_reduce_kernel<Record, most_resident, Rule, StoreRecord<Record>>), what);
            return sizeof(Record);
        }
    }
    // cudaMemcpyAsync from or to pageable memory may itself wait for the stream, without a time limit. Therefore the
    // stream is awaited first, with cancellation.
    void copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
        const OnDevice on(device_);
        wait_for_stream(stream_, *cancellation_, before_copy_);
        check(cudaMemcpyAsync(to, from, bytes, kind, stream_), copy_);
        wait_for_stream(stream_, *cancellation_, copy_);
    }

    // A kernel writes the record of a reduction to host memory, and the host reads it.
    CudaArray<unsigned char, Lives::on_host_mapped> record_;
};

} // namespace cudaopt
