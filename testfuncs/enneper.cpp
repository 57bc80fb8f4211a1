#include "testfuncs/enneper.hpp"

#include "testfuncs/function.hpp"

namespace cudaopt::testfuncs {
namespace {

// Computes Enneper's surface v(x, y). Newton's method finds (p, q) from the start (x, -y), which is close to it.
double enneper(double x, double y) {
    double p = x, q = -y;
    for (int step = 0; step < 10; step++) {
        const double in_x = p + p * q * q - p * p * p / 3 - x;
        const double in_y = -q - p * p * q + q * q * q / 3 - y;
        // The Jacobian of (x, y) with respect to (p, q) is (a, b; -b, d).
        const double a = 1 + q * q - p * p, b = 2 * p * q, d = -1 - p * p + q * q;
        const double determinant = a * d + b * b;
        p -= (d * in_x - b * in_y) / determinant;
        q -= (b * in_x + a * in_y) / determinant;
    }
    return p * p - q * q;
}

} // namespace

EnneperSide::EnneperSide() {
    double value[terms], angle[terms];
    for (int node = 0; node < terms; node++) {
        angle[node] = pi * (node + 0.5) / terms;
        value[node] = enneper(std::sqrt((std::cos(angle[node]) + 1) / 8), -0.5);
    }
    for (int k = 0; k < terms; k++) {
        double sum = 0;
        for (int node = 0; node < terms; node++) sum += value[node] * std::cos(k * angle[node]);
        coefficient_[k] = sum * (k == 0 ? 1. : 2.) / terms;
    }
}

} // namespace cudaopt::testfuncs
