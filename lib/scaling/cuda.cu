// Scaled variables on a CUDA device, on the handle's stream. Only the check of the scales waits.
#include "exec/map_reduce_cuda.cuh"
#include "scaling/scaled_variables_on.hpp"
#include "sweeps/cuda/support.cuh"

namespace cudaopt {

namespace {

class CudaExecutor {
  public:
    template <class T> using Array = CudaArray<T, Lives::on_device>;

    explicit CudaExecutor(int device) : device_(device) {}
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
    // Memory for the check; and all kernels, of which none is to be loaded, and waited for, when the caller's run.
    template <class Real> void reserve() {
        if (report_.bytes() > 0) return; // the last that is allocated
        const OnDevice on(device_);
        load_maps<Divide<Real>, ScaleGradient<Real>, ScaleDiagonal<Real>, UnscaleX<Real>, UnscaleGradient<Real>>();
        check(load(map_reduce_kernel<ScaleRecord, most_resident, CheckScales<Real>, StoreRecord<ScaleRecord>>),
              loading);
        scratch_.allocate(map_reduce_scratch_bytes<ScaleRecord>());
        check(cudaMemsetAsync(scratch_.get(), 0, static_cast<std::size_t>(scratch_.bytes()), stream_),
              "cudaMemsetAsync");
        report_.allocate(1);
    }
    int64_t bytes() const { return scratch_.bytes(); }

    template <class Rule> void map(int64_t n, const Rule &rule) {
        const OnDevice on(device_);
        check(map_cuda(n, rule, stream_), "the scaling of variables");
    }
    template <class Rule> ScaleRecord reduce(int64_t n, const Rule &rule) {
        const OnDevice on(device_);
        const StoreRecord<ScaleRecord> store{report_.get()};
        check(map_reduce_cuda<ScaleRecord>(n, rule, store, scratch_.get(), stream_), "the check of the scales");
        wait_for_stream(stream_, *cancellation_, "the check of the scales");
        return report_[0];
    }
    void copy_out(void *to, const void *from, std::size_t bytes) {
        const OnDevice on(device_);
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "a copy of the scales");
        wait_for_stream(stream_, *cancellation_, "a copy of the scales");
    }

  private:
    static constexpr const char *loading = "the loading of a kernel";

    template <class... Rules> static void load_maps() { (check(load(map_kernel<Rules>), loading), ...); }

    int device_ = 0;
    cudaStream_t stream_ = nullptr;
    CancellationToken *cancellation_ = nullptr;
    Array<unsigned char> scratch_;
    CudaArray<ScaleRecord, Lives::on_host_mapped> report_; // written by a kernel
};

} // namespace

std::unique_ptr<ScaledVariables> make_cuda_scaled_variables(int64_t n, int bits, int device) {
    if (bits == 32) return std::make_unique<ScaledVariablesOn<CudaExecutor, float>>(n, device);
    return std::make_unique<ScaledVariablesOn<CudaExecutor, double>>(n, device);
}

} // namespace cudaopt
