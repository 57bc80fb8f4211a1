// Batches by a functor on CUDA, compiled by nvcc without contraction.
#pragma once

#include "functors.hpp"

namespace batch_test {

// lanes: threads for a problem, 1 or 32. Throws std::runtime_error with the runtime's sentence.
template <int n, int m, int64_t metric = cudaopt::Metric::one_number, class History = void, class Real>
Left<Real> on_cuda(const Data<Real> &data, int lanes);

} // namespace batch_test
