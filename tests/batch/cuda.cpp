// The iterates of each problem of a batch are bitwise identical on CUDA and on the host, with one thread, one warp, and
// the C interface: the objectives use only + - * /, and neither compiler contracts to fma.
#include <catch2/catch.hpp>

#include "on_cuda.hpp"
#include "on_host.hpp"

using namespace batch_test;
using namespace cudaopt_test;

namespace {

template <int n, int m, class Real> void check_cuda(int64_t count) {
    for (const bool bounded : {false, true}) {
        INFO("n = " << n << ", m = " << m << ", " << count << " problems, bounded: " << bounded);
        const Data<Real> data(n, count, bounded);
        const Left<Real> wanted = on_host<n, m>(data);
        CHECK(same(on_cuda<n, m>(data, 1), wanted));
        CHECK(same(on_cuda<n, m>(data, 32), wanted));
        CHECK(same(by_reverse_communication<n, m>(data, CUDA_OPT_BACKEND_CUDA), wanted));
        if (bounded) continue;
        const Data<Real> none = data.without_bounds(); // other kernels
        CHECK(same(on_cuda<n, m>(none, 1), wanted));
        CHECK(same(on_cuda<n, m>(none, 32), wanted));
        CHECK(same(by_reverse_communication<n, m>(none, CUDA_OPT_BACKEND_CUDA), wanted));
    }
}

} // namespace

TEST_CASE("With a diagonal initial Hessian a batch has the same bits on CUDA as on the host", "[batch]") {
    if (skipped<CudaDouble>()) return;
    using cudaopt::Metric;
    for (const bool bounded : {false, true}) {
        INFO("bounded: " << bounded);
        const Data<double> data(20, 300, bounded);
        const Left<double> with_diagonals = on_host<20, 5, Metric::callers>(data);
        CHECK(same(on_cuda<20, 5, Metric::callers>(data, 0), with_diagonals));
        CHECK(same(by_reverse_communication<20, 5, Metric::callers>(data, CUDA_OPT_BACKEND_CUDA), with_diagonals));
        CHECK(same(by_reverse_communication<20, 5, Metric::learned>(data, CUDA_OPT_BACKEND_CUDA),
                   on_host<20, 5, Metric::learned>(data)));
    }
}

TEST_CASE("With a history in single precision a batch has the same bits on CUDA as on the host", "[batch]") {
    if (skipped<CudaDouble>()) return;
    constexpr int64_t metric = cudaopt::Metric::one_number;
    for (const bool bounded : {false, true}) {
        INFO("bounded: " << bounded);
        const Data<double> data(20, 777, bounded);
        const Left<double> wanted = on_host<20, 5, metric, float>(data);
        for (const int lanes : {1, 32}) {
            CHECK(same(on_cuda<20, 5, metric, float>(data, lanes), wanted));
            if (!bounded) CHECK(same(on_cuda<20, 5, metric, float>(data.without_bounds(), lanes), wanted));
        }
    }
}

TEST_CASE("A batch has the same bits on CUDA as on the host", "[batch]") {
    if (skipped<CudaDouble>()) return;
    check_cuda<5, 5, double>(1);
    const Data<double> none(5, 0, true); // a launch of no blocks would be an error
    for (const int lanes : {1, 32}) CHECK_NOTHROW(on_cuda<5, 5>(none, lanes));
    check_cuda<5, 5, double>(3000);
    check_cuda<20, 5, double>(777);
    check_cuda<100, 8, double>(150);
    check_cuda<5, 5, float>(777);
}

// Each kernel runs with few problems, so that compute-sanitizer finishes in reasonable time.
TEST_CASE("A batch of few problems by a functor has the same bits on CUDA as on the host", "[batch]") {
    if (skipped<CudaDouble>()) return;
    for (const bool bounded : {false, true}) {
        const Data<double> data(20, 33, bounded);
        const auto wanted = on_host<20, 5>(data);
        for (const int lanes : {1, 32}) {
            CHECK(same(on_cuda<20, 5>(data, lanes), wanted));
            if (!bounded) CHECK(same(on_cuda<20, 5>(data.without_bounds(), lanes), wanted));
        }
        const Data<double> fewer(5, 70, bounded); // three warps of a block that wait for one another
        CHECK(same(on_cuda<5, 5>(fewer, 1), on_host<5, 5>(fewer)));
    }
}

TEST_CASE("A batch of few problems by the C interface has the same bits on CUDA as on the host", "[batch]") {
    if (skipped<CudaDouble>()) return;
    for (const bool bounded : {false, true}) {
        const Data<double> few(20, 9, bounded), many(1, 5001, bounded); // by warps, and by threads
        const auto of_few = on_host<20, 5>(few);
        const auto of_many = by_reverse_communication<1, 5>(many, CUDA_OPT_BACKEND_HOST);
        CHECK(same(by_reverse_communication<20, 5>(few, CUDA_OPT_BACKEND_CUDA), of_few));
        CHECK(same(by_reverse_communication<1, 5>(many, CUDA_OPT_BACKEND_CUDA), of_many));
        if (bounded) continue;
        CHECK(same(by_reverse_communication<20, 5>(few.without_bounds(), CUDA_OPT_BACKEND_CUDA), of_few));
        CHECK(same(by_reverse_communication<1, 5>(many.without_bounds(), CUDA_OPT_BACKEND_CUDA), of_many));
    }
}

// Reverse communication also uses one thread per problem here.
TEST_CASE("A batch of very many problems has the same bits on CUDA as on the host", "[batch]") {
    if (skipped<CudaDouble>()) return;
    check_cuda<20, 5, double>(20011);
    check_cuda<5, 5, float>(5003);
}
