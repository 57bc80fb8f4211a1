#include "dgemm.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <limits>
#include <stdexcept>
#include <string>

namespace cudaopt::bench {

namespace {

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA failed: ") + cudaGetErrorString(status));
}
void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuBLAS failed: ") + cublasGetStatusString(status));
}

class CublasDgemm final : public Dgemm {
  public:
    CublasDgemm(int64_t n, int columns, void *stream) : n_(n), stream_(static_cast<cudaStream_t>(stream)) {
        if (n > std::numeric_limits<int>::max()) throw std::runtime_error("cublasDgemm counts rows in 32 bits");
        const std::size_t products = static_cast<std::size_t>(columns) * columns * sizeof(double);
        void *memory = nullptr;
        check(cudaMalloc(&memory, static_cast<std::size_t>(n) * columns * sizeof(double)));
        columns_ = static_cast<double *>(memory);
        check(cudaMalloc(&memory, products));
        products_ = static_cast<double *>(memory);
        check(cudaMallocHost(&memory, products)); // page-locked: the fastest copy there is
        on_host_ = static_cast<double *>(memory);
        fetched_.reserve(static_cast<std::size_t>(columns) * columns);
        check(cublasCreate(&handle_));
        check(cublasSetStream(handle_, stream_));
    }
    ~CublasDgemm() override {
        cudaStreamSynchronize(stream_);
        if (handle_) cublasDestroy(handle_);
        cudaFreeHost(on_host_);
        cudaFree(products_);
        cudaFree(columns_);
    }

    void set_column(int column, const double *from_host) override {
        check(cudaMemcpyAsync(columns_ + column * n_, from_host, n_ * sizeof(double), cudaMemcpyHostToDevice, stream_));
        check(cudaStreamSynchronize(stream_));
    }
    void multiply(int columns) override {
        const double one = 1, zero = 0;
        const int n = static_cast<int>(n_);
        check(cublasDgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, columns, columns, n, &one, columns_, n, columns_, n, &zero,
                          products_, columns));
    }
    const std::vector<double> &multiply_and_fetch(int columns) override {
        const std::size_t count = static_cast<std::size_t>(columns) * columns;
        multiply(columns);
        check(cudaMemcpyAsync(on_host_, products_, count * sizeof(double), cudaMemcpyDeviceToHost, stream_));
        check(cudaStreamSynchronize(stream_));
        fetched_.assign(on_host_, on_host_ + count);
        return fetched_;
    }

  private:
    const int64_t n_;
    const cudaStream_t stream_;
    cublasHandle_t handle_ = nullptr;
    double *columns_ = nullptr, *products_ = nullptr, *on_host_ = nullptr;
    std::vector<double> fetched_;
};

} // namespace

std::unique_ptr<Dgemm> make_dgemm(int64_t n, int columns, void *stream) {
    return std::make_unique<CublasDgemm>(n, columns, stream);
}

} // namespace cudaopt::bench
