#include "on_cuda.hpp"

#include <stdexcept>

namespace batch_test {

namespace {

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

// Memory of the device that frees itself.
template <class T> class Memory {
  public:
    explicit Memory(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    explicit Memory(const std::vector<T> &from) : Memory(from.size()) {
        check(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { cudaFree(data_); }
    T *data() const { return data_; }
    void fetch(std::vector<T> &to) const {
        check(cudaMemcpy(to.data(), data_, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }

  private:
    T *data_ = nullptr;
};

} // namespace

template <int n, int m, class Real> Left<Real> on_cuda(const Data<Real> &data, int lanes) {
    const auto count = static_cast<std::size_t>(data.count);
    const Memory<Real> x(data.x), lower(data.lower), upper(data.upper);
    const Memory<cudaopt::BatchEnd> ends(count);
    cudaopt::BatchOptions chosen = options<Real>();
    chosen.lanes = lanes;
    cudaopt::CudaBatch<n, m, Valleys<n, Real>, Real> batch;
    check(batch.run({}, data.count, x.data(), {lower.data(), upper.data(), true}, ends.data(), chosen));
    check(cudaDeviceSynchronize());
    Left<Real> left{data.x, std::vector<cudaopt::BatchEnd>(count)};
    x.fetch(left.x);
    ends.fetch(left.ends);
    return left;
}

template Left<double> on_cuda<5, 5>(const Data<double> &, int);
template Left<double> on_cuda<20, 5>(const Data<double> &, int);
template Left<double> on_cuda<100, 8>(const Data<double> &, int);
template Left<float> on_cuda<5, 5>(const Data<float> &, int);

} // namespace batch_test
