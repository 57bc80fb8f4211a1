// In place of cuda.cpp where nothing is compiled for CUDA.
#include <catch2/catch.hpp>

#include "../support/configurations.hpp"

TEST_CASE("The walks of a search have the same bits on CUDA as on the host", "[search]") {
    CHECK(cudaopt_test::skipped<cudaopt_test::CudaDouble>());
}
