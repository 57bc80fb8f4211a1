// The configurations that test bodies run with: backend, precision of x and history precision.
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
struct HostDouble : Configuration<double, CUDA_OPT_BACKEND_HOST> {
    static constexpr const char *name = "HostDouble";
};
struct HostDouble32 : Configuration<double, CUDA_OPT_BACKEND_HOST, 32> {
    static constexpr const char *name = "HostDouble32";
};
struct HostDouble16 : Configuration<double, CUDA_OPT_BACKEND_HOST, 16> {
    static constexpr const char *name = "HostDouble16";
};
struct HostFloat : Configuration<float, CUDA_OPT_BACKEND_HOST> {
    static constexpr const char *name = "HostFloat";
};
struct HostFloat16 : Configuration<float, CUDA_OPT_BACKEND_HOST, 16> {
    static constexpr const char *name = "HostFloat16";
};
struct CudaDouble : Configuration<double, CUDA_OPT_BACKEND_CUDA> {
    static constexpr const char *name = "CudaDouble";
};
struct CudaDouble32 : Configuration<double, CUDA_OPT_BACKEND_CUDA, 32> {
    static constexpr const char *name = "CudaDouble32";
};
struct CudaDouble16 : Configuration<double, CUDA_OPT_BACKEND_CUDA, 16> {
    static constexpr const char *name = "CudaDouble16";
};
struct CudaFloat : Configuration<float, CUDA_OPT_BACKEND_CUDA> {
    static constexpr const char *name = "CudaFloat";
};
struct CudaFloat16 : Configuration<float, CUDA_OPT_BACKEND_CUDA, 16> {
    static constexpr const char *name = "CudaFloat16";
};

// A test body is compiled for the element type only. Backend and history precision are set at run time by the test
// case, so that ten configurations need only two instantiations.
template <class Real_> struct RunningConfiguration {
    using Real = Real_;
    static inline int backend = CUDA_OPT_BACKEND_HOST, history_bits = 8 * sizeof(Real_);
};

template <class Configuration> class ConfiguredCase : public Catch::ITestInvoker {
  public:
    explicit ConfiguredCase(void (*body)()) : body_(body) {}

  private:
    void invoke() const override {
        using Running = RunningConfiguration<typename Configuration::Real>;
        Running::backend = Configuration::backend;
        Running::history_bits = Configuration::history_bits;
        body_();
    }
    void (*body_)();
};

// Registers one test case per configuration, "NAME - CONFIGURATION". GENERATE is not used because Catch2 would count
// all configurations as one test case, and a case that is skipped on CUDA only would look like one that is skipped
// completely. body_for(RunningConfiguration<Real>()) returns the body as a function. A template template argument is
// not used because GCC 12 gives the specialisations of two sources the same symbol if both arguments have the same name
// in unnamed namespaces.
template <class... Configurations, class BodyFor>
bool register_cases(const Catch::SourceLineInfo &line, const std::string &name, const std::string &tags,
                    const BodyFor &body_for) {
    const auto add = [&](auto configuration) {
        using Configuration = decltype(configuration);
        auto *const one =
            new ConfiguredCase<Configuration>(body_for(RunningConfiguration<typename Configuration::Real>()));
        Catch::AutoReg(one, line, Catch::StringRef(), {name + " - " + Configuration::name, tags});
    };
    (add(Configurations()), ...);
    return true;
}

// With AddressSanitizer the tests run fewer iterations: it finds the same errors in a few, and each takes ten times as
// long.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// Returns "" if the backend works, and otherwise the reason why it does not.
inline std::string unavailable(int backend) {
    cuda_opt *s = nullptr;
    const int code = cuda_opt_create(&s, 1, 1, backend);
    const std::string reason = code == 0 ? "" : cuda_opt_message(s);
    cuda_opt_destroy(&s);
    return reason;
}

// Each test body begins with `if (skipped<TestType>()) return;`. A skipped test prints one line, so that skipped tests
// can be counted. If CUDA_OPT_TEST_REQUIRE_CUDA is set, a missing CUDA device is a failure.
template <class Configuration> bool skipped() {
    const std::string reason = unavailable(Configuration::backend);
    if (reason.empty()) return false;
    if (std::getenv("CUDA_OPT_TEST_REQUIRE_CUDA")) FAIL("CUDA is required: " << reason);
    WARN("skipped: \"" << Catch::getResultCapture().getCurrentTestName()
                       << "\" is not tested, because there is no CUDA device (" << reason << ")");
    return true;
}

} // namespace cudaopt_test

// CONFIGURED_TEST_CASE(NAME, TAGS, CONFIGURATION, ...) { body } defines a test case for each configuration. TestType
// has the members Real, backend and history_bits.
#define CONFIGURED_TEST_CASE(...)                                                                                      \
    CONFIGURED_TEST_CASE_NAMED(INTERNAL_CATCH_UNIQUE_NAME(Configured), INTERNAL_CATCH_UNIQUE_NAME(registration),       \
                               __VA_ARGS__)
#define CONFIGURED_TEST_CASE_NAMED(Body, registration, name, tags, ...)                                                \
    namespace {                                                                                                        \
    template <class TestType> struct Body { static void run(); };                                                      \
    const bool registration = cudaopt_test::register_cases<__VA_ARGS__>(                                               \
        CATCH_INTERNAL_LINEINFO, name, tags, [](auto running) { return &Body<decltype(running)>::run; });              \
    }                                                                                                                  \
    template <class TestType> void Body<TestType>::run()

#define HOST_CONFIGURATIONS                                                                                            \
    cudaopt_test::HostDouble, cudaopt_test::HostDouble32, cudaopt_test::HostDouble16, cudaopt_test::HostFloat,         \
        cudaopt_test::HostFloat16
#ifdef CUDA_OPT_TEST_HOST_ALONE // under a sanitizer without CUDA, which would only skip the others
#define EVERY_CONFIGURATION HOST_CONFIGURATIONS
#else
#define EVERY_CONFIGURATION                                                                                            \
    HOST_CONFIGURATIONS, cudaopt_test::CudaDouble, cudaopt_test::CudaDouble32, cudaopt_test::CudaDouble16,             \
        cudaopt_test::CudaFloat, cudaopt_test::CudaFloat16
#endif
