// Backend, precision of x and bits of the memory's columns, over which the test bodies run.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "abi.hpp"

namespace cudaopt_test {

template <class Real_, int backend_, int history_bits_ = 8 * sizeof(Real_)> struct Configuration {
    using Real = Real_;
    static constexpr int backend = backend_, history_bits = history_bits_;
};
// Structs, for a test case is named after them.
struct HostDouble : Configuration<double, CUDA_OPT_BACKEND_HOST> {};
struct HostDouble32 : Configuration<double, CUDA_OPT_BACKEND_HOST, 32> {};
struct HostDouble16 : Configuration<double, CUDA_OPT_BACKEND_HOST, 16> {};
struct HostFloat : Configuration<float, CUDA_OPT_BACKEND_HOST> {};
struct HostFloat16 : Configuration<float, CUDA_OPT_BACKEND_HOST, 16> {};
struct CudaDouble : Configuration<double, CUDA_OPT_BACKEND_CUDA> {};
struct CudaDouble32 : Configuration<double, CUDA_OPT_BACKEND_CUDA, 32> {};
struct CudaDouble16 : Configuration<double, CUDA_OPT_BACKEND_CUDA, 16> {};
struct CudaFloat : Configuration<float, CUDA_OPT_BACKEND_CUDA> {};
struct CudaFloat16 : Configuration<float, CUDA_OPT_BACKEND_CUDA, 16> {};

// AddressSanitizer finds in a few iterations what it finds in many, ten times as slowly.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// "" where the backend works, else why it does not.
inline std::string unavailable(int backend) {
    cuda_opt *s = nullptr;
    const int code = cuda_opt_create(&s, 1, 1, backend);
    const std::string reason = code == 0 ? "" : cuda_opt_message(s);
    cuda_opt_destroy(&s);
    return reason;
}

// The first line of a test body: `if (skipped<TestType>()) return;`. A skipped test says so, in one line each, by
// which they can be counted; where CUDA_OPT_TEST_REQUIRE_CUDA is set, lacking CUDA is a failure.
template <class Configuration> bool skipped() {
    const std::string reason = unavailable(Configuration::backend);
    if (reason.empty()) return false;
    if (std::getenv("CUDA_OPT_TEST_REQUIRE_CUDA")) FAIL("CUDA is required: " << reason);
    WARN("skipped: \"" << Catch::getResultCapture().getCurrentTestName()
                       << "\" is not tested, for there is no CUDA device (" << reason << ")");
    return true;
}

} // namespace cudaopt_test

#define HOST_CONFIGURATIONS                                                                                            \
    cudaopt_test::HostDouble, cudaopt_test::HostDouble32, cudaopt_test::HostDouble16, cudaopt_test::HostFloat,         \
        cudaopt_test::HostFloat16
#ifdef CUDA_OPT_TEST_HOST_ALONE // under a sanitizer, where compiling the others takes long and they cannot run
#define EVERY_CONFIGURATION HOST_CONFIGURATIONS
#else
#define EVERY_CONFIGURATION                                                                                            \
    HOST_CONFIGURATIONS, cudaopt_test::CudaDouble, cudaopt_test::CudaDouble32, cudaopt_test::CudaDouble16,             \
        cudaopt_test::CudaFloat, cudaopt_test::CudaFloat16
#endif
