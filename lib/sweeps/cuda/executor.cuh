// What applies rules to all variables on a CUDA device, on the handle's stream, for classes that are written once for
// host and CUDA; its counterpart is sweeps/host/executor.hpp. Only what returns a number to the host waits.
#pragma once

#include "exec/map_reduce_cuda.cuh"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

class CudaExecutor {
  public:
    template <class T> using Array = CudaArray<T, Lives::on_device>;

    // what: of messages on failures
    CudaExecutor(int device, const char *what) : device_(device), what_(what) {}
    ~CudaExecutor() { // before any of the memory is freed; nobody can be told of an error
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
    // Kernels are loaded at first, so that none is to be loaded, and waited for, when the caller's run.
    template <class... Rules> void load_maps() {
        const OnDevice on(device_);
        (check(load(map_kernel<Rules>), "the loading of a kernel"), ...);
    }
    // And memory for it; all records have to be of this many bytes at most.
    template <class Record, class Rule> void load_reduction() {
        static_assert(sizeof(Record) <= record_bytes);
        const OnDevice on(device_);
        check(load(map_reduce_kernel<Record, most_resident, Rule, StoreRecord<Record>>), "the loading of a kernel");
        if (record_.bytes() > 0) return; // the last that is allocated
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
    CudaArray<Room, Lives::on_host_mapped> record_; // written by a kernel
};

} // namespace cudaopt
