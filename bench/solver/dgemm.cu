#include "dgemm.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#ifdef BENCH_WITH_CUSPARSE
#include <cusparse.h>
#endif

#include <algorithm>
#include <cmath>
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

#ifdef BENCH_WITH_CUSPARSE
void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuSPARSE failed: ") + cusparseGetErrorString(status));
}

template <class T> T *on_device(const std::vector<T> &values) {
    void *memory = nullptr;
    check(cudaMalloc(&memory, values.size() * sizeof(T)));
    check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return static_cast<T *>(memory);
}

// C = W'W by the product of two dense matrices of which cuSPARSE forms the elements in a sparse matrix's pattern. Here
// that pattern has all elements, row by row.
class SampledProduct {
  public:
    SampledProduct(double *w, int64_t n, int columns, double *product, cudaStream_t stream) {
        std::vector<int> begins, places;
        for (int row = 0; row <= columns; row++) begins.push_back(row * columns);
        for (int element = 0; element < columns * columns; element++) places.push_back(element % columns);
        begins_ = on_device(begins);
        places_ = on_device(places);
        check(cusparseCreate(&handle_));
        check(cusparseSetStream(handle_, stream));
        check(cusparseCreateDnMat(&w_, n, columns, n, w, CUDA_R_64F, CUSPARSE_ORDER_COL));
        check(cusparseCreateCsr(&product_, columns, columns, int64_t{columns} * columns, begins_, places_, product,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
        std::size_t bytes = 0;
        check(cusparseSDDMM_bufferSize(handle_, transposed, plain, &one, w_, w_, &zero, product_, CUDA_R_64F,
                                       CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
        check(cudaMalloc(&buffer_, std::max<std::size_t>(bytes, 8)));
        check(cusparseSDDMM_preprocess(handle_, transposed, plain, &one, w_, w_, &zero, product_, CUDA_R_64F,
                                       CUSPARSE_SDDMM_ALG_DEFAULT, buffer_));
    }
    SampledProduct(const SampledProduct &) = delete;
    SampledProduct &operator=(const SampledProduct &) = delete;
    ~SampledProduct() {
        cudaDeviceSynchronize();
        cusparseDestroySpMat(product_);
        cusparseDestroyDnMat(w_);
        if (handle_) cusparseDestroy(handle_);
        cudaFree(buffer_);
        cudaFree(places_);
        cudaFree(begins_);
    }
    void multiply() {
        check(cusparseSDDMM(handle_, transposed, plain, &one, w_, w_, &zero, product_, CUDA_R_64F,
                            CUSPARSE_SDDMM_ALG_DEFAULT, buffer_));
    }

  private:
    static constexpr cusparseOperation_t transposed = CUSPARSE_OPERATION_TRANSPOSE,
                                         plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const double one = 1, zero = 0;
    cusparseHandle_t handle_ = nullptr;
    cusparseDnMatDescr_t w_ = nullptr;
    cusparseSpMatDescr_t product_ = nullptr;
    int *begins_ = nullptr, *places_ = nullptr;
    void *buffer_ = nullptr;
};
#endif

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
        check(cublasCreate(&handle_));
        check(cublasSetStream(handle_, stream_));
    }
    ~CublasDgemm() override {
        cudaStreamSynchronize(stream_);
        if (handle_) cublasDestroy(handle_);
        cudaFree(products_);
        cudaFree(columns_);
    }

    void set_column(int column, const double *from_host) override {
        check(cudaMemcpyAsync(columns_ + column * n_, from_host, n_ * sizeof(double), cudaMemcpyHostToDevice, stream_));
        check(cudaStreamSynchronize(stream_));
    }
    void multiply(int columns) override {
        const int n = static_cast<int>(n_);
        check(cublasDgemm(handle_, CUBLAS_OP_T, CUBLAS_OP_N, columns, columns, n, &one, columns_, n, columns_, n, &zero,
                          products_, columns));
    }
    std::vector<double> multiply_and_fetch(int columns) override {
        multiply(columns);
        return fetch(columns);
    }

    void multiply_symmetric(int columns) override {
        const int n = static_cast<int>(n_);
        check(cublasDsyrk(handle_, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, columns, n, &one, columns_, n, &zero, products_,
                          columns));
    }
    void multiply_by_columns(int columns) override {
        const int n = static_cast<int>(n_);
        for (int j = 0; j < columns; j++)
            check(cublasDgemv(handle_, CUBLAS_OP_T, n, columns, &one, columns_, n, columns_ + j * n_, 1, &zero,
                              products_ + j * columns, 1));
    }

#ifdef BENCH_WITH_CUSPARSE
    void multiply_sampled(int columns) override {
        if (!sampled_ || sampled_columns_ != columns) {
            sampled_ = std::make_unique<SampledProduct>(columns_, n_, columns, products_, stream_);
            sampled_columns_ = columns;
        }
        sampled_->multiply();
    }
    const char *sampled_unavailable() const override { return ""; }
#else
    void multiply_sampled(int) override {}
    const char *sampled_unavailable() const override { return "there was no cuSPARSE to build with"; }
#endif

    double difference(int columns, bool triangle) override {
        const std::vector<double> other = fetch(columns);
        const std::vector<double> by_dgemm = multiply_and_fetch(columns);
        double largest = 0, scale = 0;
        for (int j = 0; j < columns; j++)
            for (int i = 0; i < columns; i++) {
                const auto at = static_cast<std::size_t>(i + columns * j);
                scale = std::fmax(scale, std::fabs(by_dgemm[at]));
                if (!triangle || i <= j) largest = std::fmax(largest, std::fabs(other[at] - by_dgemm[at]));
            }
        return largest / scale;
    }

  private:
    std::vector<double> fetch(int columns) {
        std::vector<double> products(static_cast<std::size_t>(columns) * columns);
        const std::size_t bytes = products.size() * sizeof(double);
        check(cudaMemcpyAsync(products.data(), products_, bytes, cudaMemcpyDeviceToHost, stream_));
        check(cudaStreamSynchronize(stream_));
        return products;
    }

    const double one = 1, zero = 0;
    const int64_t n_;
    const cudaStream_t stream_;
    cublasHandle_t handle_ = nullptr;
    double *columns_ = nullptr, *products_ = nullptr;
#ifdef BENCH_WITH_CUSPARSE
    std::unique_ptr<SampledProduct> sampled_;
    int sampled_columns_ = 0;
#endif
};

} // namespace

std::unique_ptr<Dgemm> make_dgemm(int64_t n, int columns, void *stream) {
    return std::make_unique<CublasDgemm>(n, columns, stream);
}

} // namespace cudaopt::bench
