// This file replaces cuda.cpp in builds without CUDA.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"

TEST_CASE("The walks of a search have the same bits on CUDA as on the host", "[search]") {
    CHECK(cudaopt_test::skipped<cudaopt_test::CudaDouble>());
}
