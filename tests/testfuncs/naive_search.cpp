#include "naive_search.hpp"

#include <cmath>
#include <functional>
#include <map>

namespace {

using Real = long double;
using Point = std::vector<Real>; // from x[1] on, as in print

const Real pi = std::acos(Real(-1));

int size(const Point &x) { return static_cast<int>(x.size()) - 1; }

Real sum(int first, int last, const std::function<Real(int)> &term) {
    Real total = 0;
    for (int i = first; i <= last; i++) total += term(i);
    return total;
}

Real product(int first, int last, const std::function<Real(int)> &factor) {
    Real total = 1;
    for (int i = first; i <= last; i++) total *= factor(i);
    return total;
}

Real u(Real x, Real a, Real k, Real m) {
    if (x > a) return k * std::pow(x - a, m);
    if (x < -a) return k * std::pow(-x - a, m);
    return 0;
}

Real sin2(Real a) { return std::pow(std::sin(a), Real(2)); }

Real ackley(const Point &x) {
    const int n = size(x);
    const Real squares = sum(1, n, [&](int i) { return x[i] * x[i]; });
    const Real cosines = sum(1, n, [&](int i) { return std::cos(2 * pi * x[i]); });
    return -20 * std::exp(Real(-0.2L) * std::sqrt(squares / n)) - std::exp(cosines / n) + 20 + std::exp(Real(1));
}

Real griewank(const Point &x) {
    const int n = size(x);
    return sum(1, n, [&](int i) { return x[i] * x[i]; }) / 4000 -
           product(1, n, [&](int i) { return std::cos(x[i] / std::sqrt(Real(i))); }) + 1;
}

Real penalised_1(const Point &x) {
    const int n = size(x);
    const auto y = [&](int i) { return 1 + (x[i] + 1) / 4; };
    const Real inner = 10 * sin2(pi * y(1)) +
                       sum(1, n - 1, [&](int i) { return std::pow(y(i) - 1, 2) * (1 + 10 * sin2(pi * y(i + 1))); }) +
                       std::pow(y(n) - 1, 2);
    return pi / n * inner + sum(1, n, [&](int i) { return u(x[i], 10, 100, 4); });
}

Real penalised_2(const Point &x) {
    const int n = size(x);
    const Real inner = sin2(3 * pi * x[1]) +
                       sum(1, n - 1, [&](int i) { return std::pow(x[i] - 1, 2) * (1 + sin2(3 * pi * x[i + 1])); }) +
                       std::pow(x[n] - 1, 2) * (1 + sin2(2 * pi * x[n]));
    return Real(0.1L) * inner + sum(1, n, [&](int i) { return u(x[i], 5, 100, 4); });
}

Real quartic(const Point &x) {
    return sum(1, size(x), [&](int i) { return i * std::pow(x[i], 4); });
}

Real rastrigin(const Point &x) {
    return sum(1, size(x), [&](int i) { return x[i] * x[i] - 10 * std::cos(2 * pi * x[i]) + 10; });
}

Real rosenbrock(const Point &x) {
    return sum(1, size(x) - 1,
               [&](int i) { return 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(x[i] - 1, 2); });
}

Real schwefel_1_2(const Point &x) {
    return sum(1, size(x), [&](int i) { return std::pow(sum(1, i, [&](int j) { return x[j]; }), 2); });
}

Real schwefel_2_22(const Point &x) {
    const auto absolute = [&](int i) { return std::abs(x[i]); };
    return sum(1, size(x), absolute) + product(1, size(x), absolute);
}

Real schwefel_2_21(const Point &x) {
    Real largest = 0;
    for (const Real value : x) largest = std::max(largest, std::abs(value));
    return largest;
}

Real sphere(const Point &x) {
    return sum(1, size(x), [&](int i) { return x[i] * x[i]; });
}

Real step(const Point &x) {
    return sum(1, size(x), [&](int i) { return std::pow(std::floor(x[i] + Real(0.5L)), 2); });
}

} // namespace

long double naive_search_function(const std::string &name, const std::vector<double> &x) {
    static const std::map<std::string, Real (*)(const Point &)> functions = {
        {"ackley", ackley},
        {"griewank", griewank},
        {"penalised-1", penalised_1},
        {"penalised-2", penalised_2},
        {"quartic", quartic},
        {"rastrigin", rastrigin},
        {"rosenbrock", rosenbrock},
        {"schwefel-1.2", schwefel_1_2},
        {"schwefel-2.22", schwefel_2_22},
        {"schwefel-2.21", schwefel_2_21},
        {"sphere", sphere},
        {"step", step},
    };
    Point from_one(1, 0);
    from_one.insert(from_one.end(), x.begin(), x.end());
    return functions.at(name)(from_one);
}
