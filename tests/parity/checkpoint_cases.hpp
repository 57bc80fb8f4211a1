// This file defines solves that differ in the data that a checkpoint contains.
#pragma once

#include <limits>
#include <stdexcept>

#include "../support/harness.hpp"

namespace cudaopt_test {

// A case consists of a short solve and a predicate. The predicate verifies that the solve has the property that the
// case is about.
template <class Configuration> struct Case {
    const char *what;
    Problem problem;
    std::function<void(Harness<Configuration> &)> set;
    std::function<bool(Harness<Configuration> &, const Outcome &)> shows;
    int m = 3;
};

// Returns the Rosenbrock function plus 1e6 and a ripple below the rounding level of f. The gradient does not include
// the ripple.
inline Problem rippled(int64_t n) {
    Problem problem = extended_rosenbrock(n);
    problem.name = "rippled";
    problem.evaluate = [inner = problem.evaluate](const Vector &x, Vector &g) {
        return 1e6 + inner(x, g) + 1e-6 * std::sin(1e6 * x[0]);
    };
    return problem;
}

// f = sum of w_i x_i - log x_i. It is NaN outside x > 0.
inline Problem barrier(int64_t n) {
    return {"barrier", Vector(static_cast<std::size_t>(n), 9.0), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
                    const double weight = 2 + static_cast<double>(i % 9);
                    g[i] = weight - 1 / x[i];
                    return x[i] > 0 ? weight * x[i] - std::log(x[i]) : std::numeric_limits<double>::quiet_NaN();
                });
            }};
}

inline Problem with_gradient_reversed(Problem problem) {
    problem.evaluate = [inner = problem.evaluate](const Vector &x, Vector &g) {
        const double f = inner(x, g);
        for (double &component : g) component = -component;
        return f;
    };
    return problem;
}

inline void rosenbrock_diagonal(const Vector &x, const Vector &, Vector &diagonal) {
    for (std::size_t i = 0; i < x.size(); i += 2) {
        diagonal[i] = 1 / (2 + 800 * x[i] * x[i]);
        diagonal[i + 1] = 1.0 / 200;
    }
}

inline bool rises(const Outcome &outcome) {
    for (std::size_t k = 1; k < outcome.history.size(); k++)
        if (outcome.history[k].f > outcome.history[k - 1].f) return true;
    return false;
}

// Returns whether a line search used both evaluations that maxfev allows, and a third one to return to its lowest
// point.
inline bool goes_back(const Outcome &outcome) {
    for (std::size_t k = 1; k < outcome.history.size(); k++)
        if (outcome.history[k].evaluations == outcome.history[k - 1].evaluations + 3) return true;
    return false;
}

// A start, and an iterate of its solve at which f is higher than at the previous iterate. A solve that ends at this
// iterate restores the previous one.
struct Rise {
    Problem problem;
    Iterate at;
};
template <class Configuration> Rise find_rise() {
    for (int tenths = 0; tenths < 20; tenths++) {
        Problem problem = rippled(20);
        problem.start[0] += 0.1 * tenths;
        Harness<Configuration> harness(problem, 3);
        const Outcome outcome = harness.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 60).run();
        for (std::size_t k = 1; k < outcome.history.size(); k++)
            if (outcome.history[k].f > outcome.history[k - 1].f && outcome.history[k].pg_norm_inf > 0)
                return Rise{problem, outcome.history[k]};
    }
    throw std::runtime_error("f does not rise");
}

template <class Configuration> std::vector<Case<Configuration>> cases() {
    using Solve = Harness<Configuration>;
    const Rise rise = find_rise<Configuration>();
    const auto as_it_is = [](Solve &) {};
    // With at most 20 pairs all products are formed at every iterate. With more pairs they are updated.
    const auto many_pairs = [](Solve &s, const Outcome &outcome) {
        return s.get_int(CUDA_OPT_PAIRS) >= 24 && outcome.iterations >= 35 && s.get_int(CUDA_OPT_REFRESHES) == 0;
    };
    return {
        {"within bounds, breakpoints crossed", quadratic_with_many_breakpoints(60).problem, as_it_is,
         [](Solve &s, const Outcome &) { return s.get_int(CUDA_OPT_CAUCHY_CROSSINGS) > 0; }},
        {"without bounds", extended_rosenbrock(20), as_it_is,
         [](Solve &, const Outcome &outcome) { return outcome.iterations > 10; }},
        {"with a diagonal, within bounds", in_box(extended_rosenbrock(20), -1.5, 1.5),
         [](Solve &s) { s.with_diagonal(rosenbrock_diagonal); },
         [](Solve &s, const Outcome &) { return s.diagonals_asked_for() > 5; }},
        {"with a diagonal that is kept for three iterations, within bounds", in_box(extended_rosenbrock(20), -1.5, 1.5),
         [](Solve &s) { s.with_diagonal(rosenbrock_diagonal).set_int(CUDA_OPT_DIAGONAL_EVERY, 3); },
         [](Solve &s, const Outcome &) { return s.diagonals_asked_for() > 3; }},
        {"with a learned diagonal", chained_rosenbrock(30, 3),
         [](Solve &s) { s.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED); },
         [](Solve &s, const Outcome &outcome) { return s.get_int(CUDA_OPT_METRIC) == 2 && outcome.iterations > 10; }},
        {"with a learned diagonal, within bounds", quadratic_with_many_breakpoints(60).problem,
         [](Solve &s) { s.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED); },
         [](Solve &s, const Outcome &) { return s.get_int(CUDA_OPT_CAUCHY_CROSSINGS) > 0; }},
        {"with the approximate Cauchy point", chained_rosenbrock(30, 6),
         [](Solve &s) { s.set_int(CUDA_OPT_APPROXIMATE_CAUCHY, 1); },
         [](Solve &s, const Outcome &) { return s.get_int(CUDA_OPT_CAUCHY_CROSSINGS) == 0; }},
        {"with a saved best iterate", rippled(20),
         [](Solve &s) { s.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 60); },
         [](Solve &, const Outcome &outcome) { return rises(outcome); }},
        {"with a best iterate that is saved and restored", rise.problem,
         [last = rise.at](Solve &s) { s.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, last.iteration); },
         [last = rise.at](Solve &, const Outcome &outcome) {
             return outcome.iterations == last.iteration && outcome.f < last.f;
         }},
        {"with cuts", barrier(20), as_it_is, [](Solve &s, const Outcome &) { return s.get_int(CUDA_OPT_CUTS) > 0; }},
        {"with line searches that exhaust maxfev", extended_powell(20),
         [](Solve &s) { s.set_int(CUDA_OPT_MAXFEV, 2).set_real(CUDA_OPT_GTOL, 1e-3).set_real(CUDA_OPT_FTOL, 1e-4); },
         [](Solve &, const Outcome &outcome) { return goes_back(outcome); }},
        {"with updated products over the free variables", in_random_boxes(extended_wood(60), 3),
         [](Solve &s) { s.set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, 40); }, many_pairs, 30},
        {"with updated products and a learned diagonal", in_random_boxes(extended_wood(60), 3),
         [](Solve &s) { s.set_int(CUDA_OPT_METRIC, CUDA_OPT_METRIC_LEARNED).set_int(CUDA_OPT_MAX_ITERATIONS, 35); },
         many_pairs, 24},
        {"with a line search that fails", with_gradient_reversed(extended_wood(20)), as_it_is,
         [](Solve &, const Outcome &outcome) { return outcome.task == CUDA_OPT_LINE_SEARCH_FAILED; }},
    };
}

} // namespace cudaopt_test
