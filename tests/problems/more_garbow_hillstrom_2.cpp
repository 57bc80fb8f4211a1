// The functions 20 to 35, which have any dimension.
#include "more_garbow_hillstrom.hpp"

namespace cudaopt_problems {

namespace {

std::string numbered(int number) { return "More, Garbow, Hillstrom 1981, no. " + std::to_string(number); }

// The start of the functions 28 and 29.
Vector parabola(int n) {
    return sequence(n, [n](int j) { return j / (n + 1.0) * (j / (n + 1.0) - 1); });
}

} // namespace

Problem watson(int n) {
    return make(sized("watson", n), numbered(20), Vector(n, 0), [n](const auto &x) {
        using T = ScalarOf<decltype(x)>;
        T f = square(x[0]) + square(x[1] - square(x[0]) - 1);
        for (int i = 1; i <= 29; i++) {
            const double t = i / 29.0;
            T derivative = 0, value = 0;
            double power = 1;
            for (int j = 0; j < n; j++) {
                if (j + 1 < n) derivative += (j + 1) * power * x[j + 1];
                value += power * x[j];
                power *= t;
            }
            f += square(derivative - square(value) - 1);
        }
        return f;
    });
}

Problem extended_rosenbrock(int n) {
    return make(sized("extended-rosenbrock", n), numbered(21), repeated({-1.2, 1}, n),
                [n](const auto &x) {
                    return sum_of(0, n - 1, 2,
                                  [&](int i) { return square(10 * (x[i + 1] - square(x[i]))) + square(1 - x[i]); });
                })
        .minimum(0);
}

Problem extended_powell_singular(int n) {
    return make(sized("powell-singular", n), numbered(n == 4 ? 13 : 22), repeated({3, -1, 0, 1}, n),
                [n](const auto &x) {
                    return sum_of(0, n - 3, 4, [&](int i) {
                        return square(x[i] + 10 * x[i + 1]) + 5 * square(x[i + 2] - x[i + 3]) +
                               fourth(x[i + 1] - 2 * x[i + 2]) + 10 * fourth(x[i] - x[i + 3]);
                    });
                })
        .minimum(0, 1e-6);
}

Problem penalty_1(int n) {
    return make(sized("penalty-1", n), numbered(23), sequence(n, [](int j) { return j; }), [](const auto &x) {
        ScalarOf<decltype(x)> f = 0, squares = -0.25;
        for (const auto &v : x) {
            f += 1e-5 * square(v - 1);
            squares += square(v);
        }
        return f + square(squares);
    });
}

Problem penalty_2(int n) {
    return make(sized("penalty-2", n), numbered(24), Vector(n, 0.5), [n](const auto &x) {
        using T = ScalarOf<decltype(x)>;
        const double a = 1e-5;
        T f = square(x[0] - 0.2), squares = -1;
        for (int i = 2; i <= n; i++) {
            const double y = std::exp(i / 10.0) + std::exp((i - 1) / 10.0);
            f += a * square(exp(x[i - 1] / 10) + exp(x[i - 2] / 10) - y);
            f += a * square(exp(x[i - 1] / 10) - std::exp(-0.1));
        }
        for (int j = 1; j <= n; j++) squares += (n - j + 1) * square(x[j - 1]);
        return T(f + square(squares));
    });
}

Problem variably_dimensioned(int n) {
    return make(sized("variably-dimensioned", n), numbered(25), sequence(n, [n](int j) { return 1 - j / (n + 0.0); }),
                [n](const auto &x) {
                    ScalarOf<decltype(x)> f = 0, weighted = 0;
                    for (int j = 1; j <= n; j++) {
                        f += square(x[j - 1] - 1);
                        weighted += j * (x[j - 1] - 1);
                    }
                    return f + square(weighted) + fourth(weighted);
                })
        .minimum(0);
}

Problem trigonometric(int n) {
    return make(sized("trigonometric", n), numbered(26), Vector(n, 1.0 / n), [n](const auto &x) {
        ScalarOf<decltype(x)> f = 0, cosines = 0;
        for (const auto &v : x) cosines += cos(v);
        for (int i = 1; i <= n; i++) f += square(n - cosines + i * (1 - cos(x[i - 1])) - sin(x[i - 1]));
        return f;
    });
}

Problem brown_almost_linear(int n) {
    return make(sized("brown-almost-linear", n), numbered(27), Vector(n, 0.5),
                [n](const auto &x) {
                    using T = ScalarOf<decltype(x)>;
                    T f = 0, sum = 0, product = 1;
                    for (const auto &v : x) {
                        sum += v;
                        product *= v;
                    }
                    for (int i = 0; i + 1 < n; i++) f += square(x[i] + sum - (n + 1));
                    return T(f + square(product - 1));
                })
        .minimum(0)
        .minimum(1);
}

Problem discrete_boundary_value(int n) {
    return make(sized("discrete-boundary-value", n), numbered(28), parabola(n),
                [n](const auto &x) {
                    using T = ScalarOf<decltype(x)>;
                    const double h = 1.0 / (n + 1);
                    T f = 0;
                    for (int i = 0; i < n; i++) {
                        const T left = i > 0 ? x[i - 1] : T(0), right = i + 1 < n ? x[i + 1] : T(0);
                        f += square(2 * x[i] - left - right + h * h * cube(x[i] + (i + 1) * h + 1) / 2);
                    }
                    return f;
                })
        .minimum(0, 1e-6);
}

Problem discrete_integral_equation(int n) {
    return make(sized("discrete-integral-equation", n), numbered(29), parabola(n),
                [n](const auto &x) {
                    using T = ScalarOf<decltype(x)>;
                    const double h = 1.0 / (n + 1);
                    std::vector<T> cubes(x.size());
                    T f = 0, before = 0, behind = 0;
                    for (int j = 0; j < n; j++) {
                        cubes[j] = cube(x[j] + (j + 1) * h + 1);
                        behind += (1 - (j + 1) * h) * cubes[j];
                    }
                    for (int i = 0; i < n; i++) {
                        const double t = (i + 1) * h;
                        before += t * cubes[i];
                        behind -= (1 - t) * cubes[i];
                        f += square(x[i] + h * ((1 - t) * before + t * behind) / 2);
                    }
                    return f;
                })
        .minimum(0);
}

Problem broyden_tridiagonal(int n) {
    return make(sized("broyden-tridiagonal", n), numbered(30), Vector(n, -1), [n](const auto &x) {
        using T = ScalarOf<decltype(x)>;
        return sum_of(0, n, [&](int i) {
            const T left = i > 0 ? x[i - 1] : T(0), right = i + 1 < n ? x[i + 1] : T(0);
            return square((3 - 2 * x[i]) * x[i] - left - 2 * right + 1);
        });
    });
}

Problem broyden_banded(int n) {
    return make(sized("broyden-banded", n), numbered(31), Vector(n, -1), [n](const auto &x) {
        using T = ScalarOf<decltype(x)>;
        return sum_of(0, n, [&](int i) {
            T r = x[i] * (2 + 5 * square(x[i])) + 1;
            for (int j = std::max(0, i - 5); j <= std::min(n - 1, i + 1); j++)
                if (j != i) r -= x[j] * (1 + x[j]);
            return square(r);
        });
    });
}

Problem linear_full_rank(int n, int m) {
    return make(sized("linear-full-rank", n), numbered(32) + ", m = " + std::to_string(m), Vector(n, 1),
                [n, m](const auto &x) {
                    using T = ScalarOf<decltype(x)>;
                    T f = 0, sum = 0;
                    for (const auto &v : x) sum += v;
                    const T common = 2 * sum / m + 1;
                    for (int i = 0; i < n; i++) f += square(x[i] - common);
                    return T(f + (m - n) * square(common));
                })
        .minimum(m - n);
}

Problem linear_rank_one(int n, int m) {
    return make(sized("linear-rank-1", n), numbered(33) + ", m = " + std::to_string(m), Vector(n, 1),
                [n, m](const auto &x) {
                    ScalarOf<decltype(x)> f = 0, weighted = 0;
                    for (int j = 1; j <= n; j++) weighted += j * x[j - 1];
                    for (int i = 1; i <= m; i++) f += square(i * weighted - 1);
                    return f;
                })
        .minimum(m * (m - 1) / (2.0 * (2 * m + 1)));
}

Problem linear_rank_one_zeros(int n, int m) {
    return make(sized("linear-rank-1-zeros", n), numbered(34) + ", m = " + std::to_string(m), Vector(n, 1),
                [n, m](const auto &x) {
                    ScalarOf<decltype(x)> f = 2, weighted = 0;
                    for (int j = 2; j < n; j++) weighted += j * x[j - 1];
                    for (int i = 2; i < m; i++) f += square((i - 1) * weighted - 1);
                    return f;
                })
        .minimum((m * m + 3 * m - 6) / (2.0 * (2 * m - 3)));
}

Problem chebyquad(int n) {
    return make(sized("chebyquad", n), numbered(35), sequence(n, [n](int j) { return j / (n + 1.0); }),
                [n](const auto &x) {
                    using T = ScalarOf<decltype(x)>;
                    std::vector<T> mean(x.size(), 0.0); // the mean of T_i over the points
                    for (const auto &v : x) {
                        const T twice = 2 * (2 * v - 1);
                        T before = 1, now = twice / 2;
                        for (int i = 0; i < n; i++) {
                            mean[i] += now / n;
                            const T next = twice * now - before;
                            before = now;
                            now = next;
                        }
                    }
                    T f = 0;
                    for (int i = 1; i <= n; i++) f += square(mean[i - 1] - (i % 2 == 0 ? -1 / (i * i - 1.0) : 0));
                    return f;
                });
}

} // namespace cudaopt_problems
