// Tests of functions with errors that are larger than rounding errors. The level of the errors is either set or
// estimated. The tests add the errors themselves, so that the result can be compared with the minimum of the exact
// function.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "../support/seed.hpp"
#include "cuda_opt_batch.h"
#include "solve.hpp"

using namespace terminations;

namespace {

constexpr double level = 1e-3; // a bound on the absolute value of the noise in f

// The chained Rosenbrock function with n = 10, whose minimum is 0.
double rosenbrock(const Vector &x, Vector &g) {
    g.assign(x.size(), 0);
    double f = 0;
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        f += 100 * a * a + b * b;
        g[i] -= 400 * a * x[i] + 2 * b;
        g[i + 1] += 200 * a;
    }
    return f;
}
const Vector start(10, -1.0);

// Adds uniform noise to f, and noise of a hundredth of its size to each component of g. The noise is different in each
// evaluation.
Function with_noise(const Function &exact, double e, unsigned seed = 1) {
    return [exact, e, random = std::mt19937(cudaopt_test::seed(seed))](const Vector &x, Vector &g) mutable {
        std::uniform_real_distribution<double> uniform(-1, 1);
        const double f = exact(x, g);
        for (double &component : g) component += 1e-2 * e * uniform(random);
        return f + e * uniform(random);
    };
}

// f and g consist of noise only. Each component of g is 1 or -1.
Function noise_alone(unsigned seed) {
    return [random = std::mt19937(cudaopt_test::seed(seed))](const Vector &, Vector &g) mutable {
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (double &component : g) component = uniform(random) > 0 ? 1 : -1;
        return level * uniform(random);
    };
}

double gap(const Vector &x) {
    Vector g;
    return rosenbrock(x, g);
}

double largest(const Vector &g) {
    double norm = 0;
    for (const double component : g) norm = std::fmax(norm, std::fabs(component));
    return norm;
}

constexpr int every_kind[] = {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED};

// The result of a solve of the noisy function with integer settings, optionally with a checkpoint before each
// evaluation.
struct Estimated {
    double estimate = 0, f_without_noise = 0;
    int64_t evaluations = 0, stop_test = 0;
    int task = 0;
    Vector x;
    std::vector<double> values;
};

Estimated solve_estimating(const Function &f, bool saves, const std::vector<std::pair<int32_t, int64_t>> &settings) {
    const auto make = [&] {
        cudaopt::Minimiser<double> solver(static_cast<int64_t>(start.size()), 10, CUDA_OPT_BACKEND_HOST);
        solver.set_int(CUDA_OPT_THREADS, 1);
        return solver;
    };
    auto solver = make();
    for (const auto &[key, value] : settings) solver.set_int(key, value);
    solver.set_real(CUDA_OPT_FACTR, 0);
    solver.set_real(CUDA_OPT_PGTOL, 1e-9);
    Estimated end;
    end.x = start;
    Vector g(start.size());
    double value = 0;
    while ((end.task = solver.solve(end.x.data(), &value, g.data())) > 0) {
        if (saves) {
            auto other = make();
            other.load(solver.save(), end.x.data(), &value, g.data());
            solver = std::move(other);
            REQUIRE(solver.solve(end.x.data(), &value, g.data()) == end.task);
        }
        value = f(end.x, g);
        end.values.push_back(value);
        end.evaluations++;
    }
    end.estimate = solver.get_real(CUDA_OPT_NOISE_ESTIMATE);
    end.stop_test = solver.get_int(CUDA_OPT_STOP_TEST);
    end.f_without_noise = gap(end.x);
    return end;
}

} // namespace

TEST_CASE("A solve with a noise level ends by the test NOISE close to the minimum", "[noise]") {
    for (const int kind : every_kind) {
        double with = 0, without = 0;
        for (unsigned seed = 1; seed <= 5; seed++) {
            INFO("kind " << kind << ", seed " << seed);
            const Settings no_factr = {{CUDA_OPT_FACTR, 0}, {CUDA_OPT_PGTOL, 1e-9}};
            const Settings told = {{CUDA_OPT_FACTR, 0}, {CUDA_OPT_PGTOL, 1e-9}, {CUDA_OPT_NOISE_ABS, level}};
            const Outcome end = solve(with_noise(rosenbrock, level, seed), start, {}, kind, told);
            CHECK(end.task == CUDA_OPT_CONVERGED);
            CHECK(end.stop_test == CUDA_OPT_NOISE);
            CHECK(end.message.find("noise level 0.001") != std::string::npos);
            CHECK(gap(end.x) < level / 100);
            // x, f and g are from the same evaluation, and ||P g|| there is the reported one.
            CHECK(std::count(end.gradients.begin(), end.gradients.end(), end.g) == 1);
            CHECK(std::count(end.values.begin(), end.values.end(), end.f) == 1);
            CHECK(end.pg_norm_inf == largest(end.g));
            with += std::log(gap(end.x));
            without += std::log(gap(solve(with_noise(rosenbrock, level, seed), start, {}, kind, no_factr).x));
        }
        CHECK(with < without - 5 * std::log(100)); // f is lower by a factor of 100 in the geometric mean
    }
}

TEST_CASE("A relative noise level is a fraction of |f|", "[noise]") {
    const Function raised = [](const Vector &x, Vector &g) { return rosenbrock(x, g) + 1000; };
    const Settings relative = {{CUDA_OPT_FACTR, 0}, {CUDA_OPT_PGTOL, 1e-9}, {CUDA_OPT_NOISE, level / 1000}};
    const Outcome end = solve(with_noise(raised, level), start, {}, Initial::learned, relative);
    CHECK(end.stop_test == CUDA_OPT_NOISE);
    CHECK(gap(end.x) < level / 100);
}

// The first step counts as progress, since there was none before it.
TEST_CASE("A solve without progress beyond the noise ends after 120 evaluations", "[noise]") {
    const Function nothing = noise_alone(3);
    for (const int kind : every_kind) {
        const Outcome end = solve(nothing, start, {}, kind, {{CUDA_OPT_NOISE_ABS, level}});
        CHECK(end.task == CUDA_OPT_LINE_SEARCH_FAILED); // the relative gradient is not small
        CHECK(end.message.find("in 1") != std::string::npos);
        CHECK(end.evaluations >= 120);
        CHECK(end.evaluations <= 180);
    }
}

TEST_CASE("A solve that makes no progress from its start does not converge by NOISE", "[noise]") {
    const Function nothing = noise_alone(6);
    for (const int kind : every_kind) {
        const Outcome end = solve(nothing, Vector(10, -1e-9), {}, kind, {{CUDA_OPT_NOISE_ABS, level}});
        CHECK(end.task == CUDA_OPT_LINE_SEARCH_FAILED);
        CHECK(end.stop_test == 0);
        CHECK(end.message.find("since the start") != std::string::npos);
    }
}

// The slope of f along the second variable is at most 1e-5 because of its unit, and g has errors of 1e-5 to 2e-5.
TEST_CASE("A solve does not converge if the errors of g may hide a large decrease of f", "[noise]") {
    for (const bool scaled : {false, true})
        for (const int kind : every_kind) {
            const double unit = scaled ? 1 : 1e-6;
            const Function f = [=, random = std::mt19937(cudaopt_test::seed(4))](const Vector &x, Vector &g) mutable {
                std::uniform_real_distribution<double> uniform(-1, 1);
                const double a = x[0] - 1, b = unit * x[1] - 1;
                g = {2 * a, 2 * unit * b};
                for (double &component : g)
                    component += (uniform(random) < 0 ? -1e-5 : 1e-5) * (1.5 + uniform(random) / 2);
                return a * a + b * b + 1e-4 * uniform(random);
            };
            const Settings told = {{CUDA_OPT_FACTR, 0}, {CUDA_OPT_PGTOL, 1e-9}, {CUDA_OPT_NOISE_ABS, 1e-4}};
            const Outcome end = solve(f, {0, 5 / unit}, {}, kind, told);
            INFO("kind " << kind << ": " << end.message);
            CHECK(end.task == (scaled ? CUDA_OPT_CONVERGED : CUDA_OPT_LINE_SEARCH_FAILED));
            CHECK((end.message.find("x_scale") != std::string::npos) == !scaled);
        }
}

// f decreases from its start, at which the gradient is smaller than its errors elsewhere.
TEST_CASE("The start is not the best iterate if f decreases by much more than its noise level", "[noise]") {
    const Function f = [random = std::mt19937(cudaopt_test::seed(5))](const Vector &x, Vector &g) mutable {
        std::uniform_real_distribution<double> uniform(-1, 1);
        g = {x[0] * x[0] * x[0] - x[0] + 1e-3 * (1.5 + uniform(random) / 2)};
        return std::pow(x[0], 4) / 4 - x[0] * x[0] / 2 + level * uniform(random);
    };
    for (const int kind : every_kind) {
        const Outcome end =
            solve(f, {1e-3}, {}, kind, {{CUDA_OPT_FACTR, 0}, {CUDA_OPT_PGTOL, 1e-9}, {CUDA_OPT_NOISE_ABS, level}});
        CHECK(std::fabs(end.f + 0.25) < 10 * level);
    }
}

// In a long valley f falls by more than its noise in each 200 evaluations, although ||P g|| does not.
TEST_CASE("A slow decrease of f beyond the noise counts as progress", "[noise]") {
    Vector standard(100);
    for (std::size_t i = 0; i < standard.size(); i++) standard[i] = i % 2 == 0 ? -1.2 : 1;
    const Outcome without = solve(rosenbrock, standard, {}, Initial::learned, {{CUDA_OPT_FACTR, 0}});
    const Outcome with =
        solve(rosenbrock, standard, {}, Initial::learned, {{CUDA_OPT_FACTR, 0}, {CUDA_OPT_NOISE, 1e-10}});
    CHECK(without.evaluations > 200);
    CHECK(with.stop_test == CUDA_OPT_PGTOL);
}

// f is rounded down to multiples of the noise level, as happens if f is read from a table or computed by an iteration
// with a tolerance; g is exact.
TEST_CASE("FACTR does not hold if f decreases by less than the noise level", "[noise]") {
    const Function steps = [](const Vector &x, Vector &g) { return level * std::floor(rosenbrock(x, g) / level); };
    for (const int kind : every_kind) {
        const Outcome end = solve(steps, start, {}, kind, {{CUDA_OPT_NOISE_ABS, level}, {CUDA_OPT_PGTOL, 1e-7}});
        CHECK(end.stop_test == CUDA_OPT_PGTOL);
        CHECK(gap(end.x) < 1e-12);
    }
}

TEST_CASE("The noise level is estimated when a line search fails", "[noise]") {
    // Chance decides a single estimate: the noise level is known to about a factor of 1.5.
    std::vector<double> estimates;
    for (unsigned seed = 1; seed <= 25; seed++) {
        INFO("seed " << seed);
        const Function raised = [](const Vector &x, Vector &g) { return rosenbrock(x, g) + 100; };
        const auto noisy = [&] { return with_noise(raised, level, seed); };
        const Estimated end = solve_estimating(noisy(), false, {{CUDA_OPT_NOISE_AUTO, 1}});
        estimates.push_back(end.estimate);
        CHECK(end.stop_test == CUDA_OPT_NOISE);
        CHECK(end.f_without_noise < level / 30);
        if (seed > 2) continue;
        const Estimated moved = solve_estimating(noisy(), true, {{CUDA_OPT_NOISE_AUTO, 1}});
        CHECK(moved.values == end.values);
        CHECK(moved.estimate == end.estimate);
        const Estimated off = solve_estimating(noisy(), false, {});
        CHECK(off.estimate == 0);
        CHECK(off.stop_test != CUDA_OPT_NOISE);
    }
    std::sort(estimates.begin(), estimates.end());
    CHECK(estimates[12] > level / 3);
    CHECK(estimates[12] < 3 * level);
}

TEST_CASE("The noise level is not estimated if no line search fails", "[noise]") {
    const Estimated off = solve_estimating(rosenbrock, false, {});
    const Estimated on = solve_estimating(rosenbrock, false, {{CUDA_OPT_NOISE_AUTO, 1}});
    CHECK(on.values == off.values);
    CHECK(on.estimate == 0);
}

TEST_CASE("Rounding errors are not taken for noise: with a wrong gradient the line search fails", "[noise]") {
    const Function wrong = [](const Vector &x, Vector &g) {
        const double f = rosenbrock(x, g);
        for (double &component : g) component = -component;
        return f;
    };
    const Estimated end = solve_estimating(wrong, false, {{CUDA_OPT_NOISE_AUTO, 1}});
    CHECK(end.task == CUDA_OPT_LINE_SEARCH_FAILED);
    CHECK(end.estimate == 0);
}

TEST_CASE("The noise is estimated at points close to x at which f may be undefined", "[noise]") {
    int close = 0;
    Vector last;
    bool undefined = false;
    const Function f = [&, noisy = with_noise(rosenbrock, level)](const Vector &x, Vector &g) mutable {
        double distance = 0, size = 0;
        for (std::size_t i = 0; i < x.size() && !last.empty(); i++) {
            distance += (x[i] - last[i]) * (x[i] - last[i]);
            size += x[i] * x[i];
        }
        const bool is_close = !last.empty() && distance > 0 && distance <= 4e-14 * size;
        close += is_close;
        last = x;
        const double value = noisy(x, g);
        return is_close && undefined ? NAN : value;
    };
    CHECK(solve_estimating(f, false, {{CUDA_OPT_NOISE_AUTO, 1}}).estimate > 0);
    CHECK(close >= 7); // the point before the first of the eight is a trial point
    undefined = true;
    last.clear();
    const Estimated end = solve_estimating(f, false, {{CUDA_OPT_NOISE_AUTO, 1}});
    CHECK(end.estimate == 0);
    CHECK(end.task <= 0);
}

TEST_CASE("NOISE_AUTO has no effect if ROBUST is 0", "[noise]") {
    const Estimated off = solve_estimating(with_noise(rosenbrock, level), false, {{CUDA_OPT_ROBUST, 0}});
    const Estimated on =
        solve_estimating(with_noise(rosenbrock, level), false, {{CUDA_OPT_ROBUST, 0}, {CUDA_OPT_NOISE_AUTO, 1}});
    CHECK(on.values == off.values);
}

TEST_CASE("A batch applies its noise level to all problems and refuses NOISE_AUTO", "[noise]") {
    constexpr int count = 3, n = 10;
    for (const int kind : every_kind) {
        cuda_opt *s = nullptr;
        REQUIRE(cuda_opt_create_batch(&s, n, count, 10, CUDA_OPT_BACKEND_HOST) == 0);
        CHECK(cuda_opt_set_int(s, CUDA_OPT_NOISE_AUTO, 1) == CUDA_OPT_IMPROPER_INPUT);
        CHECK(std::string(cuda_opt_message(s)) == "CUDA_OPT_NOISE_AUTO is not for a handle of cuda_opt_create_batch");
        REQUIRE(cuda_opt_set_int(s, CUDA_OPT_METRIC, kind) == 0);
        REQUIRE(cuda_opt_set_real(s, CUDA_OPT_FACTR, 0) == 0);
        REQUIRE(cuda_opt_set_real(s, CUDA_OPT_PGTOL, 1e-9) == 0);
        REQUIRE(cuda_opt_set_real(s, CUDA_OPT_NOISE_ABS, level) == 0);
        std::vector<Function> functions;
        Vector x, g(count * n), f(count);
        for (unsigned k = 0; k < count; k++) {
            functions.push_back(with_noise(rosenbrock, level, 10 + k));
            x.insert(x.end(), start.begin(), start.end());
        }
        std::vector<int64_t> codes(count);
        while (cuda_opt_batch_solve(s, x.data(), f.data(), g.data()) > 0) {
            REQUIRE(cuda_opt_batch_get_int(s, CUDA_OPT_BATCH_CODE, codes.data()) == 0);
            for (std::size_t k = 0; k < count; k++) {
                if (codes[k] <= 0) continue;
                Vector own;
                f[k] = functions[k](
                    Vector(x.begin() + static_cast<int>(k) * n, x.begin() + static_cast<int>(k + 1) * n), own);
                std::copy(own.begin(), own.end(), g.begin() + static_cast<int>(k) * n);
            }
        }
        std::vector<int64_t> tests(count);
        REQUIRE(cuda_opt_batch_get_int(s, CUDA_OPT_STOP_TEST, tests.data()) == 0);
        for (std::size_t k = 0; k < count; k++) {
            CHECK(tests[k] == CUDA_OPT_NOISE);
            CHECK(gap(Vector(x.begin() + static_cast<int>(k) * n, x.begin() + static_cast<int>(k + 1) * n)) <
                  level / 100);
        }
        cuda_opt_destroy(&s);
    }
}
