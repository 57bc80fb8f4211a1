// These tests cover the gradient check by reverse communication: its verdicts, its evaluation points and its arguments.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

struct Finding {
    int task;
    int32_t verdict;
    int64_t component, evaluations, outside;
    double supplied, difference, error;
    std::string message;
    Vector x;
};

template <class Configuration> Finding check(const Problem &problem, bool find_component = true, int64_t seed = 0) {
    using Real = typename Configuration::Real;
    const int64_t n = problem.size();
    Handle<Configuration> s(n, 1);
    Array<Real> x(s, n), g(s, n), lower(s, n), upper(s, n);
    Array<double> f(s, 1);
    x.write(problem.start);
    const bool bounded = !problem.lower.empty();
    if (bounded) lower.write(problem.lower), upper.write(problem.upper), s.set_bounds(lower.data(), upper.data());
    const auto own_seed = static_cast<int64_t>(cudaopt_test::seed(static_cast<uint64_t>(seed)));
    Finding finding{};
    const auto step = [&] {
        if constexpr (sizeof(Real) == 8)
            return cuda_opt_check_gradient(s, x.data(), f.data(), g.data(), own_seed, find_component);
        else return cuda_opt_check_gradient_f32(s, x.data(), f.data(), g.data(), own_seed, find_component);
    };
    while ((finding.task = step()) == CUDA_OPT_EVALUATE_FG) {
        const Vector point = x.read();
        for (std::size_t i = 0; i < point.size() && bounded; i++)
            finding.outside +=
                point[i] < static_cast<Real>(problem.lower[i]) || point[i] > static_cast<Real>(problem.upper[i]);
        Vector gradient(point.size());
        f.write({problem.evaluate(point, gradient)});
        g.write(gradient);
        finding.evaluations++;
    }
    finding.message = cuda_opt_message(s);
    finding.x = x.read();
    if (finding.task == 0)
        REQUIRE(cuda_opt_check_result(s, &finding.verdict, &finding.component, &finding.supplied, &finding.difference,
                                      &finding.error) == 0);
    return finding;
}

Problem with_gradient(Problem problem, const std::function<void(Vector &g)> &change) {
    const Function right = problem.evaluate;
    problem.evaluate = [=](const Vector &x, Vector &g) {
        const double f = right(x, g);
        change(g);
        return f;
    };
    return problem;
}

// Returns the chained Rosenbrock function with a start at which no component is special.
Problem somewhere(int64_t n) {
    Problem problem = chained_rosenbrock(n, 3);
    problem.lower.clear(), problem.upper.clear();
    for (std::size_t i = 0; i < problem.start.size(); i++)
        problem.start[i] = 1.3 * std::sin(3.0 * static_cast<double>(i) + 1);
    return problem;
}

} // namespace

CONFIGURED_TEST_CASE("The gradient check finds correct gradients consistent", "[check]", HostDouble, HostFloat,
                     CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {somewhere(50), extended_rosenbrock(40), extended_beale(40), extended_powell(40),
                                   extended_wood(40), trigonometric(40), torsion(12, 11), chained_rosenbrock(30, 5)}) {
        const Finding finding = check<TestType>(problem);
        INFO(problem.name << ": " << finding.message);
        CHECK(finding.task == 0);
        CHECK(finding.verdict == CUDA_OPT_GRADIENT_CONSISTENT);
        CHECK(finding.component == -1);
        CHECK(finding.outside == 0);
        CHECK(finding.evaluations == (sizeof(typename TestType::Real) == 8 ? 64 : 40));
        const std::vector<typename TestType::Real> start(problem.start.begin(), problem.start.end());
        CHECK(finding.x == Vector(start.begin(), start.end()));
    }
}

CONFIGURED_TEST_CASE("The gradient check identifies the kind of error", "[check]", HostDouble, HostFloat, CudaDouble,
                     CudaFloat) {
    if (skipped<TestType>()) return;
    const int64_t seed = GENERATE(0, 1, -7);
    const Problem right = somewhere(60);
    const auto all_times = [&](double factor) {
        return with_gradient(right, [=](Vector &g) {
            for (double &value : g) value *= factor;
        });
    };
    CHECK(check<TestType>(all_times(-1), true, seed).verdict == CUDA_OPT_GRADIENT_WRONG_SIGN);
    const Finding twice = check<TestType>(all_times(2), true, seed);
    CHECK(twice.verdict == CUDA_OPT_GRADIENT_WRONG_FACTOR);
    CHECK(twice.supplied == Approx(2 * twice.difference).epsilon(1e-2));
    CHECK_THAT(twice.message,
               Catch::Contains("g is 2 times") || Catch::Contains("g is 2.0") || Catch::Contains("g is 1.99"));
    for (const std::size_t wrong : {std::size_t{0}, std::size_t{23}, std::size_t{59}}) {
        const Problem without = with_gradient(right, [=](Vector &g) { g[wrong] = 0; });
        const Finding finding = check<TestType>(without, true, seed);
        INFO(finding.message);
        CHECK(finding.verdict == CUDA_OPT_GRADIENT_WRONG_COMPONENT);
        CHECK(finding.component == static_cast<int64_t>(wrong));
        CHECK(finding.supplied == 0);
        Vector g(right.start.size());
        right.evaluate(right.start, g);
        CHECK(finding.difference == Approx(g[wrong]).epsilon(0.02));
        CHECK(check<TestType>(without, false, seed).component == -1);
    }
    Vector before(right.start.size(), 0.0);
    const Finding stale = check<TestType>(with_gradient(right, [&](Vector &g) { std::swap(g, before); }), true, seed);
    CHECK(stale.verdict == CUDA_OPT_GRADIENT_OF_ANOTHER_POINT);
    CHECK_THAT(stale.message, Catch::Contains("that of the point before"));
    Problem kink = right;
    kink.start[7] = 0;
    kink.evaluate = [&](const Vector &x, Vector &g) {
        const double f = right.evaluate(x, g), side = x[7] > 0 ? 1 : x[7] < 0 ? -1 : 0;
        g[7] += 5000 * side;
        return f + 5000 * std::fabs(x[7]);
    };
    CHECK(check<TestType>(kink, true, seed).verdict == CUDA_OPT_GRADIENT_KINK);
}

TEST_CASE("The gradient check detects a gradient in single precision if x is in double", "[check]") {
    const Problem rounded = with_gradient(somewhere(60), [](Vector &g) {
        for (double &value : g) value = static_cast<float>(value);
    });
    CHECK(check<HostDouble>(rounded).verdict == CUDA_OPT_GRADIENT_SINGLE_PRECISION);
    CHECK(check<HostFloat>(rounded).verdict == CUDA_OPT_GRADIENT_CONSISTENT);
}

CONFIGURED_TEST_CASE("The gradient check reports variables that the bounds fix", "[check]", HostDouble, HostFloat,
                     CudaDouble, CudaFloat) {
    if (skipped<TestType>()) return;
    Problem problem = with_gradient(somewhere(50), [](Vector &g) { g[7] = 3 * g[7] + 1; });
    problem.lower.assign(50, -10), problem.upper.assign(50, 10);
    CHECK(check<TestType>(problem).verdict == CUDA_OPT_GRADIENT_WRONG_COMPONENT);
    const auto fix = [&](std::size_t i) { problem.lower[i] = problem.upper[i] = problem.start[i]; };
    for (const std::size_t i : {7, 12, 40}) fix(i);
    Finding finding = check<TestType>(problem);
    CHECK(finding.verdict == CUDA_OPT_GRADIENT_CONSISTENT);
    CHECK(finding.message.find("components of 3 variables that the bounds fix were not checked") != std::string::npos);
    for (std::size_t i = 0; i < 50; i++) fix(i);
    finding = check<TestType>(problem);
    CHECK(finding.verdict == CUDA_OPT_GRADIENT_UNDECIDED);
    CHECK(finding.message == "g was not checked, because the bounds fix all 50 variables");
}

TEST_CASE("A gradient check that is not possible is refused with a message", "[check]") {
    Problem problem = somewhere(5);
    problem.evaluate = [](const Vector &, Vector &) { return std::nan(""); };
    CHECK(check<HostDouble>(problem).task == CUDA_OPT_NOT_FINITE);
    problem = somewhere(5);
    problem.start[2] = std::numeric_limits<double>::infinity();
    CHECK(check<HostDouble>(problem).task == CUDA_OPT_IMPROPER_INPUT);

    cudaopt::Minimiser<double> s(2, 3, CUDA_OPT_BACKEND_HOST);
    double x[2] = {1, 2}, g[2] = {}, other[2] = {}, f = 0;
    for (const double scale : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
        const double scales[2] = {1, scale};
        REQUIRE(cuda_opt_set_scales(s, scales) == 0);
        CHECK(cuda_opt_check_gradient(s, x, &f, g, 0, 0) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(std::string(s.message()).find("a scale that is not positive") != std::string::npos);
    }
    REQUIRE(cuda_opt_set_scales(s, nullptr) == 0);
    CHECK(cuda_opt_check_result(s, nullptr, nullptr, nullptr, nullptr, nullptr) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_check_gradient(s, nullptr, &f, g, 0, 0) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_check_gradient(s, x, &f, x, 0, 0) == CUDA_OPT_MISUSE);
    CHECK(cuda_opt_check_gradient(nullptr, x, &f, g, 0, 0) == CUDA_OPT_MISUSE);
    REQUIRE(cuda_opt_check_gradient(s, x, &f, g, 0, 0) == CUDA_OPT_EVALUATE_FG);
    CHECK(cuda_opt_check_gradient(s, x, &f, other, 0, 0) == CUDA_OPT_MISUSE);
    s.reset();
    REQUIRE(cuda_opt_check_gradient(s, x, &f, other, 0, 0) == CUDA_OPT_EVALUATE_FG);
    s.reset();
    // The same handle can solve afterwards. The check is refused during a solve.
    x[0] = 1, x[1] = 2;
    while (s.solve(x, &f, g) == CUDA_OPT_EVALUATE_FG) {
        f = (x[0] * x[0] + x[1] * x[1]) / 2, g[0] = x[0], g[1] = x[1];
        CHECK(cuda_opt_check_gradient(s, x, &f, g, 0, 0) == CUDA_OPT_MISUSE);
    }
    CHECK(std::fabs(x[0]) < 1e-4);
    s.reset();
    s.set_ranks(0, 1, 0, 2);
    CHECK(cuda_opt_check_gradient(s, x, &f, g, 0, 0) == CUDA_OPT_MISUSE);
}
