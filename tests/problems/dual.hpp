// Forward-mode automatic differentiation: a value and its partial derivatives for `width` variables at a time.
#pragma once

#include <array>
#include <cmath>

namespace cudaopt_problems {

struct Dual {
    static constexpr int width = 8;
    double value;
    std::array<double, width> partial{};

    Dual(double v = 0) : value(v) {} // a constant, so that a double is accepted as a Dual

    // Returns a function of this number. The arguments are the value and the derivative of the function.
    Dual through(double v, double derivative) const {
        Dual result(v);
        for (int k = 0; k < width; k++) result.partial[k] = derivative * partial[k];
        return result;
    }
    Dual operator-() const { return through(-value, -1); }
    Dual &operator+=(const Dual &b) {
        value += b.value;
        for (int k = 0; k < width; k++) partial[k] += b.partial[k];
        return *this;
    }
    Dual &operator-=(const Dual &b) {
        value -= b.value;
        for (int k = 0; k < width; k++) partial[k] -= b.partial[k];
        return *this;
    }
    Dual &operator*=(const Dual &b) {
        for (int k = 0; k < width; k++) partial[k] = partial[k] * b.value + value * b.partial[k];
        value *= b.value;
        return *this;
    }
    Dual &operator/=(const Dual &b) {
        value /= b.value;
        for (int k = 0; k < width; k++) partial[k] = (partial[k] - value * b.partial[k]) / b.value;
        return *this;
    }
    friend Dual operator+(Dual a, const Dual &b) { return a += b; }
    friend Dual operator-(Dual a, const Dual &b) { return a -= b; }
    friend Dual operator*(Dual a, const Dual &b) { return a *= b; }
    friend Dual operator/(Dual a, const Dual &b) { return a /= b; }
    friend bool operator<(const Dual &a, const Dual &b) { return a.value < b.value; }
};

inline Dual exp(const Dual &a) {
    const double e = std::exp(a.value);
    return a.through(e, e);
}
inline Dual log(const Dual &a) { return a.through(std::log(a.value), 1 / a.value); }
inline Dual sqrt(const Dual &a) {
    const double root = std::sqrt(a.value);
    return a.through(root, 0.5 / root);
}
inline Dual sin(const Dual &a) { return a.through(std::sin(a.value), std::cos(a.value)); }
inline Dual cos(const Dual &a) { return a.through(std::cos(a.value), -std::sin(a.value)); }
inline Dual tan(const Dual &a) {
    const double t = std::tan(a.value);
    return a.through(t, 1 + t * t);
}
inline Dual atan(const Dual &a) { return a.through(std::atan(a.value), 1 / (1 + a.value * a.value)); }
inline Dual atan2(const Dual &y, const Dual &x) {
    const double squares = x.value * x.value + y.value * y.value;
    Dual result(std::atan2(y.value, x.value));
    for (int k = 0; k < Dual::width; k++)
        result.partial[k] = (x.value * y.partial[k] - y.value * x.partial[k]) / squares;
    return result;
}
inline Dual abs(const Dual &a) { return a.value < 0 ? -a : a; }
inline Dual pow(const Dual &a, double b) {
    return a.through(std::pow(a.value, b), b == 0 ? 0 : b * std::pow(a.value, b - 1));
}
// Requires a >= 0. For b > 0, which holds for all uses, a^b log a tends to 0 with a.
inline Dual pow(const Dual &a, const Dual &b) {
    Dual result = pow(a, b.value);
    const double by_exponent = a.value > 0 ? result.value * std::log(a.value) : 0;
    for (int k = 0; k < Dual::width; k++) result.partial[k] += by_exponent * b.partial[k];
    return result;
}

} // namespace cudaopt_problems
