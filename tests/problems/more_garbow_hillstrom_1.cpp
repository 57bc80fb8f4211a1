// The functions 1 to 19, which have a fixed dimension.
#include "more_garbow_hillstrom.hpp"

namespace cudaopt_problems {

namespace {

const double pi = std::acos(-1.0);

std::string numbered(int number) { return "More, Garbow, Hillstrom 1981, no. " + std::to_string(number); }

} // namespace

Problem rosenbrock() {
    return make("rosenbrock", numbered(1), {-1.2, 1},
                [](const auto &x) { return square(10 * (x[1] - square(x[0]))) + square(1 - x[0]); })
        .minimum(0);
}

Problem freudenstein_roth() {
    return make("freudenstein-roth", numbered(2), {0.5, -2},
                [](const auto &x) {
                    return square(-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1]) +
                           square(-29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]);
                })
        .minimum(0)
        .minimum(48.98425);
}

Problem powell_badly_scaled() {
    return make("powell-badly-scaled", numbered(3), {0, 1},
                [](const auto &x) { return square(1e4 * x[0] * x[1] - 1) + square(exp(-x[0]) + exp(-x[1]) - 1.0001); })
        .minimum(0, 1e-6);
}

Problem brown_badly_scaled() {
    return make("brown-badly-scaled", numbered(4), {1, 1},
                [](const auto &x) { return square(x[0] - 1e6) + square(x[1] - 2e-6) + square(x[0] * x[1] - 2); })
        .minimum(0);
}

Problem beale() {
    return make("beale", numbered(5), {1, 1},
                [](const auto &x) {
                    return square(1.5 - x[0] * (1 - x[1])) + square(2.25 - x[0] * (1 - square(x[1]))) +
                           square(2.625 - x[0] * (1 - cube(x[1])));
                })
        .minimum(0);
}

Problem jennrich_sampson() {
    return make("jennrich-sampson", numbered(6), {0.3, 0.4},
                [](const auto &x) {
                    return sum_of(1, 11, [&](int i) { return square(2 + 2 * i - (exp(i * x[0]) + exp(i * x[1]))); });
                })
        .minimum(124.362, 1e-3);
}

Problem helical_valley() {
    return make("helical-valley", numbered(7), {-1, 0, 0},
                [](const auto &x) {
                    // The angle is arctan(x2/x1) / 2 pi, plus 1/2 if x1 < 0. This is the branch from -1/4 to 3/4.
                    auto turns = atan2(x[1], x[0]) / (2 * pi);
                    if (turns < -0.25) turns += 1;
                    return square(10 * (x[2] - 10 * turns)) + square(10 * (sqrt(square(x[0]) + square(x[1])) - 1)) +
                           square(x[2]);
                })
        .minimum(0);
}

Problem bard() {
    const Vector y = {0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39};
    return make("bard", numbered(8), {1, 1, 1},
                [y](const auto &x) {
                    return sum_of(1, 16, [&](int i) {
                        const double u = i, v = 16 - i, w = std::min(u, v);
                        return square(y[i - 1] - (x[0] + u / (v * x[1] + w * x[2])));
                    });
                })
        .minimum(8.21487e-3, 1e-8)
        .minimum(17.4286, 1e-3); // the second minimum is at infinity
}

Problem gaussian() {
    const Vector y = {0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989};
    return make("gaussian", numbered(9), {0.4, 1, 0},
                [y](const auto &x) {
                    return sum_of(1, 16, [&](int i) {
                        const double t = (8 - i) / 2.0;
                        return square(x[0] * exp(-x[1] * square(t - x[2]) / 2) - y[std::min(i, 16 - i) - 1]);
                    });
                })
        .minimum(1.12793e-8, 1e-11);
}

Problem meyer() {
    const Vector y = {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                      8261,  7030,  6005,  5147,  4427,  3820,  3307,  2872};
    return make("meyer", numbered(10), {0.02, 4000, 250},
                [y](const auto &x) {
                    return sum_of(1, 17,
                                  [&](int i) { return square(x[0] * exp(x[1] / (45 + 5 * i + x[2])) - y[i - 1]); });
                })
        .minimum(87.9458, 1e-3);
}

Problem gulf() {
    // |y_i - x2| is used. The paper's "y_i m i x2" is a misprint, as its minimiser (50, 25, 1.5) shows.
    return make("gulf", numbered(11) + ", m = 99", {5, 2.5, 0.15},
                [](const auto &x) {
                    return sum_of(1, 100, [&](int i) {
                        const double t = i / 100.0, y = 25 + std::pow(-50 * std::log(t), 2.0 / 3);
                        return square(exp(-pow(abs(y - x[1]), x[2]) / x[0]) - t);
                    });
                })
        .minimum(0)

        ;
}

Problem box_three_dimensional() {
    return make("box-3d", numbered(12) + ", m = 10", {0, 10, 20},
                [](const auto &x) {
                    return sum_of(1, 11, [&](int i) {
                        const double t = 0.1 * i;
                        return square(exp(-t * x[0]) - exp(-t * x[1]) - x[2] * (std::exp(-t) - std::exp(-10 * t)));
                    });
                })
        .minimum(0);
}

Problem powell_singular() { return extended_powell_singular(4); }

Problem wood() {
    return make("wood", numbered(14), {-3, -1, -3, -1},
                [](const auto &x) {
                    return square(10 * (x[1] - square(x[0]))) + square(1 - x[0]) + 90 * square(x[3] - square(x[2])) +
                           square(1 - x[2]) + 10 * square(x[1] + x[3] - 2) + 0.1 * square(x[1] - x[3]);
                })
        .minimum(0);
}

Problem kowalik_osborne() {
    const Vector y = {0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246};
    const Vector u = {4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625};
    return make("kowalik-osborne", numbered(15), {0.25, 0.39, 0.415, 0.39},
                [y, u](const auto &x) {
                    ScalarOf<decltype(x)> f = 0;
                    for (std::size_t i = 0; i < y.size(); i++)
                        f += square(y[i] - x[0] * (u[i] * u[i] + u[i] * x[1]) / (u[i] * u[i] + u[i] * x[2] + x[3]));
                    return f;
                })
        .minimum(3.07505e-4, 1e-8)
        .minimum(1.02734e-3, 1e-6); // the second minimum is at infinity
}

Problem brown_dennis() {
    return make("brown-dennis", numbered(16) + ", m = 20", {25, 5, -5, -1},
                [](const auto &x) {
                    return sum_of(1, 21, [&](int i) {
                        const double t = i / 5.0;
                        return square(square(x[0] + t * x[1] - std::exp(t)) +
                                      square(x[2] + std::sin(t) * x[3] - std::cos(t)));
                    });
                })
        .minimum(85822.2, 0.1);
}

Problem osborne_1() {
    const Vector y = {0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751,
                      0.718, 0.685, 0.658, 0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490,
                      0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411, 0.406};
    return make("osborne-1", numbered(17), {0.5, 1.5, -1, 0.01, 0.02},
                [y](const auto &x) {
                    ScalarOf<decltype(x)> f = 0;
                    for (std::size_t i = 0; i < y.size(); i++) {
                        const double t = 10.0 * static_cast<double>(i);
                        f += square(y[i] - (x[0] + x[1] * exp(-t * x[3]) + x[2] * exp(-t * x[4])));
                    }
                    return f;
                })
        .minimum(5.46489e-5, 1e-9);
}

Problem biggs_exp6() {
    return make("biggs-exp6", numbered(18) + ", m = 13", {1, 2, 1, 1, 1, 1},
                [](const auto &x) {
                    return sum_of(1, 14, [&](int i) {
                        const double t = 0.1 * i, y = std::exp(-t) - 5 * std::exp(-10 * t) + 3 * std::exp(-4 * t);
                        return square(x[2] * exp(-t * x[0]) - x[3] * exp(-t * x[1]) + x[5] * exp(-t * x[4]) - y);
                    });
                })
        .minimum(0)
        .minimum(5.65565e-3, 1e-7);
}

Problem osborne_2() {
    const Vector y = {1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608,
                      0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661,
                      0.612, 0.558, 0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428,
                      0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559,
                      0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054};
    return make("osborne-2", numbered(19), {1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5},
                [y](const auto &x) {
                    ScalarOf<decltype(x)> f = 0;
                    for (std::size_t i = 0; i < y.size(); i++) {
                        const double t = static_cast<double>(i) / 10;
                        f += square(y[i] -
                                    (x[0] * exp(-t * x[4]) + x[1] * exp(-square(t - x[8]) * x[5]) +
                                     x[2] * exp(-square(t - x[9]) * x[6]) + x[3] * exp(-square(t - x[10]) * x[7])));
                    }
                    return f;
                })
        .minimum(4.01377e-2, 1e-6);
}

} // namespace cudaopt_problems
