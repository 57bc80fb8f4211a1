// CudaExecutor applies functors, called rules, to all variables on a CUDA device, on the stream of the handle. Classes
// that are written once for both host and CUDA use it. The counterpart for the host is in sweeps/host/executor.hpp.
// Only functions that return a result to the host wait for the stream.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

class CudaExecutor {
  public:
    template <class T> using Array = CudaArray<T, Lives::on_device>;

    // The argument `what` is the name of the operation in error messages.
    CudaExecutor(int device, const char *what) : device_(device), what_(what) {}
    // The destructor waits for the stream before memory is freed. It cannot report errors.
    ~CudaExecutor() {
        const OnDevice on(device_, std::nothrow);
        if (scratch_.bytes() > 0) cudaStreamSynchronize(stream_);
    }
    void start(int, void *stream, CancellationToken &cancellation) {
        stream_ = static_cast<cudaStream_t>(stream);
        cancellation_ = &cancellation;
    }
    template <class T> void allocate(Array<T> &array, int64_t count) {
        const OnDevice on(device_);
        array.allocate(count);
    }
    // Loads kernels before their first launch. Otherwise the first launch might wait until the caller's kernels have
    // ended.
    template <class... Rules> void load_maps() {
        const OnDevice on(device_);
        (check(load(map_kernel<Rules>), "the loading of a kernel"), ...);
    }
    // Loads the kernel of a reduction, and allocates the memory that all reductions share. The result of a reduction,
    // called its record, has at most record_bytes bytes.
    template <class Record, class Rule> void load_reduction() {
        static_assert(sizeof(Record) <= record_bytes);
        const OnDevice on(device_);
        check(load(map_reduce_kernel<Record, most_resident, Rule, StoreRecord<Record>>), "the loading of a kernel");
        // The array record_ is allocated last, so if it exists, all others exist too.
        if (record_.bytes() > 0) return;
        scratch_.allocate(arrivals_bytes + block_limit * record_bytes);
        check(cudaMemsetAsync(scratch_.get(), 0, static_cast<std::size_t>(scratch_.bytes()), stream_),
              "cudaMemsetAsync");
        record_.allocate(1);
    }
    int64_t bytes() const { return scratch_.bytes(); }

    template <class Rule> void map(int64_t n, const Rule &rule) {
        const OnDevice on(device_);
        check(map_cuda(n, rule, stream_), what_);
    }
    template <class Record, class Rule> Record reduce(int64_t n, const Rule &rule) {
        const OnDevice on(device_);
        auto *const to = reinterpret_cast<Record *>(record_.get()->bytes);
        check(map_reduce_cuda<Record>(n, rule, StoreRecord<Record>{to}, scratch_.get(), stream_), what_);
        wait_for_stream(stream_, *cancellation_, what_);
        return *to;
    }
    void copy_out(void *to, const void *from, std::size_t bytes) {
        const OnDevice on(device_);
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), what_);
        wait_for_stream(stream_, *cancellation_, what_);
    }

  private:
    static constexpr std::size_t record_bytes = 128;
    struct Room {
        alignas(16) unsigned char bytes[record_bytes];
    };

    int device_ = 0;
    const char *what_;
    cudaStream_t stream_ = nullptr;
    CancellationToken *cancellation_ = nullptr;
    Array<unsigned char> scratch_;
    // A kernel writes the record of a reduction to host memory, and the host reads it.
    CudaArray<Room, Lives::on_host_mapped> record_;
};

} // namespace cudaopt
