// Tests of calls out of order, of calls in the wrong precision, and of pointers to the wrong memory space.
#include <catch2/catch.hpp>
#include <type_traits>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

Problem valley() { return in_box(extended_rosenbrock(20), -2, 2); }

// A handle with two variables, and its arrays.
template <class Configuration> struct Pair {
    using Real = typename Configuration::Real;
    Pair() : handle(2, 3), x(handle, 2), g(handle, 2), lower(handle, 2), upper(handle, 2), f(handle, 1) {
        x.write({0.5, 0.5});
        lower.write({-1, -1});
        upper.write({1, 1});
    }
    int solve() { return Abi<Real>::solve(handle, x.data(), f.data(), g.data()); }
    std::string message() { return cuda_opt_message(handle); }

    Handle<Configuration> handle;
    Array<Real> x, g, lower, upper;
    Array<double> f;
};

} // namespace

CONFIGURED_TEST_CASE("Functions and settings that must precede the first call are refused after it", "[api]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    Pair<TestType> pair;
    REQUIRE(pair.solve() == CUDA_OPT_EVALUATE_FG);
    CHECK(Abi<Real>::set_bounds(pair.handle, pair.lower.data(), pair.upper.data()) == CUDA_OPT_MISUSE);
    CHECK(!pair.message().empty());
    CHECK(cuda_opt_set_stream(pair.handle, nullptr) == CUDA_OPT_MISUSE);
    for (const int32_t key :
         {CUDA_OPT_DIAGCO, CUDA_OPT_METRIC, CUDA_OPT_THREADS, CUDA_OPT_ROBUST, CUDA_OPT_F_PART, CUDA_OPT_TIMED}) {
        INFO("key " << key);
        int64_t before = -1, after = -2;
        CHECK(cuda_opt_get_int(pair.handle, key, &before) == 0);
        CHECK(cuda_opt_set_int(pair.handle, key, before == 0) == CUDA_OPT_MISUSE);
        CHECK(pair.message().find("before the first call") != std::string::npos);
        CHECK(cuda_opt_get_int(pair.handle, key, &after) == 0);
        CHECK(after == before);
    }

    // The refused calls have no effect on the solve.
    pair.f.write({1});
    pair.g.write({0, 0});
    CHECK(pair.solve() == CUDA_OPT_CONVERGED);

    // After a reset these calls are accepted again.
    CHECK(cuda_opt_reset(pair.handle) == 0);
    CHECK(Abi<Real>::set_bounds(pair.handle, pair.lower.data(), pair.upper.data()) == 0);
    CHECK(pair.solve() == CUDA_OPT_EVALUATE_FG);
}

CONFIGURED_TEST_CASE("HISTORY_BITS can be set before the first call unless a warm start has kept pairs", "[api]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const int bits = TestType::history_bits, other = bits == 16 ? 32 : 16;
    Harness<TestType> harness(valley(), 5);
    cuda_opt *const s = harness.handle();
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 4);
    const auto refuses = [&](int64_t asked, const char *words) {
        CHECK(cuda_opt_set_int(s, CUDA_OPT_HISTORY_BITS, asked) == CUDA_OPT_MISUSE);
        CHECK_THAT(cuda_opt_message(s), Catch::Contains(words));
        CHECK(harness.get_int(CUDA_OPT_HISTORY_BITS) == bits);
    };
    REQUIRE(harness.step() == CUDA_OPT_EVALUATE_FG);
    refuses(other, "CUDA_OPT_HISTORY_BITS can be set before the first call");
    refuses(bits, "CUDA_OPT_HISTORY_BITS can be set before the first call"); // even the current value is refused
    const Outcome first = harness.run();
    REQUIRE(first.task == CUDA_OPT_ITERATION_LIMIT);
    refuses(other, "CUDA_OPT_HISTORY_BITS can be set before the first call");

    REQUIRE(cuda_opt_warm_start(s) == 0);
    const int64_t kept = harness.get_int(CUDA_OPT_PAIRS);
    REQUIRE(kept > 0);
    const std::string sentence = "CUDA_OPT_HISTORY_BITS cannot become " + std::to_string(other) +
                                 ": cuda_opt_warm_start has kept " + std::to_string(kept) + " pairs of " +
                                 std::to_string(bits) + " bits";
    refuses(other, sentence.c_str());
    CHECK(cuda_opt_set_int(s, CUDA_OPT_HISTORY_BITS, bits) == 0);
    CHECK(harness.run().task <= 0); // the kept pairs are used

    harness.restart();
    CHECK(harness.get_int(CUDA_OPT_PAIRS) == 0);
    CHECK(cuda_opt_set_int(s, CUDA_OPT_HISTORY_BITS, other) == 0);
    CHECK(harness.get_int(CUDA_OPT_HISTORY_BITS) == other);
    const Outcome with_other = harness.run();
    CHECK(with_other.task == CUDA_OPT_ITERATION_LIMIT);
    Harness<TestType> fresh(valley(), 5);
    fresh.set_int(CUDA_OPT_MAX_ITERATIONS, 4).set_int(CUDA_OPT_HISTORY_BITS, other);
    CHECK(fresh.run().x == with_other.x);
    CHECK(fresh.get_int(CUDA_OPT_WORKSPACE_BYTES) == harness.get_int(CUDA_OPT_WORKSPACE_BYTES));

    harness.restart(); // HISTORY_BITS returns to its first value
    CHECK(cuda_opt_set_int(s, CUDA_OPT_HISTORY_BITS, bits) == 0);
    CHECK(harness.run().x == first.x);
}

CONFIGURED_TEST_CASE("Overlapping arrays are refused unless all of them are only read", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    constexpr int n = 4;
    Handle<TestType> s(n, 3);
    Array<Real> memory(s, 8 * n);
    Array<double> f(s, 1);
    memory.write(Vector(8 * n, 0.0));
    Real *const x = memory.data(), *const g = x + n, *const lower = x + 2 * n, *const upper = x + 3 * n,
                *const h = x + 4 * n;
    const auto call = [&](Real *x_at, double *f_at, Real *g_at, const Real *lower_at, const Real *upper_at,
                          const Real *diagonal) {
        REQUIRE(cuda_opt_reset(s) == 0);
        REQUIRE(Abi<Real>::set_bounds(s, lower_at, upper_at) == 0);
        REQUIRE(Abi<Real>::set_diagonal(s, diagonal) == 0);
        return Abi<Real>::solve(s, x_at, f_at, g_at);
    };
    const auto refused = [&](int code, const std::string &one, const std::string &other) {
        INFO(cuda_opt_message(s));
        CHECK(code == CUDA_OPT_MISUSE);
        CHECK(std::string(cuda_opt_message(s)).find(one + ", of ") == 0);
        CHECK(std::string(cuda_opt_message(s)).find("bytes, and " + other + ", of ") != std::string::npos);
    };
    auto *const in_g = reinterpret_cast<double *>(g + 2);
    refused(call(x, f.data(), x, nullptr, nullptr, nullptr), "x", "g");
    refused(call(x, f.data(), g - 1, nullptr, nullptr, nullptr), "x", "g");
    refused(call(x, in_g, g, nullptr, nullptr, nullptr), "f", "g");
    refused(call(x, f.data(), g, x, upper, nullptr), "x", "the lower bounds");
    refused(call(lower + 1, f.data(), g, lower, upper, nullptr), "x", "the lower bounds");
    refused(call(x, f.data(), g, lower, g + 3, nullptr), "g", "the upper bounds");
    refused(call(x, f.data(), g, lower, upper, x + 1), "x", "the diagonal");
    CHECK(call(x, f.data(), g, lower, lower, lower) == CUDA_OPT_EVALUATE_FG); // all of them are only read
    CHECK(call(x, f.data(), g, lower, upper, h) == CUDA_OPT_EVALUATE_FG);     // the arrays are adjacent
}

CONFIGURED_TEST_CASE("A solve that has ended needs a reset before the next call", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Harness<TestType> harness(valley(), 5);
    harness.set_int(CUDA_OPT_MAX_ITERATIONS, 3);
    const Outcome outcome = harness.run();
    REQUIRE(outcome.task == CUDA_OPT_ITERATION_LIMIT);
    CHECK(harness.step() == CUDA_OPT_MISUSE);
    const Outcome after = harness.outcome();
    CHECK(after.message.find("reset") != std::string::npos);
    CHECK(after.x == outcome.x);
    CHECK(after.f == outcome.f);
    CHECK(after.g == outcome.g);
    CHECK(after.iterations == 3);
    CHECK(harness.step() == CUDA_OPT_MISUSE);
    harness.restart();
    CHECK(harness.run().task == CUDA_OPT_ITERATION_LIMIT);
}

CONFIGURED_TEST_CASE("Other arrays are refused during a solve and accepted after a reset", "[api]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    for (const int changed : {0, 1, 2}) {
        INFO("argument " << changed);
        Pair<TestType> pair, other;
        REQUIRE(pair.solve() == CUDA_OPT_EVALUATE_FG);
        pair.f.write({1});
        pair.g.write({1, 1});
        CHECK(Abi<Real>::solve(pair.handle, changed == 0 ? other.x.data() : pair.x.data(),
                               changed == 1 ? other.f.data() : pair.f.data(),
                               changed == 2 ? other.g.data() : pair.g.data()) == CUDA_OPT_MISUSE);
        // After a reset the arrays may be others.
        CHECK(cuda_opt_reset(pair.handle) == 0);
        CHECK(Abi<Real>::solve(pair.handle, other.x.data(), other.f.data(), other.g.data()) == CUDA_OPT_EVALUATE_FG);
    }
}

CONFIGURED_TEST_CASE("A double handle refuses the functions for float", "[api]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    Pair<TestType> pair;
    Array<float> single(pair.handle, 2);
    CHECK(cuda_opt_set_bounds_f32(pair.handle, single.data(), single.data()) == CUDA_OPT_MISUSE);
    CHECK(pair.message().find("cuda_opt_set_bounds") != std::string::npos);
    CHECK(cuda_opt_set_diagonal_f32(pair.handle, single.data()) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_solve_f32(pair.handle, single.data(), pair.f.data(), single.data()) == CUDA_OPT_MISUSE);
    CHECK(pair.message().find("cuda_opt_solve_f32 is for single precision") == 0);
    REQUIRE(cuda_opt_reset(pair.handle) == 0);
    CHECK(pair.solve() == CUDA_OPT_EVALUATE_FG);
}

CONFIGURED_TEST_CASE("A float handle refuses the functions for double", "[api]", HostFloat, CudaFloat) {
    if (skipped<TestType>()) return;
    Pair<TestType> pair;
    Array<double> wide(pair.handle, 2);
    CHECK(cuda_opt_set_bounds(pair.handle, wide.data(), wide.data()) == CUDA_OPT_MISUSE);
    CHECK(!pair.message().empty());
    CHECK(cuda_opt_set_diagonal(pair.handle, wide.data()) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_solve(pair.handle, wide.data(), pair.f.data(), wide.data()) == CUDA_OPT_MISUSE);
    CHECK(pair.message().find("cuda_opt_solve is for double precision") == 0);
    REQUIRE(cuda_opt_reset(pair.handle) == 0);
    CHECK(pair.solve() == CUDA_OPT_EVALUATE_FG);
}

CONFIGURED_TEST_CASE("DIAGCO = 1 without a diagonal is refused by the first call", "[api]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    Pair<TestType> pair;
    REQUIRE(cuda_opt_set_int(pair.handle, CUDA_OPT_DIAGCO, 1) == 0);
    CHECK(pair.solve() == CUDA_OPT_MISUSE);
    CHECK(pair.message().find("cuda_opt_set_diagonal") != std::string::npos);
}

CONFIGURED_TEST_CASE("The CUDA backend refuses host memory before it accesses it", "[api]", CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    std::vector<Real> host(2, Real(0.5));
    double host_f = 0;
    for (const int wrong : {0, 1, 2}) {
        INFO("argument " << wrong);
        Pair<TestType> pair;
        CHECK(Abi<Real>::solve(pair.handle, wrong == 0 ? host.data() : pair.x.data(),
                               wrong == 1 ? &host_f : pair.f.data(),
                               wrong == 2 ? host.data() : pair.g.data()) == CUDA_OPT_MISUSE);
        CHECK(pair.message().find("host") != std::string::npos);
        REQUIRE(cuda_opt_reset(pair.handle) == 0);
        CHECK(pair.solve() == CUDA_OPT_EVALUATE_FG);
    }
    Pair<TestType> pair;
    CHECK(Abi<Real>::set_bounds(pair.handle, host.data(), pair.upper.data()) == CUDA_OPT_MISUSE);
    CHECK(Abi<Real>::set_bounds(pair.handle, pair.lower.data(), host.data()) == CUDA_OPT_MISUSE);
    CHECK(Abi<Real>::set_diagonal(pair.handle, host.data()) == CUDA_OPT_MISUSE);
}

CONFIGURED_TEST_CASE("The host backend refuses device memory before it accesses it", "[api]", CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    using Host = std::conditional_t<std::is_same_v<Real, double>, HostDouble, HostFloat>;
    Pair<TestType> device;
    for (const int wrong : {0, 1, 2}) {
        INFO("argument " << wrong);
        Pair<Host> pair;
        CHECK(Abi<Real>::solve(pair.handle, wrong == 0 ? device.x.data() : pair.x.data(),
                               wrong == 1 ? device.f.data() : pair.f.data(),
                               wrong == 2 ? device.g.data() : pair.g.data()) == CUDA_OPT_MISUSE);
        CHECK(pair.message().find("device") != std::string::npos);
    }
    Pair<Host> pair;
    CHECK(Abi<Real>::set_bounds(pair.handle, device.lower.data(), pair.upper.data()) == CUDA_OPT_MISUSE);
}
