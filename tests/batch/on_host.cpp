// Functions that are not forced into their callers compile in half the time.
#define CUDA_OPT_HD_INLINE inline

#include "on_host.hpp"

#include "host_functor.hpp"

namespace batch_test {

using cudaopt::Metric;

template <int n, int m, int64_t metric, class History, class Real>
Left<Real> on_host(const Data<Real> &data, int threads) {
    return solve_on_host<n, m, metric, History>(data, threads);
}

// Loops are unrolled for m up to 10. A learned diagonal or a caller's diagonal needs another type of state.
template Left<double> on_host<1, 3>(const Data<double> &, int);
template Left<double> on_host<5, 1>(const Data<double> &, int);
template Left<double> on_host<5, 5>(const Data<double> &, int);
template Left<double> on_host<5, 10>(const Data<double> &, int);
template Left<double> on_host<20, 5>(const Data<double> &, int);
template Left<double> on_host<20, 11>(const Data<double> &, int);
template Left<double> on_host<33, 7>(const Data<double> &, int);
template Left<double> on_host<100, 8>(const Data<double> &, int);
template Left<float> on_host<5, 5>(const Data<float> &, int);
template Left<float> on_host<20, 6>(const Data<float> &, int);
template Left<double> on_host<1, 3, Metric::learned>(const Data<double> &, int);
template Left<double> on_host<20, 5, Metric::learned>(const Data<double> &, int);
template Left<double> on_host<20, 5, Metric::callers>(const Data<double> &, int);
template Left<float> on_host<5, 7, Metric::learned>(const Data<float> &, int);
template Left<double> on_host<20, 5, Metric::one_number, float>(const Data<double> &, int);
template Left<double> on_host<20, 5, Metric::one_number, cudaopt::bfloat16>(const Data<double> &, int);
template Left<double> on_host<20, 5, Metric::learned, float>(const Data<double> &, int);

} // namespace batch_test
