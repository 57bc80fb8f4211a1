// A batch by a functor on the host, for sources that instantiate the solver themselves.
#pragma once

#include "functors.hpp"

namespace batch_test {

template <int n, int m, int64_t metric, class History, class Real>
Left<Real> solve_on_host(const Data<Real> &data, int threads) {
    Left<Real> left{data.x, std::vector<cudaopt::BatchEnd>(static_cast<std::size_t>(data.count))};
    cudaopt::BatchOptions chosen = options<Real>();
    chosen.threads = threads;
    cudaopt::HostBatch<n, m, Real, metric, HistoryOr<History, Real>>().run(
        Valleys<n, Real>(), data.count, left.x.data(), data.bounds(), left.ends.data(), chosen);
    return left;
}

} // namespace batch_test
