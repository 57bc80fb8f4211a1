#include "problems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace cudaopt_test {

namespace {

// Returns n values, the repeated pattern.
Vector repeated(const Vector &pattern, int64_t n) {
    Vector values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); i++) values[i] = pattern[i % pattern.size()];
    return values;
}

double square(double a) { return a * a; }

} // namespace

double Uniform::operator()() {
    // SplitMix64 (Steele, Lea, Flood 2014). The upper 53 bits give the number.
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-53;
}

Problem extended_rosenbrock(int64_t n) {
    return {"Rosenbrock", repeated({-1.2, 1.0}, n), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()) / 2, [&](int64_t k) {
                    const double a = x[2 * k], b = x[2 * k + 1];
                    const double valley = b - a * a, slope = 1 - a;
                    g[2 * k] = -400 * a * valley - 2 * slope;
                    g[2 * k + 1] = 200 * valley;
                    return 100 * valley * valley + slope * slope;
                });
            }};
}

Problem extended_beale(int64_t n) {
    return {"Beale", repeated({1.0, 0.8}, n), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()) / 2, [&](int64_t k) {
                    const double a = x[2 * k], b = x[2 * k + 1];
                    const double r1 = 1.5 - a * (1 - b);
                    const double r2 = 2.25 - a * (1 - b * b);
                    const double r3 = 2.625 - a * (1 - b * b * b);
                    g[2 * k] = -2 * (r1 * (1 - b) + r2 * (1 - b * b) + r3 * (1 - b * b * b));
                    g[2 * k + 1] = 2 * a * (r1 + 2 * b * r2 + 3 * b * b * r3);
                    return r1 * r1 + r2 * r2 + r3 * r3;
                });
            }};
}

Problem extended_powell(int64_t n) {
    return {"Powell", repeated({3.0, -1.0, 0.0, 1.0}, n), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()) / 4, [&](int64_t k) {
                    const double *v = &x[4 * k];
                    const double r1 = v[0] + 10 * v[1], r2 = v[2] - v[3];
                    const double r3 = v[1] - 2 * v[2], r4 = v[0] - v[3];
                    const double c3 = 4 * r3 * r3 * r3, c4 = 40 * r4 * r4 * r4;
                    g[4 * k] = 2 * r1 + c4;
                    g[4 * k + 1] = 20 * r1 + c3;
                    g[4 * k + 2] = 10 * r2 - 2 * c3;
                    g[4 * k + 3] = -10 * r2 - c4;
                    return r1 * r1 + 5 * r2 * r2 + square(r3 * r3) + 10 * square(r4 * r4);
                });
            }};
}

Problem extended_wood(int64_t n) {
    return {"Wood", repeated({-3.0, -1.0}, n), [](const Vector &x, Vector &g) {
                return pairwise_sum(0, static_cast<int64_t>(x.size()) / 4, [&](int64_t k) {
                    const double *v = &x[4 * k];
                    const double r1 = v[0] * v[0] - v[1], r3 = v[2] * v[2] - v[3];
                    const double d0 = v[0] - 1, d1 = v[1] - 1, d2 = v[2] - 1, d3 = v[3] - 1;
                    g[4 * k] = 400 * v[0] * r1 + 2 * d0;
                    g[4 * k + 1] = -200 * r1 + 20.2 * d1 + 19.8 * d3;
                    g[4 * k + 2] = 360 * v[2] * r3 + 2 * d2;
                    g[4 * k + 3] = -180 * r3 + 20.2 * d3 + 19.8 * d1;
                    return 100 * r1 * r1 + d0 * d0 + 90 * r3 * r3 + d2 * d2 + 10.1 * (d1 * d1 + d3 * d3) +
                           19.8 * d1 * d3;
                });
            }};
}

Problem trigonometric(int64_t n) {
    return {"Trigonometric", repeated({0.2}, n), [](const Vector &x, Vector &g) {
                // residual_i = n - sum_j cos x_j + (i + 1)(1 - cos x_i) - sin x_i, where i starts at 0
                const int64_t size = static_cast<int64_t>(x.size());
                const double deficit = pairwise_sum(0, size, [&](int64_t j) { return 1 - std::cos(x[j]); });
                const auto residual = [&](int64_t i) {
                    return deficit + static_cast<double>(i + 1) * (1 - std::cos(x[i])) - std::sin(x[i]);
                };
                const double total = pairwise_sum(0, size, residual);
                return pairwise_sum(0, size, [&](int64_t i) {
                    const double r = residual(i), s = std::sin(x[i]), c = std::cos(x[i]);
                    g[i] = 2 * (total * s + r * (static_cast<double>(i + 1) * s - c));
                    return r * r;
                });
            }};
}

Problem chained_rosenbrock(int64_t n, uint64_t seed) {
    Problem problem = {"chained Rosenbrock, boxes of seed " + std::to_string(seed), repeated({3.0}, n),
                       [](const Vector &x, Vector &g) {
                           const int64_t size = static_cast<int64_t>(x.size());
                           std::fill(g.begin(), g.end(), 0.0);
                           return pairwise_sum(0, size - 1, [&](int64_t i) {
                               const double valley = x[i + 1] - x[i] * x[i], slope = 1 - x[i];
                               g[i] += -400 * x[i] * valley - 2 * slope;
                               g[i + 1] += 200 * valley;
                               return 100 * valley * valley + slope * slope;
                           });
                       }};
    Uniform uniform(seed);
    problem.lower.resize(static_cast<std::size_t>(n));
    problem.upper.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < problem.lower.size(); i++) {
        problem.lower[i] = uniform() < 0.5 ? -1.0 : 0.2;
        problem.upper[i] = problem.lower[i] + 2 * uniform();
        problem.start[i] = std::min(problem.start[i], problem.upper[i]);
    }
    return problem;
}

Problem torsion(int64_t nx, int64_t ny) {
    const double hx = 1.0 / static_cast<double>(nx + 1), hy = 1.0 / static_cast<double>(ny + 1);
    Problem problem = {"torsion " + std::to_string(nx) + " x " + std::to_string(ny), {}, {}};
    for (int64_t j = 1; j <= ny; j++)
        for (int64_t i = 1; i <= nx; i++) {
            const double px = static_cast<double>(i) * hx, py = static_cast<double>(j) * hy;
            const double distance = std::min(std::min(px, 1 - px), std::min(py, 1 - py));
            problem.start.push_back(distance);
            problem.upper.push_back(distance);
            problem.lower.push_back(-distance);
        }
    // f = hx hy (1/4 sum over triangles of |grad v|^2 - c sum v). Each inner edge belongs to two triangles.
    problem.evaluate = [nx, ny, hx, hy](const Vector &x, Vector &g) {
        constexpr double force = 5;
        const double area = hx * hy;
        const auto value = [&](int64_t i, int64_t j) {
            return i < 0 || i >= nx || j < 0 || j >= ny ? 0.0 : x[static_cast<std::size_t>(j * nx + i)];
        };
        return pairwise_sum(0, nx * ny, [&](int64_t k) {
            const int64_t i = k % nx, j = k / nx;
            const double v = x[static_cast<std::size_t>(k)];
            const double west = (v - value(i - 1, j)) / hx, east = (value(i + 1, j) - v) / hx;
            const double south = (v - value(i, j - 1)) / hy, north = (value(i, j + 1) - v) / hy;
            g[static_cast<std::size_t>(k)] = area * ((west - east) / hx + (south - north) / hy - force);
            // Each edge is counted at its western or southern end, and the last edge of a row or column here as well.
            const double edges =
                west * west + south * south + (i == nx - 1 ? east * east : 0) + (j == ny - 1 ? north * north : 0);
            return area * (edges / 2 - force * v);
        });
    };
    return problem;
}

KnownQuadratic quadratic_with_known_active_set(int64_t n) {
    const auto diagonal = [](int64_t i) { return 3.0 + static_cast<double>(i % 7); };
    const auto times = [diagonal](const Vector &x, int64_t i) {
        const int64_t size = static_cast<int64_t>(x.size());
        return diagonal(i) * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < size ? x[i + 1] : 0);
    };
    KnownQuadratic known;
    Problem &problem = known.problem;
    problem.name = "quadratic with a known active set";
    Uniform uniform(17);
    Vector multiplier(static_cast<std::size_t>(n));
    for (int64_t i = 0; i < n; i++) {
        const double minimiser = 2 * uniform() - 1, room = 0.1 + uniform(), force = 0.5 + uniform();
        const int64_t kind = i % 3;
        known.minimiser.push_back(minimiser);
        problem.lower.push_back(kind == 0 ? minimiser : minimiser - room);
        problem.upper.push_back(kind == 1 ? minimiser : minimiser + room);
        problem.start.push_back(kind == 2 ? minimiser - room : minimiser + (kind == 0 ? room : -room) / 2);
        multiplier[i] = kind == 0 ? force : kind == 1 ? -force : 0;
    }
    // b is chosen such that the gradient A x - b at the minimiser is the multiplier.
    auto b = std::make_shared<Vector>();
    for (int64_t i = 0; i < n; i++) b->push_back(times(known.minimiser, i) - multiplier[i]);
    problem.evaluate = [b, times](const Vector &x, Vector &g) {
        return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
            const double ax = times(x, i);
            g[i] = ax - (*b)[i];
            return x[i] * (ax / 2 - (*b)[i]);
        });
    };
    return known;
}

double scaled_quadratic_curvature(int64_t i, int64_t n, double condition) {
    return n == 1 ? 1.0 : std::pow(condition, static_cast<double>(i) / static_cast<double>(n - 1));
}

Problem scaled_quadratic(int64_t n, double condition) {
    return {"scaled quadratic", repeated({0.0}, n), [condition](const Vector &x, Vector &g) {
                const int64_t size = static_cast<int64_t>(x.size());
                return pairwise_sum(0, size, [&](int64_t i) {
                    const double target = 1 + 0.25 * static_cast<double>(i % 5);
                    const double curvature = scaled_quadratic_curvature(i, size, condition);
                    g[i] = curvature * (x[i] - target);
                    return g[i] * (x[i] - target) / 2;
                });
            }};
}

KnownQuadratic quadratic_with_many_breakpoints(int64_t n) {
    const auto target = [](int64_t i) { return (i % 2 == 0 ? -1 : 1) * (1 + static_cast<double>(i * 37 % 101) / 50); };
    auto curvature = std::make_shared<Vector>();
    KnownQuadratic known;
    Uniform uniform(4);
    for (int64_t i = 0; i < n; i++) {
        curvature->push_back(scaled_quadratic_curvature(i, n, 1e-3));
        known.problem.lower.push_back(-0.05 - 3 * uniform());
        known.problem.upper.push_back(0.05 + 3 * uniform());
        known.problem.start.push_back(0);
        known.minimiser.push_back(std::min(known.problem.upper[i], std::max(known.problem.lower[i], target(i))));
    }
    known.problem.name = "quadratic with many breakpoints";
    known.problem.evaluate = [curvature, target](const Vector &x, Vector &g) {
        return pairwise_sum(0, static_cast<int64_t>(x.size()), [&](int64_t i) {
            const double from_target = x[i] - target(i);
            g[i] = (*curvature)[i] * from_target;
            return g[i] * from_target / 2;
        });
    };
    return known;
}

Problem in_box(Problem problem, double lower, double upper) {
    problem.lower.assign(problem.start.size(), lower);
    problem.upper.assign(problem.start.size(), upper);
    problem.name += " in a box";
    return problem;
}

Problem in_random_boxes(Problem problem, uint64_t seed) {
    Uniform uniform(seed);
    problem.lower.clear();
    problem.upper.clear();
    for (int64_t i = 0; i < problem.size(); i++) {
        problem.lower.push_back(2 * uniform() - 1.5);
        problem.upper.push_back(problem.lower.back() + 0.5 + 2 * uniform());
    }
    problem.name += " in random boxes of seed " + std::to_string(seed);
    return problem;
}

Problem with_mixed_bounds(Problem problem) {
    constexpr double none = std::numeric_limits<double>::infinity();
    constexpr double lower[] = {-none, 0.9, -0.5, -none, 0.75};
    constexpr double upper[] = {none, none, 0.95, 0.8, 0.75};
    problem.lower.clear();
    problem.upper.clear();
    for (int64_t i = 0; i < problem.size(); i++) {
        problem.lower.push_back(lower[i % 5]);
        problem.upper.push_back(upper[i % 5]);
    }
    problem.name += " with mixed bounds";
    return problem;
}

std::vector<Problem> dose_responses() {
    const auto squares = [](const Vector &x, Vector &g) {
        constexpr double doses[] = {1e-10, 3e-10, 1e-9, 3e-9, 1e-8, 3e-8, 1e-7, 3e-7, 1e-6},
                         responses[] = {2, 1, 5, 16, 41, 74, 88, 97, 96};
        const double top = x[0], bottom = x[1], middle = x[2], slope = x[3];
        double f = 0;
        std::fill(g.begin(), g.end(), 0.0);
        for (int k = 0; k < 9; k++) {
            const double u = std::pow(middle / doses[k], slope), q = 1 / (1 + u), r = top * q + bottom - responses[k],
                         w = r * top * q * q * u;
            f += r * r / 2;
            g[0] += r * q;
            g[1] += r;
            g[2] -= w * slope / middle;
            g[3] -= w * std::log(middle / doses[k]);
        }
        return f;
    };
    std::vector<Problem> problems;
    for (const Vector &start : {Vector{100, 0, 1e-8, 1}, {100, 0, 1e-6, 1}, {50, 50, 1e-7, 2}, {80, 10, 3e-9, 0.7}})
        problems.push_back({"dose response", start, squares, {0, -50, 1e-12, 0.1}, {200, 100, 1e-3, 10}});
    return problems;
}

Problem without_bounds(Problem problem) {
    problem.lower.clear();
    problem.upper.clear();
    problem.name += " without bounds";
    return problem;
}

Problem moved(Problem problem) {
    Uniform uniform(1);
    for (std::size_t i = 0; i < problem.start.size(); i++) {
        double &x = problem.start[i];
        x *= 1 + 1e-15 * (std::floor(3 * uniform()) - 1);
        if (!problem.lower.empty()) x = std::max(x, problem.lower[i]);
        if (!problem.upper.empty()) x = std::min(x, problem.upper[i]);
    }
    return problem;
}

} // namespace cudaopt_test
