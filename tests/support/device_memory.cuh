// DeviceMemory owns memory of the current CUDA device, and check() throws errors of the runtime as exceptions. Tests
// and benchmarks use them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace cudaopt_test {

inline void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <class T> class DeviceMemory {
  public:
    explicit DeviceMemory(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
    explicit DeviceMemory(const std::vector<T> &values) : DeviceMemory(values.size()) { store(values); }
    DeviceMemory(const DeviceMemory &) = delete;
    DeviceMemory &operator=(const DeviceMemory &) = delete;
    ~DeviceMemory() { cudaFree(data_); }

    T *data() const { return data_; }
    void store(const std::vector<T> &values, std::size_t to = 0) const {
        check(cudaMemcpy(data_ + to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    // Copies values.size() elements.
    void fetch(std::vector<T> &values, std::size_t from = 0) const {
        check(cudaMemcpy(values.data(), data_ + from, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }

  private:
    T *data_ = nullptr;
};

} // namespace cudaopt_test
