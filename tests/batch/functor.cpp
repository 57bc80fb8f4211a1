// Batches by a functor: on the host they are those of the C interface, to the last bit, and of each number of threads.
#include <catch2/catch.hpp>

#include "batch/places.hpp"
#include "functors.hpp"
#include "on_host.hpp"

using namespace batch_test;

namespace {

template <int n, int m, class Real> void check_host(bool bounded) {
    INFO("n = " << n << ", m = " << m << ", bounded: " << bounded);
    const Data<Real> data(n, 137, bounded);
    const Left<Real> by_functor = on_host<n, m>(data),
                     by_calls = by_reverse_communication<n, m>(data, CUDA_OPT_BACKEND_HOST);
    CHECK(same(by_functor, by_calls));
    CHECK(same(on_host<n, m>(data, 3), by_functor));
    int converged = 0, ended_otherwise = 0;
    for (const cudaopt::BatchEnd &end : by_functor.ends) (end.code == 0 ? converged : ended_otherwise)++;
    CHECK(converged > 90);
    CHECK(ended_otherwise > 0);
}

} // namespace

TEST_CASE("A functor's batch is that of the C interface", "[batch]") {
    for (const bool bounded : {false, true}) {
        check_host<1, 3, double>(bounded);
        check_host<5, 5, double>(bounded);
        check_host<20, 5, double>(bounded);
        check_host<33, 8, double>(bounded);
        check_host<5, 5, float>(bounded);
    }
}

TEST_CASE("Settings that a batch has not make no difference to a functor's", "[batch]") {
    const Data<double> data(5, 50, true);
    const Left<double> wanted = on_host<5, 5>(data);
    Left<double> left{data.x, std::vector<cudaopt::BatchEnd>(50)};
    cudaopt::BatchOptions chosen = options<double>();
    chosen.threads = 1;
    chosen.settings.metric = cudaopt::Metric::learned;
    chosen.settings.report_iterates = true;
    chosen.settings.log_frequency = 0;
    chosen.settings.max_seconds = 1e-9;
    cudaopt::HostBatch<5, 5>().run(Valleys<5, double>(), 50, left.x.data(),
                                   {data.lower.data(), data.upper.data(), true}, left.ends.data(), chosen);
    CHECK(same(left, wanted));
}

TEST_CASE("A problem's memory is known when it is compiled", "[batch]") {
    static_assert(cudaopt::batch::block_bytes<double>({20, 5}) == 10336);
    static_assert(cudaopt::batch::scratch_bytes({20, 5}) < 4700);
    CHECK(cudaopt::state_bytes(5) == 7600);
}
