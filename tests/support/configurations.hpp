// The pairs of backend and precision over which the test bodies run.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "cuda_opt.h"

namespace cudaopt_test {

struct HostDouble {
    using Real = double;
    static constexpr int backend = CUDA_OPT_BACKEND_HOST;
};
struct HostFloat {
    using Real = float;
    static constexpr int backend = CUDA_OPT_BACKEND_HOST;
};
struct CudaDouble {
    using Real = double;
    static constexpr int backend = CUDA_OPT_BACKEND_CUDA;
};
struct CudaFloat {
    using Real = float;
    static constexpr int backend = CUDA_OPT_BACKEND_CUDA;
};

// The functions of the C ABI that come once for each precision.
template <class Real> struct Abi;

template <> struct Abi<double> {
    static constexpr auto create = cuda_opt_create;
    static constexpr auto set_bounds = cuda_opt_set_bounds;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds;
    static constexpr auto set_diagonal = cuda_opt_set_diagonal;
    static constexpr auto solve = cuda_opt_solve;
};

template <> struct Abi<float> {
    static constexpr auto create = cuda_opt_create_f32;
    static constexpr auto set_bounds = cuda_opt_set_bounds_f32;
    static constexpr auto set_uniform_bounds = cuda_opt_set_uniform_bounds_f32;
    static constexpr auto set_diagonal = cuda_opt_set_diagonal_f32;
    static constexpr auto solve = cuda_opt_solve_f32;
};

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
