// W'W by cuBLAS, where W has the given number of columns of n doubles in device memory.
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
    virtual const std::vector<double> &multiply_and_fetch(int columns) = 0;
};

// NULL where there was no cuBLAS to build with. Throws std::runtime_error when cuBLAS or the memory fails.
std::unique_ptr<Dgemm> make_dgemm(int64_t n, int columns, void *stream);

} // namespace cudaopt::bench
