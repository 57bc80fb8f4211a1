// A solve with scales is equivalent to a solve of the problem that the caller has scaled. The results are bitwise
// identical if the scales are powers of two, because then no product is rounded.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "../support/harness.hpp"

namespace parity_scaling {

using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Powers of two from 2^-5 to 2^5, out of order.
Vector powers_of_two(int64_t n) {
    Vector scales;
    for (int64_t i = 0; i < n; i++) scales.push_back(std::ldexp(1.0, static_cast<int>(7 * i % 11) - 5));
    return scales;
}

// A chain of curved valleys whose variables have the magnitude of the scales.
Problem chain(const Vector &size) {
    Problem problem = {"chain", {}, [size](const Vector &x, Vector &g) {
                           const auto n = static_cast<int64_t>(x.size());
                           std::fill(g.begin(), g.end(), 0.0);
                           return pairwise_sum(0, n, [&](int64_t i) {
                               const double y = x[i] / size[i];
                               const double away = y - 2 * std::sin(static_cast<double>(i) + 1);
                               const double bend = i + 1 < n ? x[i + 1] / size[i + 1] - y * y : 0;
                               g[i] += (3 * away - 20 * bend * y) / size[i];
                               if (i + 1 < n) g[i + 1] += 10 * bend / size[i + 1];
                               return 1.5 * away * away + 5 * bend * bend;
                           });
                       }};
    for (std::size_t i = 0; i < size.size(); i++) problem.start.push_back(i % 2 == 0 ? 2.5 * size[i] : -2.5 * size[i]);
    return problem;
}

Vector quotients(const Vector &values, const Vector &scales) {
    Vector divided = values;
    for (std::size_t i = 0; i < divided.size(); i++) divided[i] /= scales[i];
    return divided;
}
Vector products(const Vector &values, const Vector &scales) {
    Vector multiplied = values;
    for (std::size_t i = 0; i < multiplied.size(); i++) multiplied[i] *= scales[i];
    return multiplied;
}

// Returns the same problem in the variables z = x / s.
Problem by_hand(const Problem &problem, const Vector &scales) {
    Problem scaled = {problem.name, quotients(problem.start, scales),
                      [=](const Vector &z, Vector &g) {
                          const double f = problem.evaluate(products(z, scales), g);
                          g = products(g, scales);
                          return f;
                      },
                      quotients(problem.lower, scales), quotients(problem.upper, scales)};
    return scaled;
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

// A solve with an array of scales, which is in this object's memory.
template <class Configuration> class Scaled {
  public:
    using Real = typename Configuration::Real;
    Scaled(const Problem &problem, int m, const Vector &scales)
        : harness(problem, m), other_(problem.size(), m), scales_(other_, problem.size()) {
        scales_.write(scales);
        set();
    }
    void set() { REQUIRE(Abi<Real>::set_scales(harness.handle(), scales_.data()) == 0); }

    Harness<Configuration> harness;

  private:
    Handle<Configuration> other_; // owns the memory of scales_
    Array<Real> scales_;
};

// Compares the two solves after every call, until they end.
template <class Configuration>
void check_same(Harness<Configuration> &scaled, Harness<Configuration> &hand, const Vector &scales) {
    for (int task = 1; task > 0;) {
        task = hand.step();
        if (scaled.step() != task) FAIL("task " << task << ": " << scaled.outcome().message);
        const Outcome a = scaled.outcome(), b = hand.outcome();
        if (!same_bits(a.x, products(b.x, scales)) || !same_bits(results(scaled), results(hand)))
            FAIL("the results differ after " << b.evaluations << " evaluations");
        if (!same_bits(a.g, quotients(b.g, scales))) FAIL("g differs after " << b.evaluations << " evaluations");
    }
    CHECK(scaled.outcome().message == hand.outcome().message);
    CHECK(scaled.outcome().f == hand.outcome().f);
    CHECK(scaled.outcome().outside == 0);
}

template <class Configuration> using Settings = std::function<void(Harness<Configuration> &, const Vector &units)>;

// Supplies a diagonal that is estimated from the curvatures of the chain in the given units.
template <class Configuration> void supply_diagonal(Harness<Configuration> &harness, const Vector &units) {
    harness.with_diagonal([units](const Vector &x, const Vector &, Vector &diagonal) {
        for (std::size_t i = 0; i < x.size(); i++) {
            const double y = x[i] / units[i];
            diagonal[i] = units[i] * units[i] / (13 + 20 * y * y);
        }
    });
}

// The sides of the box in units of the scales. A side is an array if it is not infinite.
struct Sides {
    double lower, upper;
};
void put_in_box(Problem &problem, const Sides &sides, const Vector &units) {
    const Vector ones(problem.start.size(), 1.0);
    const auto side = [&](double bound) { return products(Vector(ones.size(), bound), units); };
    if (sides.lower > -infinite) problem.lower = side(sides.lower);
    if (sides.upper < infinite) problem.upper = side(sides.upper);
}

} // namespace

CONFIGURED_TEST_CASE("Scales give bitwise the solve of a problem that the caller has scaled", "[scaling]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const auto [what, m, set] = GENERATE(table<std::string, int, Settings<TestType>>({
        {"scalar", 5, [](auto &, const Vector &) {}},
        {"learned", 5,
         [](auto &harness, const Vector &) { harness.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED); }},
        {"the caller's diagonal", 4, supply_diagonal<TestType>},
        {"a diagonal that is kept", 4,
         [](auto &harness, const Vector &units) {
             supply_diagonal(harness, units);
             harness.set_int(CUDA_OPT_DIAGONAL_EVERY, 3);
         }},
        {"as version 3.0", 5, [](auto &harness, const Vector &) { harness.set_int(CUDA_OPT_ROBUST, 0); }},
    }));
    for (const int64_t n : {1, 33, 500})
        for (const Sides &sides : {Sides{-infinite, infinite}, Sides{-0.4, 0.7}, Sides{0, infinite},
                                   Sides{-infinite, -0.25}, Sides{0.5, 0.5}}) {
            INFO(what << ", n = " << n << ", bounds " << sides.lower << ", " << sides.upper);
            const Vector scales = powers_of_two(n), ones(scales.size(), 1.0);
            Problem problem = chain(scales);
            put_in_box(problem, sides, scales);
            Scaled<TestType> scaled(problem, m, scales);
            Harness<TestType> hand(by_hand(problem, scales), m);
            for (Harness<TestType> *harness : {&scaled.harness, &hand})
                harness->set_int(CUDA_OPT_MAX_ITERATIONS, 40).set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-9);
            set(scaled.harness, scales);
            set(hand, ones);
            check_same(scaled.harness, hand, scales);
            scaled.harness.warm_start();
            hand.warm_start();
            check_same(scaled.harness, hand, scales);
        }
}

CONFIGURED_TEST_CASE("A uniform scale with scalar bounds gives bitwise the solve of the scaled problem", "[scaling]",
                     HostDouble, HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    const Sides sides = GENERATE(Sides{-infinite, infinite}, Sides{0, infinite}, Sides{-3, 5}, Sides{-infinite, 1});
    for (const bool array : {false, true}) { // the same scales as an array or as a number
        INFO("bounds " << sides.lower << ", " << sides.upper << ", an array: " << array);
        const Vector scales(100, 8.0);
        const Problem problem = chain(scales);
        Problem in_numbers = by_hand(problem, scales);
        put_in_box(in_numbers, sides, quotients(Vector(100, 1.0), scales));
        Scaled<TestType> scaled(problem, 5, scales);
        if (!array) {
            REQUIRE(Abi<Real>::set_scales(scaled.harness.handle(), nullptr) == 0);
            REQUIRE(cuda_opt_set_uniform_scale(scaled.harness.handle(), 8) == 0);
        }
        REQUIRE(Abi<Real>::set_uniform_bounds(scaled.harness.handle(), static_cast<Real>(sides.lower),
                                              static_cast<Real>(sides.upper)) == 0);
        Harness<TestType> hand(in_numbers, 5);
        check_same(scaled.harness, hand, scales);
    }
}

CONFIGURED_TEST_CASE("With scales that are not powers of two the bounds hold exactly", "[scaling]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    Vector scales;
    for (int i = 0; i < 300; i++) scales.push_back(std::pow(10.0, i % 7 - 3) * (1 + 0.37 * (i % 5)));
    Problem problem = chain(scales);
    put_in_box(problem, {-0.1, 0.3}, scales);
    Scaled<TestType> scaled(problem, 5, scales);
    Harness<TestType> &harness = scaled.harness;
    const Outcome outcome = harness.run();
    CHECK(outcome.task == CUDA_OPT_CONVERGED);
    CHECK(outcome.outside == 0);
    int64_t at_lower = 0, at_upper = 0;
    for (std::size_t i = 0; i < scales.size(); i++) {
        at_lower += outcome.x[i] == static_cast<typename TestType::Real>(problem.lower[i]);
        at_upper += outcome.x[i] == static_cast<typename TestType::Real>(problem.upper[i]);
    }
    CHECK(at_lower == harness.get_int(CUDA_OPT_LOWER_COUNT));
    CHECK(at_upper == harness.get_int(CUDA_OPT_UPPER_COUNT));
    CHECK(at_lower > 50);
    CHECK(at_upper > 50);
}

CONFIGURED_TEST_CASE("A scale that is not positive and finite is refused with its index", "[scaling]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    const double bad = GENERATE(0.0, -2.0, std::nan(""), infinite);
    const Vector scales = powers_of_two(40);
    Vector wrong = scales;
    wrong[17] = bad;
    const Problem problem = chain(scales);
    Scaled<TestType> scaled(problem, 5, wrong);
    Harness<TestType> &harness = scaled.harness;
    CHECK(harness.call() == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(harness.outcome().message, Catch::Contains("the scale at index 17"));
    CHECK_THAT(harness.outcome().message, Catch::Contains("positive and finite"));
    CHECK(same_bits(harness.outcome().x, problem.start));
    CHECK(cuda_opt_set_uniform_scale(harness.handle(), bad) == CUDA_OPT_IMPROPER_INPUT);
    CHECK_THAT(harness.outcome().message, Catch::Contains("positive and finite"));
    // A corrected call may follow.
    REQUIRE(Abi<typename TestType::Real>::set_scales(harness.handle(), nullptr) == 0);
    CHECK(harness.step() == CUDA_OPT_EVALUATE_FG);
}

CONFIGURED_TEST_CASE("With extreme scales a solve ends with a message and every x is in the box", "[scaling]",
                     HostDouble, HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    const bool wide = sizeof(typename TestType::Real) == 8;
    const double large = wide ? 1e300 : 1e36, tiny = wide ? 4.9406564584124654e-324 : 1.4e-45;
    const double hostile = GENERATE_COPY(as<double>{}, large, 1 / large, tiny);
    const int all = GENERATE(0, 1);
    const int64_t metric = GENERATE(0, 2);
    for (const bool bounded : {false, true}) {
        INFO("scale " << hostile << ", of all: " << all << ", bounded: " << bounded << ", initial Hessian " << metric);
        const Vector sizes(30, 1.0);
        Vector scales = sizes;
        for (std::size_t i = 0; i < scales.size(); i += all ? 1 : 7) scales[i] = hostile;
        Problem problem = chain(sizes);
        if (bounded) put_in_box(problem, {-0.4, 0.7}, sizes);
        Scaled<TestType> scaled(problem, 5, scales);
        Harness<TestType> &harness = scaled.harness;
        const Outcome outcome = harness.set_int(CUDA_OPT_METRIC, metric).set_int(CUDA_OPT_MAX_EVALUATIONS, 500).run();
        INFO(outcome.message);
        CHECK(outcome.outside == 0);
        CHECK(outcome.message.size() > 10);
        for (const double x : outcome.x) CHECK(std::isfinite(x));
        if (hostile == tiny) CHECK(outcome.task == CUDA_OPT_IMPROPER_INPUT); // x / s overflows
        if (hostile == tiny) CHECK_THAT(outcome.message, Catch::Contains("leaves the range of numbers"));
    }
}

CONFIGURED_TEST_CASE("A checkpoint can be loaded with equal scales and is refused with others", "[scaling]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const int64_t metric = GENERATE(0, 1, 2);
    Vector scales;
    for (int i = 0; i < 65; i++) scales.push_back(std::pow(10.0, i % 5 - 2) * (1 + 0.37 * (i % 3)));
    Problem problem = chain(scales);
    put_in_box(problem, {-0.4, 0.7}, scales);
    const auto set = [&](Harness<TestType> &harness) {
        if (metric == 1) supply_diagonal(harness, scales);
        else harness.set_int(CUDA_OPT_METRIC, metric);
    };
    Scaled<TestType> whole(problem, 4, scales);
    set(whole.harness);
    for (int call = 0; call < 13; call++) {
        Scaled<TestType> other(problem, 4, scales);
        set(other.harness);
        const int task = whole.harness.step();
        const Checkpoint checkpoint = whole.harness.save();
        other.harness.share_diagonal(whole.harness);
        other.harness.load(checkpoint);
        CHECK(same_bits(other.harness.outcome().x, whole.harness.outcome().x));
        REQUIRE(other.harness.step() == task);
        if (call == 12) {
            while (other.harness.step() > 0) {
            }
            while (whole.harness.step() > 0) {
            }
            CHECK(same_bits(other.harness.outcome().x, whole.harness.outcome().x));
            CHECK(other.harness.get_int(CUDA_OPT_EVALUATIONS) == whole.harness.get_int(CUDA_OPT_EVALUATIONS));
        }
    }
    const Checkpoint checkpoint = whole.harness.save();
    Harness<TestType> none(problem, 4);
    set(none);
    CHECK_THROWS_WITH(none.load(checkpoint), Catch::Contains("it had scales, and the handle has none"));
    Vector changed = scales;
    changed[9] *= 2;
    Scaled<TestType> others(problem, 4, changed);
    set(others.harness);
    CHECK_THROWS_WITH(others.harness.load(checkpoint), Catch::Contains("it had scales, and the handle has others"));
    CHECK(same_bits(others.harness.outcome().x, Scaled<TestType>(problem, 4, scales).harness.outcome().x));
    none.step();
    Scaled<TestType> some(problem, 4, scales);
    set(some.harness);
    CHECK_THROWS_WITH(some.harness.load(none.save()), Catch::Contains("it had none, and the handle has some"));
}

// The quotient of bound and scale is rounded once, and in the same way in each solve.
CONFIGURED_TEST_CASE("A checkpoint can be loaded with a uniform scale and scalar bounds", "[scaling]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    using Real = typename TestType::Real;
    const double scale = GENERATE(1e-13, 0.3, 7e9);
    const Problem problem = chain(Vector(20, 1.0));
    const auto set = [&](Harness<TestType> &harness) {
        REQUIRE(Abi<Real>::set_uniform_bounds(harness.handle(), Real(0.6), Real(1.6)) == 0);
        REQUIRE(cuda_opt_set_uniform_scale(harness.handle(), scale) == 0);
        harness.set_real(CUDA_OPT_PGTOL, 0).set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_FACTR, 0);
    };
    Harness<TestType> from(problem, 4);
    set(from);
    for (int call = 0; call < 5; call++) {
        from.step();
        Harness<TestType> to(problem, 4);
        set(to);
        to.load(from.save());
        CHECK(same_bits(to.outcome().x, from.outcome().x));
        CHECK(from.get_int(CUDA_OPT_START_PROJECTED) == 20); // each z is at a bound at the start
    }
}

CONFIGURED_TEST_CASE("After a warm start a change of the scales is refused", "[scaling]", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    const Vector scales = powers_of_two(50);
    Scaled<TestType> scaled(chain(scales), 5, scales);
    Harness<TestType> &harness = scaled.harness;
    harness.run();
    harness.warm_start();
    CHECK(Abi<typename TestType::Real>::set_scales(harness.handle(), nullptr) == CUDA_OPT_MISUSE);
    CHECK_THAT(harness.outcome().message, Catch::Contains("in units of the former ones"));
    scaled.set();
    REQUIRE(cuda_opt_reset(harness.handle()) == 0);
    CHECK(Abi<typename TestType::Real>::set_scales(harness.handle(), nullptr) == 0);
    harness.restart();
    harness.run();
    harness.warm_start();
    CHECK(cuda_opt_set_uniform_scale(harness.handle(), 2) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_set_uniform_scale(harness.handle(), 1) == 0);
}

CONFIGURED_TEST_CASE("get_diagonal returns the diagonal of H0 in the caller's units", "[scaling]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    const int64_t metric = GENERATE(0, 2);
    const Vector scales = powers_of_two(64), squares = products(scales, scales);
    const Problem problem = chain(scales);
    Scaled<TestType> scaled(problem, 5, scales);
    Harness<TestType> hand(by_hand(problem, scales), 5);
    for (Harness<TestType> *harness : {&scaled.harness, &hand}) harness->set_int(CUDA_OPT_METRIC, metric).run();
    const auto diagonal = [](Harness<TestType> &harness) {
        std::vector<typename TestType::Real> values(static_cast<std::size_t>(harness.n()));
        REQUIRE(Abi<typename TestType::Real>::get_diagonal(harness.handle(), values.data()) == 0);
        return Vector(values.begin(), values.end());
    };
    CHECK(same_bits(diagonal(scaled.harness), products(diagonal(hand), squares)));
}

CONFIGURED_TEST_CASE("Scales need the additional workspace that the header documents", "[scaling]", HostDouble,
                     HostFloat, CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    constexpr int64_t n = 64 * 1000;
    const int64_t vector = n * static_cast<int64_t>(sizeof(typename TestType::Real));
    const Vector scales(n, 2.0);
    Problem problem = chain(scales);
    const bool bounded = GENERATE(false, true);
    if (bounded) put_in_box(problem, {-1, 1}, scales);
    Scaled<TestType> scaled(problem, 3, scales);
    Harness<TestType> plain(problem, 3);
    scaled.harness.step(), plain.step();
    const int64_t more = scaled.harness.get_int(CUDA_OPT_WORKSPACE_BYTES) - plain.get_int(CUDA_OPT_WORKSPACE_BYTES) -
                         (bounded ? 4 : 2) * vector;
    CHECK(more >= 0);
    CHECK(more <= 150000); // partial sums of the reduction on CUDA, which do not depend on n: 17,152 bytes
}

TEST_CASE("The log shows the caller's x and g", "[scaling]") {
    constexpr double size = 1024;
    cudaopt::Minimiser<double> s(1, 3, CUDA_OPT_BACKEND_HOST);
    s.set_uniform_scale(size);
    s.set_int(CUDA_OPT_IPRINT_FREQUENCY, 1).set_int(CUDA_OPT_IPRINT_TYPE, 3);
    std::string log;
    const auto add = [](void *user, const char *line) {
        *static_cast<std::string *>(user) += std::string(line) + "\n";
    };
    s.check(cuda_opt_set_log(s, add, &log));
    double x = 3 * size, f, g;
    while (s.solve(&x, &f, &g) == CUDA_OPT_EVALUATE_FG) f = x * x / 2 / size, g = x / size;
    CHECK_THAT(log, Catch::Contains("VECTOR X =\n   3.072000e+03"));
    CHECK_THAT(log, Catch::Contains("VECTOR G =\n   3.000000e+00"));
}

TEST_CASE("A pattern search and a batch refuse scales", "[scaling]") {
    cuda_opt *s = nullptr;
    REQUIRE(cuda_opt_create_search(&s, 2, 3, CUDA_OPT_BACKEND_HOST) == 0);
    CHECK(cuda_opt_set_uniform_scale(s, 2) == CUDA_OPT_MISUSE);
    CHECK_THAT(cuda_opt_message(s), Catch::Contains("cuda_opt_set_uniform_scale is not for a handle of "));
    cuda_opt_destroy(&s);
    REQUIRE(cuda_opt_create_batch(&s, 2, 3, 5, CUDA_OPT_BACKEND_HOST) == 0);
    CHECK(cuda_opt_set_scales(s, nullptr) == CUDA_OPT_MISUSE);
    CHECK_THAT(cuda_opt_message(s),
               Catch::Contains("cuda_opt_set_scales is not for a handle of cuda_opt_create_batch"));
    cuda_opt_destroy(&s);
}

} // namespace parity_scaling
