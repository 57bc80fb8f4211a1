// W'W by cuBLAS and by cuSPARSE, where W has the given number of columns of n doubles in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace cudaopt::bench {

class Dgemm {
  public:
    virtual ~Dgemm() = default;
    virtual void set_column(int column, const double *from_host) = 0;
    // cublasDgemm over the first columns, queued on the stream.
    virtual void multiply(int columns) = 0;
    // The same, and the product on the host, column by column.
    virtual std::vector<double> multiply_and_fetch(int columns) = 0;

    // Other ways to the same product, each queued on the stream: cublasDsyrk, which forms one triangle of it;
    // cublasDgemv with W transposed, once for each column; cusparseSDDMM with all elements of the product in its
    // pattern.
    virtual void multiply_symmetric(int columns) = 0;
    virtual void multiply_by_columns(int columns) = 0;
    virtual void multiply_sampled(int columns) = 0;
    // Why cusparseSDDMM cannot be used; empty where it can.
    virtual const char *sampled_unavailable() const = 0;
    // The largest difference of an element of the last product from cublasDgemm's, over the largest element; of the
    // last cublasDsyrk in its triangle only.
    virtual double difference(int columns, bool triangle) = 0;
};

// NULL where there was no cuBLAS to build with. Throws std::runtime_error when cuBLAS or the memory fails.
std::unique_ptr<Dgemm> make_dgemm(int64_t n, int columns, void *stream);

} // namespace cudaopt::bench
