// In place of cuda.cpp where nothing is compiled for CUDA.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"

TEST_CASE("One thread block runs the host's solves", "[block]") {
    CHECK(cudaopt_test::skipped<cudaopt_test::CudaDouble>());
}
