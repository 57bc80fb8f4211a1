// This file replaces cuda.cpp in builds without CUDA.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"

TEST_CASE("A batch has the same bits on CUDA as on the host", "[batch]") {
    CHECK(cudaopt_test::skipped<cudaopt_test::CudaDouble>());
}
