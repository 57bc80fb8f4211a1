// What the tests of the test functions share: points, and f and g there.
#pragma once

#include "../support/seed.hpp"
#include "testfuncs/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using Vector = std::vector<double>;

struct Value {
    double f;
    Vector g;
};

inline Value evaluate(cudaopt::testfuncs::Problem &problem, const Vector &x, int threads = 1) {
    Value value{std::numeric_limits<double>::quiet_NaN(), Vector(x.size(), std::numeric_limits<double>::quiet_NaN())};
    cudaopt::testfuncs::Place place;
    place.threads = threads;
    problem.evaluate(x.data(), &value.f, value.g.data(), place);
    return value;
}

inline Vector start_of(const cudaopt::testfuncs::Problem &problem) {
    Vector x(problem.n());
    problem.start(0, problem.n(), x.data());
    return x;
}

// A NaN stays.
inline double largest_of(double a, double b) { return b > a || std::isnan(b) ? b : a; }

inline double norm_inf(const Vector &v) {
    double largest = 0;
    for (const double a : v) largest = largest_of(largest, std::fabs(a));
    return largest;
}

// The largest difference of a component of g from a central difference of fourth order with steps h and 2 h.
inline double gradient_error(cudaopt::testfuncs::Problem &problem, const Vector &x, double h) {
    const Vector g = evaluate(problem, x).g;
    double largest = 0;
    for (std::size_t k = 0; k < x.size(); k++) {
        Vector moved[4] = {x, x, x, x};
        moved[0][k] += h, moved[1][k] -= h, moved[2][k] += 2 * h, moved[3][k] -= 2 * h;
        double f[4];
        for (int j = 0; j < 4; j++) f[j] = evaluate(problem, moved[j]).f;
        const double difference = (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h);
        largest = largest_of(largest, std::fabs(g[k] - difference));
    }
    return largest;
}

// A point of a MINPACK-2 problem, drawn at random around what it is about, within its bounds and of both precisions.
inline Vector random_feasible(const cudaopt::testfuncs::Problem &problem, unsigned seed) {
    const std::string &name = problem.facts().name;
    const bool atoms = name.rfind("lennard-jones", 0) == 0;
    const double width = name == "ginzburg-landau-1d" ? 90 : atoms ? 0.1 : 0.5;
    const int64_t n = problem.n();
    Vector x = start_of(problem), lower(n), upper(n);
    problem.lower(0, n, lower.data());
    problem.upper(0, n, upper.data());
    std::mt19937_64 random(cudaopt_test::seed(seed));
    std::uniform_real_distribution<double> uniform(-width, width);
    for (int64_t i = 0; i < n; i++)
        x[i] = static_cast<float>(std::clamp(x[i] + uniform(random), 0.999 * lower[i], 0.999 * upper[i]));
    return x;
}
