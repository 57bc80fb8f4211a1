// Published objectives whose variables differ in size by a factor of 1e6, or whose values are multiplied by 1e8 or
// 1e-8.
#include "more_garbow_hillstrom.hpp"

#include "sets.hpp"

namespace cudaopt_problems {

namespace {

// Substitutes x_i = s_i z_i and returns the problem in the variables z. The s_i are periodically 1, the square root of
// `spread`, and `spread`.
Problem in_units(const Problem &problem, double spread) {
    const Vector units = repeated({1, std::sqrt(spread), spread}, problem.n());
    const auto to_x = [units](auto z) {
        for (std::size_t i = 0; i < z.size(); i++) z[i] *= units[i];
        return z;
    };
    Problem result = problem;
    for (std::size_t i = 0; i < units.size(); i++)
        for (Vector *values : {&result.start, &result.lower, &result.upper}) (*values)[i] /= units[i];
    result.evaluate = [to_x, units, f = problem.evaluate](const Vector &z, Vector &g) {
        const double value = f(to_x(z), g);
        for (std::size_t i = 0; i < g.size(); i++) g[i] *= units[i];
        return value;
    };
    result.in_long_double = [to_x, f = problem.in_long_double](const LongVector &z) { return f(to_x(z)); };
    result.source += "; units from 1 to " + std::to_string(static_cast<int>(spread));
    return result.named("-units");
}

Problem times(const Problem &problem, double factor, const std::string &suffix) {
    Problem result = problem;
    result.evaluate = [factor, f = problem.evaluate](const Vector &x, Vector &g) {
        const double value = factor * f(x, g);
        for (double &slope : g) slope *= factor;
        return value;
    };
    result.in_long_double = [factor, f = problem.in_long_double](const LongVector &x) { return factor * f(x); };
    result.minima = scaled(result.minima, factor);
    result.tolerance *= factor;
    result.source += "; times " + suffix;
    return result.named("-times-" + suffix);
}

} // namespace

Problems badly_scaled() {
    Problem boxed = rosenbrock();
    boxed.minima.clear();
    boxed.box({-INFINITY, -INFINITY}, {0.8, INFINITY}).minimum(0.04).named("-below");
    Problems all;
    for (const Problem &problem : {extended_rosenbrock(10), wood(), helical_valley(), broyden_tridiagonal(10),
                                   variably_dimensioned(10), boxed}) {
        all.push_back(in_units(problem, 1e6));
        all.push_back(times(problem, 1e8, "1e8"));
        // At the standard start, the slopes would be as small as the tolerance.
        Problem far = problem;
        far.from(scaled(far.start, 100)).minima.clear();
        all.push_back(times(far, 1e-8, "1e-8"));
    }
    return all;
}

} // namespace cudaopt_problems
