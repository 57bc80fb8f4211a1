// Small problems from public definitions, each with its source: plain host code in double, independent of the library.
// An objective is written once, as a template over the number type; its gradient comes by automatic differentiation.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dual.hpp"

namespace cudaopt_problems {

// For unqualified calls with any number type.
using std::abs;
using std::atan;
using std::atan2;
using std::cos;
using std::exp;
using std::log;
using std::pow;
using std::sin;
using std::sqrt;
using std::tan;

using Vector = std::vector<double>;
using LongVector = std::vector<long double>;

// minimise f(x) subject to lower <= x <= upper, infinite where there is no bound
struct Problem {
    std::string name, source; // no blank and no comma in a name
    Vector start, lower, upper;
    std::function<double(const Vector &x, Vector &g)> evaluate;     // f(x), and its gradient into g
    std::function<long double(const LongVector &x)> in_long_double; // f alone, to check the gradient by
    Vector minima = {};   // the values at its local minima, as published, where they are
    double tolerance = 0; // how near to one of them f comes where ||P g||_inf <= 1e-6

    int n() const { return static_cast<int>(start.size()); }
    bool bounded() const;

    Problem &minimum(double value, double within);
    Problem &minimum(double value) { return minimum(value, 1e-5 * std::max(1e-4, std::abs(value))); }
    // The same bounds for every variable.
    Problem &box(double l, double u);
    Problem &box(Vector l, Vector u);
    Problem &from(Vector another_start);
    Problem &named(std::string suffix);
};

// || x - P(x - g) ||_inf, P the projection to the box; NaN where x or g is.
double projected_gradient_norm(const Problem &problem, const Vector &x, const Vector &g);

// The type of an argument's elements, in a generic lambda.
template <class V> using ScalarOf = typename std::decay_t<V>::value_type;

template <class T> T square(const T &a) { return a * a; }
template <class T> T cube(const T &a) { return a * a * a; }
template <class T> T fourth(const T &a) { return square(square(a)); }

// term(begin) + term(begin + step) + ..., below end
template <class Term> auto sum_of(int begin, int end, int step, const Term &term) {
    decltype(term(begin)) sum = 0;
    for (int i = begin; i < end; i += step) sum += term(i);
    return sum;
}
template <class Term> auto sum_of(int begin, int end, const Term &term) { return sum_of(begin, end, 1, term); }

// f and g, `Dual::width` partial derivatives at a time.
template <class F> double differentiate(const F &f, const Vector &x, Vector &g) {
    std::vector<Dual> point(x.begin(), x.end());
    double value = 0;
    for (std::size_t first = 0; first < x.size(); first += Dual::width) {
        const std::size_t count = std::min<std::size_t>(Dual::width, x.size() - first);
        for (std::size_t k = 0; k < count; k++) point[first + k].partial[k] = 1;
        const Dual result = f(point);
        value = result.value;
        for (std::size_t k = 0; k < count; k++) {
            g[first + k] = result.partial[k];
            point[first + k].partial[k] = 0;
        }
    }
    return value;
}

// An objective is called with a std::vector of doubles, long doubles or Duals and returns one of them.
template <class F> Problem make(std::string name, std::string source, Vector start, F f) {
    const Vector infinite(start.size(), INFINITY);
    Vector lower = infinite;
    for (double &l : lower) l = -l;
    Problem problem;
    problem.name = std::move(name);
    problem.source = std::move(source);
    problem.start = std::move(start);
    problem.lower = std::move(lower);
    problem.upper = infinite;
    problem.evaluate = [f](const Vector &x, Vector &g) { return differentiate(f, x, g); };
    problem.in_long_double = [f](const LongVector &x) -> long double { return f(x); };
    return problem;
}

// A problem's name at this n.
inline std::string sized(const std::string &name, int n) { return name + "-n" + std::to_string(n); }
// pattern, pattern, ... up to n values
Vector repeated(const Vector &pattern, int n);
Vector scaled(Vector values, double factor);
// value(1), ..., value(n)
template <class F> Vector sequence(int n, const F &value) {
    Vector values(static_cast<std::size_t>(n));
    for (int i = 1; i <= n; i++) values[static_cast<std::size_t>(i - 1)] = value(i);
    return values;
}

using Problems = std::vector<Problem>;
void append(Problems &all, Problems more);

// All of them; the names are unique.
const Problems &all_problems();
// The one of this name; throws std::out_of_range where there is none.
const Problem &problem_named(const std::string &name);

} // namespace cudaopt_problems
