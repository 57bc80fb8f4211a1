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

template <int n, int m, class Real> Left<Real> on_host(const Data<Real> &data, int threads = 1) {
    Left<Real> left{data.x, std::vector<cudaopt::BatchEnd>(static_cast<std::size_t>(data.count))};
    cudaopt::BatchOptions chosen = options<Real>();
    chosen.threads = threads;
    cudaopt::HostBatch<n, m, Real>().run(Valleys<n, Real>(), data.count, left.x.data(),
                                         {data.lower.data(), data.upper.data(), true}, left.ends.data(), chosen);
    return left;
}

// f and g are those of the functor on the host.
template <int n, int m, class Real> Left<Real> by_reverse_communication(const Data<Real> &data, int backend) {
    using Abi = cudaopt_test::BatchAbi<Real>;
    cuda_opt *s = nullptr;
    REQUIRE(Abi::create(&s, n, data.count, m, backend) == 0);
    const auto bytes = static_cast<int64_t>(data.x.size() * sizeof(Real));
    const int64_t count = data.count;
    void *memory[5] = {};
    for (void *&one : memory) REQUIRE(cuda_opt_alloc(s, &one, bytes + 8 * count) == 0);
    auto *const x = static_cast<Real *>(memory[0]), *const g = static_cast<Real *>(memory[1]),
                *const lower = static_cast<Real *>(memory[2]), *const upper = static_cast<Real *>(memory[3]);
    auto *const f = static_cast<double *>(memory[4]);
    REQUIRE(cuda_opt_copy_in(s, x, data.x.data(), bytes) == 0);
    REQUIRE(cuda_opt_copy_in(s, lower, data.lower.data(), bytes) == 0);
    REQUIRE(cuda_opt_copy_in(s, upper, data.upper.data(), bytes) == 0);
    REQUIRE(Abi::set_bounds(s, lower, upper) == 0);
    REQUIRE(cuda_opt_set_real(s, CUDA_OPT_EPS, options<Real>().settings.eps) == 0);
    REQUIRE(cuda_opt_set_int(s, CUDA_OPT_MAX_ITERATIONS, options<Real>().settings.max_iterations) == 0);
    REQUIRE(cuda_opt_set_int(s, CUDA_OPT_THREADS, 1) == 0);
    std::vector<Real> host_x(data.x.size()), host_g(data.x.size());
    std::vector<double> host_f(static_cast<std::size_t>(count));
    while (Abi::solve(s, x, f, g) > 0) {
        int64_t active = 0;
        REQUIRE(cuda_opt_get_int(s, CUDA_OPT_BATCH, &active) == 0);
        std::vector<int64_t> list(static_cast<std::size_t>(active));
        REQUIRE(cuda_opt_copy_out(s, list.data(), cuda_opt_batch_active(s), 8 * active) == 0);
        REQUIRE(cuda_opt_copy_out(s, host_x.data(), x, bytes) == 0);
        REQUIRE(cuda_opt_copy_out(s, host_f.data(), f, 8 * count) == 0);
        REQUIRE(cuda_opt_copy_out(s, host_g.data(), g, bytes) == 0);
        for (const int64_t p : list)
            host_f[static_cast<std::size_t>(p)] =
                Valleys<n, Real>()(cudaopt::batch::OneThread{}, p, host_x.data() + p * n, host_g.data() + p * n);
        REQUIRE(cuda_opt_copy_in(s, f, host_f.data(), 8 * count) == 0);
        REQUIRE(cuda_opt_copy_in(s, g, host_g.data(), bytes) == 0);
    }
    Left<Real> left{std::vector<Real>(data.x.size()), std::vector<cudaopt::BatchEnd>(static_cast<std::size_t>(count))};
    REQUIRE(cuda_opt_copy_out(s, left.x.data(), x, bytes) == 0);
    std::vector<int64_t> ints(static_cast<std::size_t>(count));
    std::vector<double> reals(static_cast<std::size_t>(count));
    const auto read = [&](int32_t key, int32_t cudaopt::BatchEnd::*to) {
        REQUIRE(cuda_opt_batch_get_int(s, key, ints.data()) == 0);
        for (std::size_t p = 0; p < ints.size(); p++) left.ends[p].*to = static_cast<int32_t>(ints[p]);
    };
    const auto read_real = [&](int32_t key, double cudaopt::BatchEnd::*to) {
        REQUIRE(cuda_opt_batch_get_real(s, key, reals.data()) == 0);
        for (std::size_t p = 0; p < reals.size(); p++) left.ends[p].*to = reals[p];
    };
    read(CUDA_OPT_BATCH_CODE, &cudaopt::BatchEnd::code), read(CUDA_OPT_STOP_TEST, &cudaopt::BatchEnd::stop_test);
    read(CUDA_OPT_ITERATIONS, &cudaopt::BatchEnd::iterations);
    read(CUDA_OPT_EVALUATIONS, &cudaopt::BatchEnd::evaluations);
    read_real(CUDA_OPT_F, &cudaopt::BatchEnd::f), read_real(CUDA_OPT_PG_NORM_INF, &cudaopt::BatchEnd::pg_norm_inf);
    for (void *one : memory) cuda_opt_free(s, one);
    cuda_opt_destroy(&s);
    return left;
}

} // namespace batch_test
