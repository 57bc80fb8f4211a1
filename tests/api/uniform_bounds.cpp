// Tests of cuda_opt_set_uniform_bounds: which values it accepts, which it refuses and with which message, and how it
// combines with arrays of bounds.
#include <catch2/catch.hpp>
#include <limits>
#include <type_traits>

#include "../support/harness.hpp"

namespace api_uniform_bounds {

using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// Minimises f = sum (x_i - t)^2 / 2 with five variables, from 0.
template <class Configuration> struct Solve {
    using Real = typename Configuration::Real;
    static constexpr int n = 5;
    explicit Solve(double target = 10)
        : target_(target), handle(n, 3), x(handle, n), g(handle, n), lower(handle, n), upper(handle, n), f(handle, 1) {
        handle.set_real(CUDA_OPT_EPS, 1e-6);
    }
    int set(double l, double u) {
        return Abi<Real>::set_uniform_bounds(handle, static_cast<Real>(l), static_cast<Real>(u));
    }
    // Sets arrays whose elements are l and u. NaN stands for NULL.
    int set_arrays(double l, double u) {
        lower.write(Vector(n, l));
        upper.write(Vector(n, u));
        return Abi<Real>::set_bounds(handle, l == l ? lower.data() : nullptr, u == u ? upper.data() : nullptr);
    }
    int begin() {
        x.write(Vector(n, 0));
        return Abi<Real>::solve(handle, x.data(), f.data(), g.data());
    }
    // Solves the problem and returns the solution, whose components are all equal.
    double operator()() {
        for (int task = begin(); task > 0; task = Abi<Real>::solve(handle, x.data(), f.data(), g.data())) {
            Vector at = x.read();
            double sum = 0;
            for (double &v : at) v -= target_, sum += v * v / 2;
            g.write(at);
            f.write({sum});
        }
        const Vector at = x.read();
        for (const double v : at) CHECK(v == at[0]);
        CHECK(cuda_opt_reset(handle) == 0);
        return at[0];
    }
    std::string message() const { return cuda_opt_message(handle); }

    double target_;
    Handle<Configuration> handle;
    Array<Real> x, g, lower, upper;
    Array<double> f;
};

} // namespace

CONFIGURED_TEST_CASE("Uniform bounds hold exactly until other bounds are set", "[api]", HostDouble, HostFloat,
                     CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    Solve<TestType> above(10), below(-10);
    REQUIRE(above.set(-infinite, 0.1) == 0);
    CHECK(above() == static_cast<Real>(0.1));
    CHECK(above() == static_cast<Real>(0.1)); // a reset keeps them
    REQUIRE(below.set(0.3, infinite) == 0);   // a start outside the box is projected
    CHECK(below() == static_cast<Real>(0.3));
    REQUIRE(below.set(-0.7, 0.2) == 0);
    CHECK(below() == static_cast<Real>(-0.7));
    REQUIRE(below.set(1.0 / 3, 1.0 / 3) == 0);
    CHECK(below() == static_cast<Real>(1.0 / 3));
    REQUIRE(below.set(-infinite, infinite) == 0);
    CHECK(below() == Approx(-10));
    const double largest = static_cast<double>(std::numeric_limits<Real>::max());
    REQUIRE(below.set(-largest, largest) == 0);
    CHECK(below() == Approx(-10));
}

CONFIGURED_TEST_CASE("A uniform bound holds if no array is set for its side", "[api]", HostDouble, HostFloat,
                     CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    Solve<TestType> above(10);
    REQUIRE(above.set(-2, 0.5) == 0);
    REQUIRE(above.set_arrays(-1, nan_value) == 0);
    CHECK(above() == 0.5);
    REQUIRE(above.set_arrays(-1, 0.75) == 0);
    CHECK(above() == 0.75);
    REQUIRE(above.set(-2, 0.25) == 0); // the array has precedence, even if it was set earlier
    CHECK(above() == 0.75);
    REQUIRE(above.set_arrays(nan_value, nan_value) == 0);
    CHECK(above() == 0.25);
}

CONFIGURED_TEST_CASE("Invalid uniform bounds are refused with a message that names their values", "[api]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    struct Refusal {
        double l, u;
        const char *sentence;
    };
    Solve<TestType> above(10);
    REQUIRE(above.set(-1, 0.5) == 0);
    for (const Refusal &refusal :
         {Refusal{5.25, 3.75, "the bounds leave no finite x: l = 5.25, u = 3.75 for all variables"},
          Refusal{infinite, infinite, "the bounds leave no finite x: l = inf, u = inf for all variables"},
          Refusal{-infinite, -infinite, "the bounds leave no finite x: l = -inf, u = -inf for all variables"},
          Refusal{infinite, -infinite, "the bounds leave no finite x: l = inf, u = -inf for all variables"},
          Refusal{nan_value, 1.5, "a bound is NaN: l = nan, u = 1.5 for all variables"},
          Refusal{-1.5, nan_value, "a bound is NaN: l = -1.5, u = nan for all variables"}}) {
        CHECK(above.set(refusal.l, refusal.u) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(above.message() == refusal.sentence);
    }
    CHECK(above() == 0.5); // the bounds are unchanged
}

CONFIGURED_TEST_CASE("The first call refuses an array of bounds that crosses a uniform bound", "[api]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    Solve<TestType> solve;
    REQUIRE(solve.set(-1, 1.5) == 0);
    REQUIRE(solve.set_arrays(0, nan_value) == 0);
    solve.lower.write({0, 1, 1.5, 2, 3});
    CHECK(solve.begin() == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(solve.message(), Catch::Contains("at index 3 ") && Catch::Contains("l = 2, x = 0, u = 1.5"));
    CHECK(solve.x.read() == Vector(5, 0)); // x is unchanged
    REQUIRE(solve.set_arrays(nan_value, 2) == 0);
    solve.upper.write({0, -2, -1, 1, 1});
    CHECK(solve.begin() == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(solve.message(), Catch::Contains("at index 1 ") && Catch::Contains("l = -1, x = 0, u = -2"));
}

CONFIGURED_TEST_CASE("Uniform bounds are refused after the first call and in the other precision", "[api]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    constexpr bool single = std::is_same_v<Real, float>;
    Solve<TestType> above(10);
    const int other = single ? cuda_opt_set_uniform_bounds(above.handle, -1, 0.5)
                             : cuda_opt_set_uniform_bounds_f32(above.handle, -1, 0.5F);
    CHECK(other == CUDA_OPT_MISUSE);
    CHECK(above.message() == (single
                                  ? "cuda_opt_set_uniform_bounds is for double precision, but the handle was made "
                                    "for single"
                                  : "cuda_opt_set_uniform_bounds_f32 is for single precision, but the handle was made "
                                    "for double"));
    REQUIRE(above.begin() == CUDA_OPT_EVALUATE_FG);
    CHECK(above.set(-1, 0.5) == CUDA_OPT_MISUSE);
    CHECK(above.message() == "cuda_opt_set_uniform_bounds has to come before the first call of cuda_opt_solve, or "
                             "after cuda_opt_reset");
    REQUIRE(cuda_opt_reset(above.handle) == 0);
    CHECK(above() == Approx(10)); // none of these bounds was accepted
    CHECK(above.set(-1, 0.5) == 0);
    CHECK(above() == 0.5);
}

TEST_CASE("A handle for pattern search refuses uniform bounds", "[api]") {
    cuda_opt *s = nullptr;
    REQUIRE(cuda_opt_create_search(&s, 2, 3, CUDA_OPT_BACKEND_HOST) == 0);
    CHECK(cuda_opt_set_uniform_bounds(s, -1, 1) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_message(s) ==
          std::string("cuda_opt_set_uniform_bounds is not for a handle of cuda_opt_create_search"));
    cuda_opt_destroy(&s);
}

} // namespace api_uniform_bounds
