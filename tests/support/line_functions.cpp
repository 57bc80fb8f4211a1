#include "line_functions.hpp"

#include <cmath>

namespace cudaopt_test {

namespace {

// Function (5.1) has its minimiser at sqrt(2) and is concave beyond sqrt(6).
Value flattening(double a) {
    const double denominator = a * a + 2;
    return {-a / denominator, (a * a - 2) / (denominator * denominator)};
}

// Function (5.2) has a narrow valley at about 1.6.
Value quintic(double a) {
    const double b = a + 0.004, cube = b * b * b;
    return {cube * b * (b - 2), cube * (5 * b - 8)};
}

// Function (5.3) is a parabola between two lines, plus a ripple.
Value rippled(double a) {
    constexpr double pi = 3.14159265358979323846, half_width = 0.01, waves = 39;
    const double phase = waves * pi / 2 * a, ripple = 1 - half_width;
    Value value{2 * ripple / (waves * pi) * std::sin(phase), ripple * std::cos(phase)};
    const double from_one = a - 1;
    if (std::fabs(from_one) < half_width) {
        value.phi += from_one * from_one / (2 * half_width) + half_width / 2;
        value.slope += from_one / half_width;
    } else {
        value.phi += std::fabs(from_one);
        value.slope += from_one < 0 ? -1 : 1;
    }
    return value;
}

// Functions (5.4) are sums of two hyperbolas, which have a sharp corner if the width is small.
std::function<Value(double)> hyperbolas(double first_width, double second_width) {
    const auto weight = [](double width) { return std::sqrt(1 + width * width) - width; };
    const double first = weight(first_width), second = weight(second_width);
    return [=](double a) {
        const double right = std::hypot(1 - a, second_width), left = std::hypot(a, first_width);
        return Value{first * right + second * left, -first * (1 - a) / right + second * a / left};
    };
}

} // namespace

std::vector<LineFunction> line_functions() {
    return {
        {"flattening", flattening, 0.001, 0.1},
        {"quintic", quintic, 0.1, 0.1},
        {"rippled", rippled, 0.1, 0.1},
        {"hyperbolas .001 .001", hyperbolas(0.001, 0.001), 0.001, 0.001},
        {"hyperbolas .01 .001", hyperbolas(0.01, 0.001), 0.001, 0.001},
        {"hyperbolas .001 .01", hyperbolas(0.001, 0.01), 0.001, 0.001},
    };
}

} // namespace cudaopt_test
