// In place of cuda.cpp where nothing is compiled for CUDA.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"

TEST_CASE("CUDA takes the host's paths in a batch", "[batch]") {
    CHECK(cudaopt_test::skipped<cudaopt_test::CudaDouble>());
}
