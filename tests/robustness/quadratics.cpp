// Random quadratic programmes x'Ax/2 - b'x in boxes are solved, and the optimality conditions are checked. The problems
// are convex or not, linear or constant, and have ties, fixed variables, no, one or two bounds per variable, starts at
// bounds, and different scales of f. Each trial point must lie in the box, and each solve must end because the
// optimality conditions hold. This file computes the conditions itself.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cuda_opt.hpp"
#include "support/problems.hpp"

using cudaopt_test::Uniform;
using cudaopt_test::Vector;

namespace {

enum class Shape { convex, singular, indefinite, tied, linear, constant, shapes };

struct Programme {
    int n = 0;
    Vector a, b, start, lower, upper;

    double evaluate(const Vector &x, Vector &g) const {
        double f = 0;
        for (int i = 0; i < n; i++) {
            double ax = 0;
            for (int j = 0; j < n; j++) ax += a[i * n + j] * x[j];
            g[i] = ax - b[i];
            f += x[i] * (ax / 2 - b[i]);
        }
        return f;
    }
    // || x - P(x - g) ||_inf
    long double residual(const Vector &x) const {
        long double largest = 0;
        for (int i = 0; i < n; i++) {
            long double slope = -b[i];
            for (int j = 0; j < n; j++) slope += static_cast<long double>(a[i * n + j]) * x[j];
            const long double l = lower[i], u = upper[i], to_lower = x[i] - l, to_upper = x[i] - u;
            largest = std::max(largest, std::fabs(slope < 0 ? std::max(to_upper, slope) : std::min(to_lower, slope)));
        }
        return largest;
    }
    // Returns || |A| |x| + |b| ||_inf, to which the rounding errors of a gradient at x are relative.
    double scale(const Vector &x) const {
        double largest = 0;
        for (int i = 0; i < n; i++) {
            double sum = std::fabs(b[i]);
            for (int j = 0; j < n; j++) sum += std::fabs(a[i * n + j] * x[j]);
            largest = std::max(largest, sum);
        }
        return largest;
    }
    bool holds(const Vector &x) const {
        for (int i = 0; i < n; i++)
            if (!(lower[i] <= x[i] && x[i] <= upper[i])) return false; // also if x is NaN
        return true;
    }
};

class Draws {
  public:
    explicit Draws(uint64_t seed) : uniform_(seed) {}
    double between(double from, double to) { return from + (to - from) * uniform_(); }
    int below(int count) { return static_cast<int>(uniform_() * count); }
    bool one_in(int count) { return below(count) == 0; }

  private:
    Uniform uniform_;
};

// A := H A H for a random reflection H = I - 2 v v' / v'v.
void reflect(Programme &p, Draws &draw) {
    Vector v(p.n), row(p.n);
    double squares = 0;
    for (double &value : v) {
        value = draw.between(-1, 1);
        squares += value * value;
    }
    if (squares == 0) return;
    for (int pass = 0; pass < 2; pass++) { // computes A := (H A)' twice
        Vector result(p.a.size());
        for (int j = 0; j < p.n; j++) {
            double along = 0;
            for (int i = 0; i < p.n; i++) along += v[i] * p.a[i * p.n + j];
            for (int i = 0; i < p.n; i++) result[j * p.n + i] = p.a[i * p.n + j] - 2 * along / squares * v[i];
        }
        p.a = result;
    }
    for (int i = 0; i < p.n; i++)
        for (int j = 0; j < i; j++) p.a[i * p.n + j] = p.a[j * p.n + i];
}

void draw_function(Programme &p, Shape shape, Draws &draw) {
    const double condition = std::pow(10, draw.between(0, 6));
    p.a.assign(static_cast<std::size_t>(p.n) * p.n, 0);
    p.b.assign(p.n, 0);
    const double common = draw.between(-1, 1);
    for (int i = 0; i < p.n; i++) {
        double &eigenvalue = p.a[i * p.n + i];
        p.b[i] = shape == Shape::constant ? 0 : shape == Shape::tied ? common : draw.between(-1, 1);
        if (shape == Shape::linear || shape == Shape::constant) continue;
        eigenvalue = shape == Shape::tied || i == 0 ? 1 : std::pow(condition, -draw.between(0, 1));
        if (shape == Shape::singular && draw.one_in(2)) eigenvalue = 0;
        if (shape == Shape::indefinite && draw.one_in(2)) eigenvalue = -eigenvalue;
    }
    if (shape == Shape::tied) // all rows of A have 1 on the diagonal and 1/n elsewhere
        for (int i = 0; i < p.n; i++)
            for (int j = 0; j < i; j++) p.a[i * p.n + j] = p.a[j * p.n + i] = 1.0 / p.n;
    else if (!draw.one_in(4)) // otherwise A remains diagonal
        for (int k = 0; k < 3; k++) reflect(p, draw);
}

void draw_box(Programme &p, Shape shape, Draws &draw) {
    const bool open = shape == Shape::convex || shape == Shape::tied; // a minimum exists without bounds
    const bool all_open = open && draw.one_in(5);
    p.lower.assign(p.n, -INFINITY);
    p.upper.assign(p.n, INFINITY);
    const double l = draw.between(-1, 0.5), width = draw.between(0, 1);
    for (int i = 0; i < p.n; i++) {
        const double side = shape == Shape::tied ? l : draw.between(-1, 0.5);
        if (all_open) continue;
        if (!open || !draw.one_in(3)) p.lower[i] = side;
        if (!open || !draw.one_in(3)) p.upper[i] = side + (shape == Shape::tied ? width : draw.between(0, 1));
        if (draw.one_in(12)) p.upper[i] = p.lower[i] = side; // a fixed variable
    }
}

Programme programme(uint64_t seed, Shape shape) {
    Draws draw(seed);
    Programme p;
    p.n = 1 + draw.below(30);
    draw_function(p, shape, draw);
    draw_box(p, shape, draw);
    const double common = draw.between(-1, 1);
    const int place = draw.below(4); // the start is at lower bounds, at upper bounds, at either, or anywhere
    for (int i = 0; i < p.n; i++) {
        const double inside = shape == Shape::tied ? common : draw.between(-1.5, 1.5); // may be outside the box
        const bool low = place == 0 || (place == 2 && draw.one_in(2)), high = place == 1 || place == 2;
        const double bound = low ? p.lower[i] : high ? p.upper[i] : NAN;
        p.start.push_back(std::isfinite(bound) ? bound : inside);
    }
    // Gradients must not be large compared with the width of the box. Otherwise the tolerance, which is proportional to
    // them, would exceed this width, and each point would satisfy it.
    const double factor = std::pow(10, draw.between(-8, 0)), size = std::pow(10, draw.between(-4, 4));
    for (double &value : p.a) value *= factor;
    for (double &value : p.b) value *= factor * size;
    for (Vector *values : {&p.start, &p.lower, &p.upper})
        for (double &value : *values) value *= size;
    return p;
}

struct Ending {
    int task;
    Vector x;
    int outside = 0; // number of trial points outside the box
    std::string message;
};

Ending solved(const Programme &p, int m, double pgtol) {
    cudaopt::Minimiser<double> solver(p.n, m, CUDA_OPT_BACKEND_HOST);
    solver.set_int(CUDA_OPT_THREADS, 1);
    solver.set_int(CUDA_OPT_MAX_ITERATIONS, 0);
    solver.set_int(CUDA_OPT_MAX_EVALUATIONS, 20000);
    solver.set_real(CUDA_OPT_FACTR, 0);
    solver.set_real(CUDA_OPT_PGTOL, pgtol);
    solver.set_bounds(p.lower.data(), p.upper.data());
    Ending ending{0, p.start, 0, ""};
    Vector g(p.start.size());
    double f = 0;
    while ((ending.task = solver.solve(ending.x.data(), &f, g.data())) > 0) {
        ending.outside += !p.holds(ending.x);
        f = p.evaluate(ending.x, g);
    }
    ending.outside += !p.holds(ending.x);
    ending.message = cuda_opt_message(solver);
    return ending;
}

void check_solved(const Programme &p, int m) {
    // If A is ill-conditioned, x may be large; a first solve finds its size. The rounding errors of f are about eps n
    // scale^2 / ||A||, and a step along a gradient component decreases f by component^2 / (2 ||A||). The decrease is
    // therefore lost in rounding errors if the component is smaller than about sqrt(eps n) scale.
    const double scale = p.scale(solved(p, m, 1e-6 * p.scale(p.start)).x);
    const double pgtol = 8 * std::sqrt(p.n * std::numeric_limits<double>::epsilon()) * scale;
    const Ending ending = solved(p, m, pgtol);
    CAPTURE(p.n, m, scale, ending.message);
    CHECK(ending.outside == 0);
    CHECK(ending.task == CUDA_OPT_CONVERGED);
    const double rounding = 4e-15 * scale * p.n;
    if (ending.task == CUDA_OPT_CONVERGED) CHECK(p.residual(ending.x) <= pgtol + rounding);
}

} // namespace

TEST_CASE("Solves of random quadratic programmes in boxes end at first-order optimal points", "[robustness]") {
    constexpr int programmes = 6000, shapes = static_cast<int>(Shape::shapes);
    const int memories[] = {1, 3, 5, 10, 17};
    for (int seed = 0; seed < programmes; seed++) {
        const auto shape = static_cast<Shape>(seed % shapes);
        CAPTURE(seed, seed % shapes);
        check_solved(programme(static_cast<uint64_t>(seed), shape), memories[seed / shapes % 5]);
    }
}
