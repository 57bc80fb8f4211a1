// These tests cover an operator of the caller as initial inverse Hessian: the evaluations that it saves, and wrong
// operators.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../support/harness.hpp"
#include "../support/same_bits.hpp"

using namespace cudaopt_test;

namespace {

double dot(const Vector &a, const Vector &b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
    return sum;
}

// Applies the inverse of the submatrix of the five-point Laplacian that belongs to the free variables, by conjugate
// gradients. The grid has side x side points.
class InverseLaplacian {
  public:
    explicit InverseLaplacian(int side) : side_(side) {}

    void operator()(const Vector &v, const Vector &is_free, Vector &out) const {
        Vector r = v, p = v, a(v.size());
        std::fill(out.begin(), out.end(), 0.0);
        double rr = dot(r, r);
        for (double least = 1e-24 * rr; rr > least;) {
            multiply(p, is_free, a);
            const double step = rr / dot(p, a);
            for (std::size_t i = 0; i < v.size(); i++) out[i] += step * p[i], r[i] -= step * a[i];
            const double before = rr;
            rr = dot(r, r);
            for (std::size_t i = 0; i < v.size(); i++) p[i] = r[i] + rr / before * p[i];
        }
    }

  private:
    void multiply(const Vector &p, const Vector &is_free, Vector &to) const {
        const auto at = [&](int i, int j) {
            return i < 0 || j < 0 || i >= side_ || j >= side_ ? 0 : p[static_cast<std::size_t>(i * side_ + j)];
        };
        for (int i = 0; i < side_; i++)
            for (int j = 0; j < side_; j++) {
                const auto k = static_cast<std::size_t>(i * side_ + j);
                to[k] = is_free[k] * (4 * p[k] - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1));
            }
    }

    int side_;
};

void identity(const Vector &v, const Vector &, Vector &out) { out = v; }

Problem far_quadratic(double condition, int64_t n = 500) {
    Problem problem = scaled_quadratic(n, condition);
    for (std::size_t i = 0; i < problem.start.size(); i++) problem.start[i] = -1 + static_cast<double>(i % 3);
    return problem;
}

// Returns an operator that multiplies by factor / curvature of far_quadratic.
auto inverse_curvature(double condition, double factor) {
    return [=](const Vector &v, const Vector &, Vector &out) {
        for (std::size_t i = 0; i < v.size(); i++)
            out[i] = factor * v[i] /
                     scaled_quadratic_curvature(static_cast<int64_t>(i), static_cast<int64_t>(v.size()), condition);
    };
}

} // namespace

CONFIGURED_TEST_CASE("An operator that inverts the Hessian of the free variables saves evaluations", "[operator]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(30, 30);
    Harness<TestType> plain(problem, 5), helped(problem, 5);
    const bool wide = sizeof(typename TestType::Real) == 8;
    for (Harness<TestType> *one : {&plain, &helped}) one->set_real(CUDA_OPT_EPS, wide ? 1e-8 : 1e-4);
    helped.with_operator(InverseLaplacian(30));
    const Outcome without = plain.run(), with = helped.run();
    check_promises<TestType>(problem, with);
    CHECK(with.task == CUDA_OPT_CONVERGED);
    if (wide) CHECK(with.evaluations < without.evaluations); // about a ninth
    CHECK(with.f <= without.f + 1e-4 * std::fabs(without.f));
    CHECK(helped.get_int(CUDA_OPT_OPERATOR_APPLICATIONS) >= with.iterations);
    CHECK(helped.get_int(CUDA_OPT_OPERATOR_APPLICATIONS) <= 2 * with.iterations + 1);
    CHECK(helped.get_int(CUDA_OPT_OPERATOR_REFUSALS) == 0);
}

CONFIGURED_TEST_CASE("A solve converges quickly with an operator of any scale", "[operator]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    constexpr double condition = 1e6;
    for (const bool bounded : {false, true})
        for (const double factor : {1e-8, 1.0, 1e8}) {
            INFO("bounded: " << bounded << ", factor " << factor);
            const Problem problem = bounded ? in_box(far_quadratic(condition), -1, 1.6) : far_quadratic(condition);
            const double eps = sizeof(typename TestType::Real) == 8 ? 1e-5 : 1e-2;
            Harness<TestType> harness(problem, 5);
            harness.set_real(CUDA_OPT_EPS, eps).with_operator(inverse_curvature(condition, factor));
            harness.set_int(CUDA_OPT_MAX_ITERATIONS, 100); // 2 to 8 are needed, and 3000 without an operator
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
        }
}

// For a quadratic the gradient after one step is a multiple of y, so that q consists of rounding errors.
CONFIGURED_TEST_CASE("An exact operator is not refused because of rounding errors in q", "[operator]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    constexpr double condition = 10;
    for (const int64_t n : {2, 3, 4, 6}) {
        INFO(n << " variables");
        const Problem problem = far_quadratic(condition, n);
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_EPS, sizeof(typename TestType::Real) == 8 ? 1e-8 : 1e-3);
        harness.with_operator(inverse_curvature(condition, 1));
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.message.find("refused") == std::string::npos);
        CHECK(harness.get_int(CUDA_OPT_OPERATOR_REFUSALS) == 0);
    }
}

CONFIGURED_TEST_CASE("The identity as operator takes about as many evaluations as the scalar", "[operator]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    int64_t with = 0, without = 0;
    for (const Problem &problem : {torsion(20, 20), extended_rosenbrock(1000), extended_wood(1000), trigonometric(100),
                                   in_box(far_quadratic(1e4), -1, 1.6), chained_rosenbrock(200, 3)}) {
        INFO(problem.name);
        Harness<TestType> harness(problem, 5);
        harness.with_operator(identity);
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        with += outcome.evaluations;
        without += solve<TestType>(problem).evaluations;
    }
    INFO(with << " and " << without << " evaluations");
    CHECK(with <= 3 * without); // they are about equal
}

CONFIGURED_TEST_CASE("The result of the operator for variables that are not free is ignored", "[operator]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(20, 20);
    const auto solve_with = [&](double elsewhere) {
        Harness<TestType> harness(problem, 5);
        harness.with_operator([&](const Vector &v, const Vector &is_free, Vector &out) {
            InverseLaplacian(20)(v, is_free, out);
            for (std::size_t i = 0; i < v.size(); i++) {
                REQUIRE((is_free[i] == 0 || is_free[i] == 1));
                if (is_free[i] == 1) continue;
                REQUIRE(v[i] == 0);
                out[i] = elsewhere;
            }
        });
        return harness.run();
    };
    const Outcome masked = solve_with(0);
    check_same_bits(masked, solve_with(1e3));
    check_same_bits(masked, solve_with(std::numeric_limits<double>::quiet_NaN()));
}

CONFIGURED_TEST_CASE("An operator that is not positive definite ends the solve", "[operator]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const bool at_start : {true, false})
        for (const double factor : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
            INFO("at the start: " << at_start << ", factor " << factor);
            const Problem problem = extended_rosenbrock(100);
            Harness<TestType> harness(problem, 5);
            int calls = 0;
            harness.with_operator([&](const Vector &v, const Vector &, Vector &out) {
                const double by = at_start || calls++ > 8 ? factor : 1.0;
                for (std::size_t i = 0; i < v.size(); i++) out[i] = by * v[i];
            });
            const Outcome outcome = harness.run();
            check_promises<TestType>(problem, outcome);
            CHECK(outcome.task == CUDA_OPT_BAD_OPERATOR);
            CHECK(outcome.message.find(std::isnan(factor) ? "100 elements that are NaN" : "inner product v'H0 v is") !=
                  std::string::npos);
        }
}

// H0 is neither symmetric nor constant, but positive definite.
CONFIGURED_TEST_CASE("An operator that is not symmetric does not prevent convergence", "[operator]", HostDouble,
                     HostFloat, CudaDouble) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {extended_rosenbrock(100), torsion(10, 10)}) {
        INFO(problem.name);
        Harness<TestType> harness(problem, 5);
        double phase = 0;
        harness.set_int(CUDA_OPT_MAX_ITERATIONS, 3000);
        harness.with_operator([&](const Vector &v, const Vector &is_free, Vector &out) {
            phase += 1;
            for (std::size_t i = 0; i < v.size(); i++) {
                const std::size_t from = (i + 1) % v.size(), to = (i + v.size() - 1) % v.size();
                const double skew = 30 * (v[from] - v[to]), sign = std::sin(phase * static_cast<double>(i));
                out[i] = is_free[i] * (v[i] * (1.1 + sign) + skew);
            }
        });
        const Outcome outcome = harness.run();
        check_promises<TestType>(problem, outcome);
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(harness.get_int(CUDA_OPT_OPERATOR_REFUSALS) > 0);
        CHECK(harness.get_int(CUDA_OPT_OPERATOR_REFUSALS) <= 10);
        CHECK(outcome.message.find("the operator was refused at") != std::string::npos);
    }
}

TEST_CASE("With an operator any number of host threads gives bitwise identical results", "[operator][threads]") {
    constexpr int side = 150;
    const auto solve_with = [](int threads) {
        Harness<HostDouble> harness(torsion(side, side), 12);
        harness.set_int(CUDA_OPT_THREADS, threads).set_int(CUDA_OPT_MAX_ITERATIONS, 15);
        harness.with_operator([](const Vector &v, const Vector &is_free, Vector &out) {
            for (std::size_t i = 0; i < v.size(); i++) out[i] = is_free[i] * v[i] * (1 + 0.5 * std::sin(double(i)));
        });
        return harness.run();
    };
    const Outcome one = solve_with(1);
    for (const int threads : {2, 3, 7}) check_same_bits(one, solve_with(threads));
    check_same_bits(one, solve_with(1));
}

CONFIGURED_TEST_CASE("The initial Hessian can change between the scalar and an operator", "[operator]", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    const Problem problem = torsion(20, 20);
    Harness<TestType> harness(problem, 5);
    const Outcome scalar = harness.run();
    harness.warm_start();
    harness.with_operator(InverseLaplacian(20));
    CHECK(harness.run().task == CUDA_OPT_CONVERGED);
    harness.restart();
    const Outcome with = harness.run();
    harness.restart();
    check_same_bits(with, harness.run());
    harness.restart();
    harness.set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_SCALAR);
    check_same_bits(scalar, harness.run());
}

TEST_CASE("Options that an operator does not allow are refused with a message", "[operator]") {
    cudaopt::Minimiser<double> s(4, 3, CUDA_OPT_BACKEND_HOST);
    double x[4] = {1, 1, 1, 1}, g[4] = {}, f = 0, in[4], out[4], is_free[4], scales[4] = {1, 1, 1, 2};
    const auto refused = [&](int code, const char *words) {
        INFO(s.message());
        CHECK(code == CUDA_OPT_MISUSE);
        CHECK(std::string(s.message()).find(words) != std::string::npos);
    };
    refused(cuda_opt_set_operator(s, in, nullptr, is_free), "the operator's result is NULL");
    s.set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_OPERATOR);
    refused(s.solve(x, &f, g), "cuda_opt_set_operator has given no arrays");
    s.set_operator(in, in, is_free);
    refused(s.solve(x, &f, g), "overlap");
    s.set_operator(in, out, is_free);
    s.set_scales(scales);
    refused(s.solve(x, &f, g), "with scales of the variables");
    s.set_scales(nullptr);
    s.set_diagonal(scales);
    refused(s.solve(x, &f, g), "cuda_opt_set_diagonal has given a diagonal as well");
    s.set_diagonal(nullptr);
    CHECK(s.solve(x, &f, g) == CUDA_OPT_EVALUATE_FG);
    int64_t bytes = 0;
    refused(cuda_opt_save(s, nullptr, &bytes), "has no checkpoint");
    refused(cuda_opt_set_operator(s, in, out, is_free), "before the first call");
    cudaopt::Batch<double> batch(4, 2, 3, CUDA_OPT_BACKEND_HOST);
    CHECK(cuda_opt_set_int(batch, CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_OPERATOR) ==
          CUDA_OPT_IMPROPER_INPUT);
    CHECK(std::string(batch.message()).find("operator") != std::string::npos);
}

TEST_CASE("A solve without an operator ignores the arrays of the operator", "[operator]") {
    cudaopt::Minimiser<double> s(4, 3, CUDA_OPT_BACKEND_HOST);
    double x[4] = {1, 1, 1, 1}, g[4] = {}, f = 0, in[4], out[4];
    s.set_operator(in, out, x); // the memory of a freed operator array may be reused for x
    CHECK(s.solve(x, &f, g) == CUDA_OPT_EVALUATE_FG);
    s.reset();
    s.set_int(CUDA_OPT_INITIAL_HESSIAN, CUDA_OPT_INITIAL_HESSIAN_OPERATOR);
    CHECK(s.solve(x, &f, g) == CUDA_OPT_MISUSE);
    CHECK(std::string(s.message()).find("overlap") != std::string::npos);
}
