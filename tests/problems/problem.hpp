// Small problems from public definitions, each with its source. They are plain host code in double and independent of
// the library. An objective is written once, as a template over the number type, and its gradient is computed by
// automatic differentiation.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dual.hpp"

namespace cudaopt_problems {

// These declarations permit unqualified calls with any number type.
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

// Minimise f(x) subject to lower <= x <= upper. The elements are infinite if there is no bound.
struct Problem {
    std::string name, source; // a name contains neither blanks nor commas
    Vector start, lower, upper;
    std::function<double(const Vector &x, Vector &g)> evaluate;     // returns f(x) and stores its gradient in g
    std::function<long double(const LongVector &x)> in_long_double; // returns f, for the check of the gradient
    Vector minima = {};   // the published values of f at the local minima, if there are any
    double tolerance = 0; // the largest distance of f from one of them if ||P g||_inf <= 1e-6

    int n() const { return static_cast<int>(start.size()); }
    bool bounded() const;

    Problem &minimum(double value, double within);
    Problem &minimum(double value) { return minimum(value, 1e-5 * std::max(1e-4, std::abs(value))); }
    // Sets the same bounds for every variable.
    Problem &box(double l, double u);
    Problem &box(Vector l, Vector u);
    Problem &from(Vector another_start);
    Problem &named(std::string suffix);
};

// Returns || x - P(x - g) ||_inf, where P is the projection onto the box, or NaN if x or g is NaN.
double projected_gradient_norm(const Problem &problem, const Vector &x, const Vector &g);

// The type of the elements of an argument of a generic lambda.
template <class V> using ScalarOf = typename std::decay_t<V>::value_type;

template <class T> T square(const T &a) { return a * a; }
template <class T> T cube(const T &a) { return a * a * a; }
template <class T> T fourth(const T &a) { return square(square(a)); }

// Returns term(begin) + term(begin + step) + ..., with arguments below `end`.
template <class Term> auto sum_of(int begin, int end, int step, const Term &term) {
    decltype(term(begin)) sum = 0;
    for (int i = begin; i < end; i += step) sum += term(i);
    return sum;
}
template <class Term> auto sum_of(int begin, int end, const Term &term) { return sum_of(begin, end, 1, term); }

// Computes f and g, with `Dual::width` partial derivatives at a time.
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

// Returns the name of a problem with this n.
inline std::string sized(const std::string &name, int n) { return name + "-n" + std::to_string(n); }
// Returns the repeated pattern, with n values in total.
Vector repeated(const Vector &pattern, int n);
Vector scaled(Vector values, double factor);
// Returns value(1), ..., value(n).
template <class F> Vector sequence(int n, const F &value) {
    Vector values(static_cast<std::size_t>(n));
    for (int i = 1; i <= n; i++) values[static_cast<std::size_t>(i - 1)] = value(i);
    return values;
}

using Problems = std::vector<Problem>;
void append(Problems &all, Problems more);

// Returns all problems. Their names are unique.
const Problems &all_problems();
// Returns the problem with this name. Throws std::out_of_range if there is none.
const Problem &problem_named(const std::string &name);

} // namespace cudaopt_problems
