// The batches of functors.hpp on the host, and by the C interface on either backend.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>

#include "functors.hpp"
#include "run.hpp"

namespace batch_test {

template <class Real> bool same(const Left<Real> &a, const Left<Real> &b) {
    bool same = a.x.size() == b.x.size() && memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(Real)) == 0;
    for (std::size_t p = 0; p < a.ends.size(); p++) {
        const cudaopt::BatchEnd &one = a.ends[p], &other = b.ends[p];
        same = same && one.code == other.code && one.iterations == other.iterations &&
               one.evaluations == other.evaluations && one.stop_test == other.stop_test &&
               (one.f == other.f || (one.f != one.f && other.f != other.f)) &&
               (one.pg_norm_inf == other.pg_norm_inf ||
                (one.pg_norm_inf != one.pg_norm_inf && other.pg_norm_inf != other.pg_norm_inf));
    }
    return same;
}

// Compiled once for all suites, in on_host.cpp, because each instantiation contains two complete solvers.
template <int n, int m, int64_t metric = cudaopt::Metric::one_number, class History = void, class Real>
Left<Real> on_host(const Data<Real> &data, int threads = 1);

// f, g and the diagonals are those of the functor on the host.
template <int n, int m, int64_t metric = cudaopt::Metric::one_number, class Real>
Left<Real> by_reverse_communication(const Data<Real> &data, int backend) {
    cudaopt::Batch<Real> s(n, data.count, m, backend);
    cudaopt::Array<Real> x(s, data.x), g(s, x.size()), h(s, x.size()), lower(s, data.lower), upper(s, data.upper);
    cudaopt::Array<double> f(s, data.count);
    if (!data.lower.empty()) s.set_bounds_of_each(lower, upper);
    s.set_int(CUDA_OPT_METRIC, metric);
    s.set_diagonal_of_each(h.data());
    const cudaopt::Settings settings = options<Real>().settings;
    s.set_real(CUDA_OPT_EPS, settings.eps).set_real(CUDA_OPT_PGTOL, settings.pgtol);
    s.set_real(CUDA_OPT_FACTR, settings.factr).set_real(CUDA_OPT_XTOL, settings.xtol);
    s.set_int(CUDA_OPT_MAX_ITERATIONS, settings.max_iterations).set_int(CUDA_OPT_THREADS, 1);
    for (bool first = true; s.solve(x, f, g) > 0; first = false) {
        std::vector<int64_t> list(static_cast<std::size_t>(s.active()));
        s.check(cuda_opt_copy_out(s, list.data(), s.active_problems(), 8 * s.active()));
        const std::vector<Real> host_x = x.to_host();
        std::vector<Real> host_g(host_x.size()), host_h(host_x.size());
        std::vector<double> host_f(static_cast<std::size_t>(data.count));
        if (!first) host_g = g.to_host(), host_f = f.to_host(); // before, nothing has been written there
        for (const int64_t p : list) {
            host_f[static_cast<std::size_t>(p)] =
                Valleys<n, Real>()(cudaopt::batch::OneThread{}, p, host_x.data() + p * n, host_g.data() + p * n);
            Valleys<n, Real>().diagonal(cudaopt::batch::OneThread{}, p, host_x.data() + p * n, host_h.data() + p * n);
        }
        f.write(0, host_f.data(), f.size());
        g.write(0, host_g.data(), g.size());
        h.write(0, host_h.data(), h.size());
    }
    Left<Real> left{x.to_host(), std::vector<cudaopt::BatchEnd>(static_cast<std::size_t>(data.count))};
    const auto read = [&](int32_t key, int32_t cudaopt::BatchEnd::*to) {
        const std::vector<int64_t> values = s.integers(key);
        for (std::size_t p = 0; p < values.size(); p++) left.ends[p].*to = static_cast<int32_t>(values[p]);
    };
    const auto read_real = [&](int32_t key, double cudaopt::BatchEnd::*to) {
        const std::vector<double> values = s.reals(key);
        for (std::size_t p = 0; p < values.size(); p++) left.ends[p].*to = values[p];
    };
    read(CUDA_OPT_BATCH_CODE, &cudaopt::BatchEnd::code), read(CUDA_OPT_STOP_TEST, &cudaopt::BatchEnd::stop_test);
    read(CUDA_OPT_ITERATIONS, &cudaopt::BatchEnd::iterations);
    read(CUDA_OPT_EVALUATIONS, &cudaopt::BatchEnd::evaluations);
    read_real(CUDA_OPT_F, &cudaopt::BatchEnd::f), read_real(CUDA_OPT_PG_NORM_INF, &cudaopt::BatchEnd::pg_norm_inf);
    return left;
}

} // namespace batch_test
