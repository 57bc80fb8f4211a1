#include <stdexcept>

#include "bench/batch/multistart.hpp"
#include "bench/common/stopwatch.hpp"

namespace cudaopt::bench {
namespace {

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <class T> class Memory {
  public:
    explicit Memory(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { cudaFree(data_); }
    T *data() const { return data_; }

  private:
    T *data_ = nullptr;
};

} // namespace

MultistartRow multistart_on_cuda(const Multistart &task) {
    const std::vector<double> starts = starts_of(task);
    std::vector<BatchEnd> ends(static_cast<std::size_t>(task.starts));
    const Memory<double> x(starts.size());
    const Memory<BatchEnd> on_device(ends.size());
    BatchBounds<double> bounds;
    bounds.lower_all = task.lower, bounds.upper_all = task.upper;
    CudaBatch<multistart_n, multistart_m, OneOfTwelve> batch;
    double seconds = 0;
    for (int k = 0; k < 2; k++) {
        check(cudaMemcpy(x.data(), starts.data(), starts.size() * sizeof(double), cudaMemcpyHostToDevice));
        const Stopwatch watch;
        check(batch.run({task.which}, task.starts, x.data(), bounds, on_device.data(), options_of(task)));
        check(cudaDeviceSynchronize());
        seconds = watch.seconds();
    }
    check(cudaMemcpy(ends.data(), on_device.data(), ends.size() * sizeof(BatchEnd), cudaMemcpyDeviceToHost));
    return row_of(ends, seconds);
}

} // namespace cudaopt::bench
