#include "on_cuda.hpp"

#include "../support/device_memory.cuh"

namespace batch_test {

using cudaopt_test::check;
using cudaopt_test::DeviceMemory;

template <int n, int m, int64_t metric, class History, class Real>
Left<Real> on_cuda(const Data<Real> &data, int lanes) {
    const auto count = static_cast<std::size_t>(data.count);
    const DeviceMemory<Real> x(data.x), lower(data.lower), upper(data.upper);
    const DeviceMemory<cudaopt::BatchEnd> ends(count);
    cudaopt::BatchOptions chosen = options<Real>();
    chosen.lanes = lanes;
    cudaopt::CudaBatch<n, m, Valleys<n, Real>, Real, metric, HistoryOr<History, Real>> batch;
    cudaopt::BatchBounds<Real> bounds;
    if (!data.lower.empty()) bounds = {lower.data(), upper.data(), true};
    check(batch.run({}, data.count, x.data(), bounds, ends.data(), chosen));
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
template Left<double> on_cuda<20, 5, cudaopt::Metric::callers>(const Data<double> &, int);
template Left<double> on_cuda<20, 5, cudaopt::Metric::one_number, float>(const Data<double> &, int);

} // namespace batch_test
