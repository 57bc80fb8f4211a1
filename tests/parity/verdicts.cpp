// Ends of a solve that must be true on every backend: at a bound where the slope is infinite, in boxes narrower than
// PGTOL, and at limits that are met within a line search.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "../support/harness.hpp"

namespace parity_verdicts {

using namespace cudaopt_test;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr int64_t size = 1000;

// A term of one variable: its value, its slope, the box, the start, and the minimiser.
struct Term {
    const char *name;
    double (*value)(double x);
    double (*slope)(double x);
    double lower, upper, start, minimiser;
};

// Every third variable has this term. The others have the term (x - 2)^2 (1 + i mod 7).
Problem mixed(const Term &term, double start) {
    const auto n = static_cast<std::size_t>(size);
    Problem problem{term.name, Vector(n, 3.0), {}, Vector(n, -9.0), Vector(n, 9.0)};
    // The variables reach the bound at different iterations.
    for (std::size_t i = 0; i < n; i += 3) {
        problem.start[i] = term.minimiser + (start - term.minimiser) * (1 + static_cast<double>(i % 5)) / 3;
        problem.lower[i] = term.lower, problem.upper[i] = term.upper;
    }
    problem.evaluate = [term](const Vector &x, Vector &g) {
        return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
            const double d = x[i] - 2, weight = 1 + static_cast<double>(i % 7);
            g[i] = i % 3 == 0 ? term.slope(x[i]) : 2 * weight * d;
            return i % 3 == 0 ? term.value(x[i]) : weight * d * d;
        });
    };
    return problem;
}

const Term with_infinite_slope[] = {
    {"root", [](double x) { return std::sqrt(x); }, [](double x) { return 0.5 / std::sqrt(x); }, 0, 4, 1, 0},
    {"power 0.2", [](double x) { return std::pow(x, 0.2); }, [](double x) { return 0.2 * std::pow(x, -0.8); }, 0, 4, 2,
     0},
    {"root at the upper bound", [](double x) { return std::sqrt(5 - x); },
     [](double x) { return -0.5 / std::sqrt(5 - x); }, -1, 5, 4, 5},
};

// (y - 1)^2 sqrt(x) if y > 1, and (x - 2)^2 + y^2, for the variables x with even and y with odd index. At x = 0 the
// slope is +Inf while y > 1. The minimum 0 is at x = 2, y = 0, so that x has to leave the bound again.
Problem leaves_bound(double y) {
    const auto n = static_cast<std::size_t>(size);
    Problem problem{"leaves the bound", Vector(n, 0.0), {}, Vector(n, 0.0), Vector(n, 9.0)};
    for (std::size_t i = 1; i < n; i += 2) problem.start[i] = y;
    problem.evaluate = [](const Vector &v, Vector &g) {
        return pairwise_sum(0, size / 2, [&](int64_t k) {
            const double x = v[2 * k], y = v[2 * k + 1], over = std::fmax(y - 1, 0), root = std::sqrt(x);
            g[2 * k] = 2 * (x - 2) + (over > 0 ? over * over * 0.5 / root : 0);
            g[2 * k + 1] = 2 * y + 2 * over * root;
            return over * over * root + (x - 2) * (x - 2) + y * y;
        });
    };
    return problem;
}

// sum of w_i (x_i / unit - c_i)^2, where c_i is 3, 8 or 12 in a box from 1 to 9 units.
Problem in_units(double unit) {
    const auto n = static_cast<std::size_t>(size);
    Problem problem{"small units", Vector(n, 5 * unit), {}, Vector(n, unit), Vector(n, 9 * unit)};
    problem.evaluate = [unit](const Vector &x, Vector &g) {
        return pairwise_sum(0, size, [&](int64_t i) {
            const double weight = 1 + static_cast<double>(i % 5), d = x[i] / unit - (i % 3 == 0   ? 3
                                                                                     : i % 3 == 1 ? 8
                                                                                                  : 12);
            g[i] = 2 * weight * d / unit;
            return weight * d * d;
        });
    };
    return problem;
}
// 9 units are the nearest to c_i = 12.
double least_in_units() {
    double least = 0;
    for (int64_t i = 2; i < size; i += 3) least += 9 * (1 + static_cast<double>(i % 5));
    return least;
}

// Records the lowest f that is evaluated with finite f and g.
template <class Real> Problem recorded(Problem problem, double &lowest) {
    lowest = infinite;
    problem.evaluate = [inner = problem.evaluate, &lowest](const Vector &x, Vector &g) {
        const double f = inner(x, g);
        const bool is_finite = std::isfinite(f) && std::all_of(g.begin(), g.end(), [](double v) {
                                   return std::isfinite(static_cast<Real>(v));
                               });
        if (is_finite) lowest = std::min(lowest, f);
        return f;
    };
    return problem;
}

// A function with many local minima, whose line searches often pass their lowest point.
Problem waves(uint64_t seed) {
    constexpr int64_t n = 40;
    Problem problem{"waves", Vector(static_cast<std::size_t>(n)), {}};
    Uniform uniform(seed);
    for (double &x : problem.start) x = 6 * uniform() - 3;
    problem.evaluate = [](const Vector &x, Vector &g) {
        double f = 0;
        for (int64_t i = 0; i < n; i++) {
            f += std::sin(3 * x[i]) + 0.3 * x[i] * x[i];
            g[i] = 3 * std::cos(3 * x[i]) + 0.6 * x[i];
        }
        for (int64_t i = 0; i + 1 < n; i++) {
            f += 0.3 * x[i] * x[i + 1];
            g[i] += 0.3 * x[i + 1];
            g[i + 1] += 0.3 * x[i];
        }
        return f;
    };
    return problem;
}

double f_at(const Problem &problem, const Vector &x) {
    Vector g(x.size());
    return problem.evaluate(x, g);
}

} // namespace

CONFIGURED_TEST_CASE("A bound with an infinite slope is reached, and the slope counts as 0", "[verdicts]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Term &term : with_infinite_slope)
        for (const double start : {term.start, term.minimiser})
            for (const int metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
                INFO(term.name << " from " << start << ", initial Hessian " << metric);
                Harness<TestType> harness(mixed(term, start), 5);
                harness.set_int(CUDA_OPT_METRIC, metric);
                const Outcome outcome = harness.run();
                CHECK(outcome.task == CUDA_OPT_CONVERGED);
                CHECK(outcome.outside == 0);
                CHECK(outcome.f < 1e-5);
                for (std::size_t i = 0; i < outcome.x.size(); i += 3) {
                    CHECK(outcome.x[i] == term.minimiser);
                    CHECK(outcome.g[i] == 0);
                }
                // The solve is that of a function with the slope 0 at the bound.
                Problem flat = mixed(term, start);
                flat.evaluate = [inner = flat.evaluate](const Vector &x, Vector &g) {
                    const double f = inner(x, g);
                    for (double &slope : g)
                        if (std::isinf(slope)) slope = 0;
                    return f;
                };
                Harness<TestType> other(flat, 5);
                other.set_int(CUDA_OPT_METRIC, metric);
                const Outcome wanted = other.run();
                CHECK(outcome.x == wanted.x);
                CHECK(outcome.f == wanted.f);
                CHECK(outcome.evaluations == wanted.evaluations);
            }
}

CONFIGURED_TEST_CASE("A variable leaves a bound at which its slope was infinite", "[verdicts]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double y : {1.5, 3.0, 7.0})
        for (const int metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_LEARNED}) {
            INFO("y = " << y << ", initial Hessian " << metric);
            Harness<TestType> harness(leaves_bound(y), 5);
            harness.set_int(CUDA_OPT_METRIC, metric);
            const Outcome outcome = harness.run();
            CHECK(outcome.task == CUDA_OPT_CONVERGED);
            CHECK(outcome.f < 1e-3);
        }
}

CONFIGURED_TEST_CASE("An infinite slope that points into the box is undefined", "[verdicts]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const auto changed = [](double f, double slope, double at) {
        Problem problem = mixed(with_infinite_slope[0], at);
        problem.evaluate = [f, slope, inner = problem.evaluate](const Vector &x, Vector &g) {
            const double value = inner(x, g);
            g[3] = slope;
            return value + f;
        };
        return problem;
    };
    const double nan_value = std::numeric_limits<double>::quiet_NaN();
    for (const Problem &problem : {changed(0, -infinite, 0), changed(infinite, infinite, 0), changed(0, nan_value, 0),
                                   changed(0, infinite, 1), changed(nan_value, infinite, 0)}) {
        Harness<TestType> harness(problem, 5);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_NOT_FINITE);
        CHECK(outcome.evaluations == 1);
    }
}

CONFIGURED_TEST_CASE("In a box narrower than PGTOL the solve ends at the minimum", "[verdicts]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const double least = least_in_units();
    for (const double unit : {1e-7, 1e-8, 1e-10}) {
        INFO("unit " << unit);
        Harness<TestType> harness(in_units(unit), 5);
        harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-5).set_real(CUDA_OPT_FACTR, 1e7);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(outcome.f <= (1 + 1e-5) * least);
        harness.restart();
        harness.set_int(CUDA_OPT_MAX_EVALUATIONS, 1);
        const Outcome ended = harness.run();
        CHECK(ended.task == CUDA_OPT_EVALUATION_LIMIT);
        CHECK(ended.message.find("x_scale") != std::string::npos);
    }
}

CONFIGURED_TEST_CASE("In a box narrower than PGTOL a corner and fixed variables end the solve by PGTOL", "[verdicts]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const auto ends_at_once = [](const Problem &problem) {
        Harness<TestType> harness(problem, 5);
        harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-5);
        const Outcome outcome = harness.run();
        CHECK(outcome.task == CUDA_OPT_CONVERGED);
        CHECK(harness.get_int(CUDA_OPT_STOP_TEST) == CUDA_OPT_PGTOL);
        CHECK(outcome.evaluations == 1);
    };
    Problem corner = in_units(1e-8);
    for (int64_t i = 0; i < size; i++) {
        const auto k = static_cast<std::size_t>(i);
        if (i % 3 == 0) corner.lower[k] = 4e-8;
        if (i % 3 == 1) corner.upper[k] = 7e-8;
        corner.start[k] = i % 3 == 0 ? corner.lower[k] : corner.upper[k];
    }
    ends_at_once(corner);
    Problem fixed = in_units(1e-8);
    fixed.lower = fixed.upper = fixed.start;
    ends_at_once(fixed);
}

CONFIGURED_TEST_CASE("A start that underflows when it is divided by its scale is refused", "[verdicts]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const double start : {3e-10, -1e-25, 1.0}) {
        const Vector x(7, start);
        Harness<TestType> harness({"small", x, [](const Vector &, Vector &) { return 0.0; }}, 5);
        REQUIRE(cuda_opt_set_uniform_scale(harness.handle(), start == 1 ? 1e-300 : 1e308) == 0);
        const bool fits = sizeof(typename TestType::Real) == 8 && start == 1; // 1e300
        CHECK(harness.call() == (fits ? CUDA_OPT_EVALUATE_FG : CUDA_OPT_IMPROPER_INPUT));
        if (fits) continue;
        CHECK(harness.outcome().message.find("scale") != std::string::npos);
        CHECK(harness.outcome().evaluations == 0);
    }
}

CONFIGURED_TEST_CASE("At a limit the solve returns the lowest f that was evaluated", "[verdicts]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    int from_trials = 0;
    for (uint64_t seed = 0; seed < 20; seed++)
        for (const int64_t limit : {2, 3, 5, 8, 13}) {
            INFO("seed " << seed << ", limit " << limit);
            double lowest;
            const Problem problem = recorded<typename TestType::Real>(waves(seed), lowest);
            Harness<TestType> harness(problem, 5);
            harness.set_int(CUDA_OPT_MAX_EVALUATIONS, limit);
            harness.set_int(CUDA_OPT_METRIC, seed % 2 ? CUDA_OPT_METRIC_LEARNED : CUDA_OPT_METRIC_ONE_NUMBER);
            const Outcome outcome = harness.run();
            if (outcome.task != CUDA_OPT_EVALUATION_LIMIT) continue; // it has converged
            CHECK(outcome.evaluations == limit);
            CHECK(outcome.f == lowest);
            CHECK(f_at(problem, outcome.x) == outcome.f);
            CHECK(harness.get_real(CUDA_OPT_F) == outcome.f);
            from_trials += outcome.history.empty() || outcome.f != outcome.history.back().f;
        }
    CHECK(from_trials > 0); // some limits are met within line searches
}

CONFIGURED_TEST_CASE("A function without a lower bound ends at the lowest f that was evaluated", "[verdicts]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const auto sum = [](const char *name, double (*value)(double), double (*slope)(double)) {
        return Problem{name, Vector(7, -1.0), [value, slope](const Vector &x, Vector &g) {
                           double f = 0;
                           for (std::size_t i = 0; i < x.size(); i++) f += value(x[i]), g[i] = slope(x[i]);
                           return f;
                       }};
    };
    const Problem problems[] = {
        sum(
            "linear", [](double x) { return 3 * x; }, [](double) { return 3.0; }),
        sum(
            "cubic", [](double x) { return x * x * x; }, [](double x) { return 3 * x * x; }),
        sum(
            "negative square", [](double x) { return -x * x - x; }, [](double x) { return -2 * x - 1; }),
    };
    for (const Problem &one : problems) {
        INFO(one.name);
        double lowest;
        Harness<TestType> harness(recorded<typename TestType::Real>(one, lowest), 5);
        const Outcome outcome = harness.run();
        // In single precision g may overflow first.
        CHECK((outcome.task == CUDA_OPT_UNBOUNDED || outcome.task == CUDA_OPT_NOT_FINITE));
        CHECK(outcome.f == lowest);
        CHECK(f_at(one, outcome.x) == outcome.f);
    }
}

CONFIGURED_TEST_CASE("Solves with these ends continue in other handles bitwise", "[verdicts]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const auto set = [](Harness<TestType> &harness, int64_t limit) {
        harness.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_PGTOL, 1e-5).set_real(CUDA_OPT_FACTR, 1e7);
        harness.set_int(CUDA_OPT_MAX_EVALUATIONS, limit);
    };
    for (const auto &[problem, limit] : {std::pair<Problem, int64_t>{mixed(with_infinite_slope[0], 1), 0},
                                         {leaves_bound(3), 0},
                                         {in_units(1e-8), 0},
                                         {waves(3), 13},
                                         {waves(4), 8}}) {
        INFO(problem.name);
        Harness<TestType> whole(problem, 5);
        set(whole, limit);
        const Outcome wanted = whole.run();
        auto part = std::make_unique<Harness<TestType>>(problem, 5);
        set(*part, limit);
        for (int task = part->call(); task > 0; task = part->call()) {
            const Checkpoint checkpoint = part->save();
            part = std::make_unique<Harness<TestType>>(problem, 5);
            set(*part, limit);
            part->load(checkpoint);
            CHECK(part->call() == task); // the task again
            part->work();
        }
        const Outcome outcome = part->outcome();
        CHECK(outcome.task == wanted.task);
        CHECK(outcome.f == wanted.f);
        CHECK(outcome.x == wanted.x);
        CHECK(outcome.evaluations == wanted.evaluations);
    }
}

} // namespace parity_verdicts
