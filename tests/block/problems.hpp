// Small problems for host and device. They use only + - * / and sqrt, so that the results are bitwise identical if the
// compiler does not contract operations.
#pragma once

#include <cmath>
#include <cstdint>

#include "lbfgsb/box.hpp"

namespace block_test {

enum class Kind {
    rosenbrock,         // extended: a sum of functions of two variables
    chained_rosenbrock, // each term contains a variable and the next one
    quadratic,          // x'A x / 2 - b'x, A tridiagonal; two of three variables are active at the solution
    breakpoints,        // separable quadratic with bounds at many distances: many breakpoints are crossed
    torsion,            // elastic-plastic torsion on a square grid, |x| <= distance to the boundary
    rippled,            // Rosenbrock + 1e6, with a ripple at the rounding level of f that the gradient ignores
    barrier,            // w x + 1 / x, and NaN if an x is not positive
    ascent,             // Rosenbrock, but the sign of the gradient is reversed if f is small
    faint,              // quadratic with gradients whose squares underflow
    steep               // sqrt(x) + (x - 1)^2 / 8, with an infinite slope at 0
};

struct Problem {
    Kind kind;
    int n;
    bool bounded = false;
    double least = -cudaopt::infinity, largest = cudaopt::infinity; // the box, or the limits of the problem's own box
    int boxes = 0; // if not 0: chained Rosenbrock in random boxes with this seed

    double lower(int i) const {
        switch (kind) {
        case Kind::quadratic: return minimiser(i) - (i % 3 == 0 ? 0 : room(i));
        case Kind::breakpoints: return greater(least, -0.05 - 3 * drawn(2 * i));
        case Kind::torsion: return -distance_to_boundary(i);
        default: return boxes ? drawn_lower(i) : least;
        }
    }
    double upper(int i) const {
        switch (kind) {
        case Kind::quadratic: return minimiser(i) + (i % 3 == 1 ? 0 : room(i));
        case Kind::breakpoints: return -greater(-largest, -0.05 - 3 * drawn(2 * i + 1));
        case Kind::torsion: return distance_to_boundary(i);
        default: return boxes ? drawn_lower(i) + 2 * drawn(2 * i + 1) : largest;
        }
    }
    double start(int i) const {
        switch (kind) {
        case Kind::rosenbrock:
        case Kind::rippled:
        case Kind::ascent: return i % 2 == 0 ? -1.2 : 1;
        case Kind::chained_rosenbrock: return boxes ? 3 : -1;
        case Kind::quadratic: return i % 3 == 2 ? lower(i) : 0.5 * (lower(i) + upper(i));
        case Kind::breakpoints:
        case Kind::faint: return 0;
        case Kind::torsion: return 0.5 * distance_to_boundary(i);
        case Kind::barrier: return 9;
        case Kind::steep: return i % 2;
        }
        return 0;
    }

    // Returns f and writes g.
    double evaluate(const double *x, double *g) const {
        switch (kind) {
        case Kind::rosenbrock: return rosenbrock(x, g);
        case Kind::chained_rosenbrock: return chained_rosenbrock(x, g);
        case Kind::quadratic: return quadratic(x, g);
        case Kind::breakpoints: return separable(x, g);
        case Kind::torsion: return torsion(x, g);
        case Kind::rippled: return 1e6 + rosenbrock(x, g) + 4e-5 * wave(1e8 * x[0]);
        case Kind::barrier: return barrier(x, g);
        case Kind::ascent: {
            const double f = rosenbrock(x, g);
            for (int i = 0; i < n && f < 1.5 * n; i++) g[i] = -g[i];
            return f;
        }
        case Kind::faint: return faint(x, g);
        case Kind::steep: return steep(x, g);
        }
        return 0;
    }

    // Approximate inverses of the diagonal elements of the Hessian of Rosenbrock's function. For `ascent` one of them
    // is invalid.
    double inverse_diagonal(const double *x, int i) const {
        if (kind == Kind::ascent && i == 3) return -1;
        return i % 2 == 0 ? 1 / (2 + 800 * x[i] * x[i]) : 1.0 / 200;
    }

    // H0 = I + 1 1', restricted to the free variables.
    void apply_operator(const double *v, const double *is_free, double *out) const {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += is_free[i] * v[i];
        for (int i = 0; i < n; i++) out[i] = is_free[i] * (v[i] + sum);
    }

    // The solution of the quadratic, the distance to its inactive bounds, and its diagonal.
    double minimiser(int i) const { return i * 37 % 101 / 50.0 - 1; }
    double room(int i) const { return 0.1 + i * 53 % 89 / 89.0; }
    double curvature(int i) const { return 3 + i % 7; }

    // The torsion problem has a grid of side x side interior points of the unit square.
    int side() const {
        int s = 1;
        while ((s + 1) * (s + 1) <= n) s++;
        return s;
    }
    double distance_to_boundary(int i) const {
        const int s = side(), column = i % s, row = i / s;
        const int from_left = column + 1 < s - column ? column + 1 : s - column;
        const int from_below = row + 1 < s - row ? row + 1 : s - row;
        return (from_left < from_below ? from_left : from_below) / (s + 1.0);
    }

  private:
    static double greater(double a, double b) { return a > b ? a : b; }

    // A random number in [0, 1) by SplitMix64 (Steele, Lea, Flood 2014).
    double drawn(int i) const {
        uint64_t z = 0x9e3779b97f4a7c15u * static_cast<uint64_t>(1000 * boxes + i + 1);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        return static_cast<double>(z >> 11) / 9007199254740992.0;
    }
    double drawn_lower(int i) const { return drawn(2 * i) < 0.5 ? -1 : 0.2; }

    double rosenbrock(const double *x, double *g) const {
        double f = 0;
        for (int i = 0; i < n; i += 2) {
            const double valley = x[i + 1] - x[i] * x[i], slope = 1 - x[i];
            g[i] = -400 * x[i] * valley - 2 * slope;
            g[i + 1] = 200 * valley;
            f += 100 * valley * valley + slope * slope;
        }
        return f;
    }

    double chained_rosenbrock(const double *x, double *g) const {
        double f = 0;
        g[0] = 0;
        for (int i = 0; i + 1 < n; i++) {
            const double valley = x[i + 1] - x[i] * x[i], slope = 1 - x[i];
            g[i] += -400 * x[i] * valley - 2 * slope;
            g[i + 1] = 200 * valley;
            f += 100 * valley * valley + slope * slope;
        }
        return f;
    }

    template <class Vector> double times(const Vector &x, int i) const {
        return curvature(i) * x(i) - (i > 0 ? x(i - 1) : 0) - (i + 1 < n ? x(i + 1) : 0);
    }

    // b is chosen so that the gradient at the minimiser is the given multiplier: positive at a lower bound, and
    // negative at an upper bound.
    double quadratic(const double *x, double *g) const {
        double f = 0;
        for (int i = 0; i < n; i++) {
            const double multiplier = i % 3 == 0 ? 0.5 + room(i) : i % 3 == 1 ? -0.5 - room(i) : 0;
            const double b = times([&](int k) { return minimiser(k); }, i) - multiplier;
            const double a_x = times([&](int k) { return x[k]; }, i);
            g[i] = a_x - b;
            f += x[i] * (a_x / 2 - b);
        }
        return f;
    }

    double separable(const double *x, double *g) const {
        double f = 0;
        for (int i = 0; i < n; i++) {
            const double target = (i % 2 == 0 ? -1 : 1) * (1 + i * 37 % 101 / 50.0);
            g[i] = (x[i] - target) / (1 + 1000.0 * i / n);
            f += g[i] * (x[i] - target) / 2;
        }
        return f;
    }

    // The integral of |grad v|^2 / 2 - 5 v with linear elements and v = 0 on the boundary. Each edge is added at its
    // left or lower end, and the last edge of a row or column at its only interior end.
    double torsion(const double *x, double *g) const {
        constexpr double force = 5;
        const int s = side();
        const double h = 1.0 / (s + 1), area = h * h;
        double f = 0;
        for (int i = 0; i < n; i++) {
            const int column = i % s, row = i / s;
            const double left = x[i] - (column > 0 ? x[i - 1] : 0), right = (column + 1 < s ? x[i + 1] : 0) - x[i];
            const double below = x[i] - (row > 0 ? x[i - s] : 0), above = (row + 1 < s ? x[i + s] : 0) - x[i];
            g[i] = left - right + below - above - area * force;
            f += 0.5 * (left * left + below * below + (column + 1 == s ? right * right : 0) +
                        (row + 1 == s ? above * above : 0)) -
                 area * force * x[i];
        }
        return f;
    }

    // A function with values between 0 and 1/4 and period 1.
    static double wave(double t) {
        const double rest = t - static_cast<double>(static_cast<int64_t>(t));
        const double r = rest < 0 ? rest + 1 : rest;
        return r * (1 - r);
    }

    double steep(const double *x, double *g) const {
        double f = 0;
        for (int i = 0; i < n; i++) {
            const double root = std::sqrt(x[i]), d = x[i] - 1;
            f += root + d * d / 8;
            g[i] = 0.5 / root + d / 4;
        }
        return f;
    }
    double barrier(const double *x, double *g) const {
        double f = 0;
        bool inside = true;
        for (int i = 0; i < n; i++) {
            const double w = 2 + i % 9;
            g[i] = w - 1 / (x[i] * x[i]);
            f += w * x[i] + 1 / x[i];
            inside = inside && x[i] > 0;
        }
        return inside ? f : std::sqrt(-1.0);
    }

    double faint(const double *x, double *g) const {
        double f = 0;
        for (int i = 0; i < n; i++) {
            g[i] = 1e-170 * (1 + i % 5) * (x[i] - 1);
            f += g[i] * (x[i] - 1) / 2;
        }
        return f;
    }
};

} // namespace block_test
