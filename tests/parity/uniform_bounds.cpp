// Scalar bounds give bitwise the same solve as arrays that are filled with them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "../support/harness.hpp"

namespace parity_uniform_bounds {

using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A chain of curved valleys, in which each variable is also drawn to its own target. The start lies outside all boxes
// of these tests.
Problem bent_chain(int64_t n) {
    Problem problem = {"bent chain", {}, [](const Vector &x, Vector &g) {
                           const auto size = static_cast<int64_t>(x.size());
                           std::fill(g.begin(), g.end(), 0.0);
                           return pairwise_sum(0, size, [&](int64_t i) {
                               const double away = x[i] - 2 * std::sin(static_cast<double>(i) + 1);
                               const double bend = i + 1 < size ? x[i + 1] - x[i] * x[i] : 0;
                               g[i] += 3 * away - 20 * bend * x[i];
                               if (i + 1 < size) g[i + 1] += 10 * bend;
                               return 1.5 * away * away + 5 * bend * bend;
                           });
                       }};
    for (int64_t i = 0; i < n; i++) problem.start.push_back(i % 2 == 0 ? 2.5 : -2.5);
    return problem;
}

struct Sides {
    double lower, upper;
    bool lower_array = false, upper_array = false; // if true, the bounds vary and are given as an array
};
const Sides boxes[] = {{-0.4, 0.7},
                       {0.2, 1.5},
                       {-2, -0.3},
                       {0, infinite},
                       {0.3, infinite},
                       {0.25, 0.25},
                       {-infinite, -0.25},
                       {-infinite, infinite},
                       {-1, -0.2, true},
                       {-1, 0.5, true},
                       {0.3, 1, false, true},
                       {-0.5, 1, false, true}};

// Returns the problem with all bounds in arrays.
Problem in_arrays(Problem problem, const Sides &sides) {
    const std::size_t n = problem.start.size();
    problem.lower.assign(n, sides.lower);
    problem.upper.assign(n, sides.upper);
    for (std::size_t i = 0; i < n; i++) {
        if (sides.lower_array) problem.lower[i] -= 0.125 * static_cast<double>(i % 5);
        if (sides.upper_array) problem.upper[i] += 0.125 * static_cast<double>(i % 5);
    }
    return problem;
}

// Returns a solve of the same problem with a scalar for each side that does not vary. The scalar of a side that has an
// array is ignored.
template <class Configuration> Harness<Configuration> with_numbers(const Problem &problem, const Sides &sides, int m) {
    using Real = typename Configuration::Real;
    Problem arrays = in_arrays(problem, sides);
    if (!sides.lower_array) arrays.lower.clear();
    if (!sides.upper_array) arrays.upper.clear();
    Harness<Configuration> harness(arrays, m);
    REQUIRE(Abi<Real>::set_uniform_bounds(harness.handle(), static_cast<Real>(sides.lower_array ? -0.3 : sides.lower),
                                          static_cast<Real>(sides.upper_array ? 0.4 : sides.upper)) == 0);
    return harness;
}

bool same_bits(const Vector &a, const Vector &b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

template <class Configuration> Vector results(const Harness<Configuration> &harness) {
    Vector all;
    for (int32_t key = CUDA_OPT_ITERATIONS; key <= CUDA_OPT_SUBSPACE_PROJECTED; key++)
        if (key != CUDA_OPT_WORKSPACE_BYTES) all.push_back(static_cast<double>(harness.get_int(key)));
    for (int32_t key = CUDA_OPT_F; key <= CUDA_OPT_SLOPE; key++)
        if (key != CUDA_OPT_SOLVER_SECONDS) all.push_back(harness.get_real(key));
    return all;
}

// Compares the two solves after every call, until they end.
template <class Configuration> void check_same(Harness<Configuration> &numbers, Harness<Configuration> &arrays) {
    for (int task = 1; task > 0;) {
        task = arrays.step();
        if (numbers.step() != task) FAIL("task " << task << ": " << numbers.outcome().message);
        const Outcome a = numbers.outcome(), b = arrays.outcome();
        if (!same_bits(a.x, b.x) || !same_bits(results(numbers), results(arrays)))
            FAIL("the results differ after " << b.evaluations << " evaluations");
    }
    CHECK(numbers.outcome().message == arrays.outcome().message);
    CHECK(arrays.outcome().outside == 0);
}

template <class Configuration> using Settings = std::function<void(Harness<Configuration> &)>;

} // namespace

CONFIGURED_TEST_CASE("Scalar bounds and arrays with the same values give bitwise identical solves", "[bounds]",
                     HostDouble, HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    const auto [what, m, set] = GENERATE(table<std::string, int, Settings<TestType>>({
        {"five pairs", 5, [](auto &) {}},
        {"25 pairs", 25, [](auto &harness) { harness.set_real(CUDA_OPT_EPS, 0); }},
        {"approximate Cauchy point", 3, [](auto &harness) { harness.set_int(CUDA_OPT_APPROXIMATE_CAUCHY, 1); }},
        {"with a diagonal", 4,
         [](auto &harness) {
             harness.with_diagonal([](const Vector &x, const Vector &, Vector &diagonal) {
                 for (std::size_t i = 0; i < x.size(); i++) diagonal[i] = 1 / (13 + 20 * x[i] * x[i]);
             });
         }},
    }));
    for (const int64_t n : {1, 31, 33, 64, 1000})
        for (const Sides &sides : boxes) {
            INFO(what << ", n = " << n << ", bounds " << sides.lower << (sides.lower_array ? " and lower, " : ", ")
                      << sides.upper << (sides.upper_array ? " and higher" : ""));
            const Problem problem = bent_chain(n);
            Harness<TestType> arrays(in_arrays(problem, sides), m), numbers = with_numbers<TestType>(problem, sides, m);
            for (Harness<TestType> *harness : {&arrays, &numbers}) {
                harness->set_int(CUDA_OPT_MAX_ITERATIONS, 40);
                set(*harness);
            }
            check_same(numbers, arrays);
        }
}

CONFIGURED_TEST_CASE("A checkpoint can be loaded with equal scalar bounds and is refused with others", "[bounds]",
                     HostDouble, HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    const Problem problem = bent_chain(33);
    const Sides sides{0.2, 1.5};
    Harness<TestType> arrays(in_arrays(problem, sides), 4), same = with_numbers<TestType>(problem, sides, 4);
    for (int call = 0; call < 9; call++) arrays.step();
    const Checkpoint checkpoint = arrays.save();
    same.load(checkpoint);
    CHECK(same.step() == arrays.outcome().task);
    check_same(same, arrays);

    for (const Sides &others : {Sides{1.45, 1.5}, Sides{-infinite, infinite}, Sides{0.2, infinite}}) {
        Harness<TestType> refusing = with_numbers<TestType>(problem, others, 4);
        CHECK_THROWS_WITH(refusing.load(checkpoint), Catch::Contains("the bounds are not those of the solve"));
    }
}

CONFIGURED_TEST_CASE("A warm start keeps scalar bounds unless others are set", "[bounds]", HostDouble, HostFloat,
                     CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    const Problem problem = bent_chain(65);
    Harness<TestType> harness = with_numbers<TestType>(problem, {-0.4, 0.7}, 4);
    harness.run();
    for (const double upper : {0.7, 0.6}) {
        REQUIRE(cuda_opt_warm_start(harness.handle()) == 0);
        if (upper < 0.7)
            REQUIRE(Abi<Real>::set_uniform_bounds(harness.handle(), Real(-0.4), static_cast<Real>(upper)) == 0);
        while (harness.step() > 0) {
        }
        const Vector x = harness.outcome().x;
        CHECK(*std::max_element(x.begin(), x.end()) == static_cast<Real>(upper));
        CHECK(*std::min_element(x.begin(), x.end()) == static_cast<Real>(-0.4));
    }
}

} // namespace parity_uniform_bounds
