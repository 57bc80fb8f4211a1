// These tests check the size of the workspace: at most 2m + 9 vectors of n elements, and a constant.
#include <catch2/catch.hpp>

#include "../support/harness.hpp"

using namespace cudaopt_test;

CONFIGURED_TEST_CASE("The workspace is at most 2m + 9 vectors and a constant", "[memory]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    // The correction pairs have the history precision, and the other vectors have that of x.
    const int64_t constant = int64_t{64} << 20, stored = TestType::history_bits / 8,
                  width = sizeof(typename TestType::Real);
    // From 256 segments of 128 variables on, only the vectors grow with n.
    const int64_t many = TestType::backend == CUDA_OPT_BACKEND_HOST ? 40000 : 200000;
    for (const int64_t m : {1, 20}) {
        int64_t last_n = 0, last_bytes = 0;
        for (const int64_t n : {int64_t{1}, many, 2 * many}) {
            INFO("m = " << m << ", n = " << n);
            // Bounds, a diagonal and several iterations use every part of the workspace.
            Harness<TestType> harness(chained_rosenbrock(n, 1), static_cast<int>(m));
            harness.set_int(CUDA_OPT_MAX_ITERATIONS, 4);
            harness.with_diagonal([](const Vector &, const Vector &, Vector &diagonal) {
                std::fill(diagonal.begin(), diagonal.end(), 0.01);
            });
            REQUIRE(harness.step() > 0);
            const int64_t bytes = harness.get_int(CUDA_OPT_WORKSPACE_BYTES);
            harness.run();
            CHECK(harness.get_int(CUDA_OPT_WORKSPACE_BYTES) == bytes);
            // A learned diagonal needs one more vector while it is selected.
            harness.restart();
            harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED);
            harness.run();
            const int64_t more = harness.get_int(CUDA_OPT_WORKSPACE_BYTES) - bytes;
            CHECK((more >= n * width && more <= (n + 64) * width));
            CHECK(bytes + more <= (2 * m * stored + 9 * width) * n + constant);
            harness.restart();
            harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_DIAGONAL);
            harness.run();
            CHECK(harness.get_int(CUDA_OPT_WORKSPACE_BYTES) == bytes);
            CHECK(bytes >= 2 * m * n * stored);
            CHECK(bytes <= (2 * m * stored + 9 * width) * n + constant);
            CHECK(bytes - last_bytes <= (2 * m * stored + 9 * width) * (n - last_n) + (last_n < many ? constant : 0));
            last_n = n;
            last_bytes = bytes;
        }
    }
}

TEST_CASE("The workspace for partial sums is small if n is small", "[memory]") {
    Harness<HostDouble> harness(extended_rosenbrock(2), 300); // for 256 segments they would take 370 MB
    REQUIRE(harness.step() > 0);
    CHECK(harness.get_int(CUDA_OPT_WORKSPACE_BYTES) < 64 << 20);
}
