#include "testfuncs/search/rows.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace cudaopt::testfuncs::search {
namespace {

constexpr int threads_of_block = 128;

// Evaluates the test function at a batch of points, one point (row) per thread.
template <class F, class Real> __global__ void evaluate_rows(F function, Rows<Real> rows) {
    const int64_t k = int64_t{blockIdx.x} * threads_of_block + threadIdx.x;
    if (k < rows.count) evaluate_row(function, rows, k);
}

template <class Real> void evaluate(const Function &function, const Rows<Real> &rows, void *stream) {
    std::visit(
        [&](const auto &f) {
            if constexpr (gradient_of<std::decay_t<decltype(f)>>) {
                const auto blocks = static_cast<unsigned>((rows.count + threads_of_block - 1) / threads_of_block);
                evaluate_rows<<<blocks, threads_of_block, 0, static_cast<cudaStream_t>(stream)>>>(f, rows);
                const cudaError_t status = cudaGetLastError();
                if (status != cudaSuccess)
                    throw std::runtime_error(std::string("the evaluation failed on CUDA: ") +
                                             cudaGetErrorString(status));
            } else {
                throw std::invalid_argument(f.facts().name + ": it has no gradient");
            }
        },
        function);
}

} // namespace

void evaluate_on_cuda(const Function &function, const Rows<double> &rows, void *stream) {
    evaluate(function, rows, stream);
}
void evaluate_on_cuda(const Function &function, const Rows<float> &rows, void *stream) {
    evaluate(function, rows, stream);
}

} // namespace cudaopt::testfuncs::search
