// Problems that were published with bounds.
#include "more_garbow_hillstrom.hpp"

#include "sets.hpp"

namespace cudaopt_problems {

namespace {

const std::string hock_schittkowski = "Hock, Schittkowski, Test Examples for Nonlinear Programming Codes, 1981, no. ";
const std::string cute = "Bongartz, Conn, Gould, Toint, CUTE, ACM TOMS 21 (1995) 123: ";
const std::string dixon_szego = "Dixon, Szego, Towards Global Optimisation 2, 1978: ";
const double pi = std::acos(-1.0);

Problems of_hock_and_schittkowski() {
    const auto valley = [](const auto &x) { return 100 * square(x[1] - square(x[0])) + square(1 - x[0]); };
    return {
        make("hs1", hock_schittkowski + "1", {-2, 1}, valley).box({-INFINITY, -1.5}, {INFINITY, INFINITY}).minimum(0),
        make("hs2", hock_schittkowski + "2", {-2, 1}, valley)
            .box({-INFINITY, 1.5}, {INFINITY, INFINITY})
            .minimum(0.0504261879, 1e-8)
            .minimum(4.941229, 1e-4),
        make("hs3", hock_schittkowski + "3", {10, 1}, [](const auto &x) { return x[1] + 1e-5 * square(x[1] - x[0]); })
            .box({-INFINITY, 0}, {INFINITY, INFINITY})
            .minimum(0, 1e-6),
        make("hs4", hock_schittkowski + "4", {1.125, 0.125}, [](const auto &x) { return cube(x[0] + 1) / 3 + x[1]; })
            .box({1, 0}, {INFINITY, INFINITY})
            .minimum(8.0 / 3),
        make("hs5", hock_schittkowski + "5", {0, 0},
             [](const auto &x) { return sin(x[0] + x[1]) + square(x[0] - x[1]) - 1.5 * x[0] + 2.5 * x[1] + 1; })
            .box({-1.5, -3}, {4, 3})
            .minimum(-std::sqrt(3.0) / 2 - pi / 3),
        make("hs25", hock_schittkowski + "25", {100, 12.5, 3},
             [](const auto &x) {
                 return sum_of(1, 100, [&](int i) {
                     const double t = i / 100.0, u = 25 + std::pow(-50 * std::log(t), 2.0 / 3);
                     return square(exp(-pow(u - x[1], x[2]) / x[0]) - t);
                 });
             })
            .box({0.1, 0, 0}, {100, 25.6, 5})
            .minimum(0, 1e-4)
            .minimum(32.835, 1e-3), // the value at the start, where the gradient is 0 except for rounding errors
        wood().named("-hs38").box(-10, 10),
        make("hs45", hock_schittkowski + "45", {2, 2, 2, 2, 2},
             [](const auto &x) { return 2 - x[0] * x[1] * x[2] * x[3] * x[4] / 120; })
            .box({0, 0, 0, 0, 0}, {1, 2, 3, 4, 5})
            .minimum(1),
        make("hs110", hock_schittkowski + "110", Vector(10, 9),
             [](const auto &x) {
                 using T = ScalarOf<decltype(x)>;
                 T f = 0, product = 1;
                 for (const auto &v : x) {
                     f += square(log(v - 2)) + square(log(10 - v));
                     product *= v;
                 }
                 return T(f - pow(product, 0.2));
             })
            .box(2.001, 9.999)
            .minimum(-45.77846971, 1e-6),
    };
}

// A curved valley with square roots. The second problem has the bound u_2 <= 0.8.
Problem hatfld(const char *name, double second_upper) {
    return make(name, cute + "HATFLD", Vector(4, 0.1),
                [](const auto &x) {
                    ScalarOf<decltype(x)> f = square(x[0] - 1);
                    for (int i = 1; i < 4; i++) f += square(x[i - 1] - sqrt(x[i]));
                    return f;
                })
        .box(Vector(4, 1e-7), {INFINITY, second_upper, INFINITY, INFINITY});
}

Problems of_cute(int n) {
    return {
        make(sized("mccormck", n), cute + "MCCORMCK", Vector(n, 0),
             [n](const auto &x) {
                 return sum_of(0, n - 1, [&](int i) {
                     return -1.5 * x[i] + 2.5 * x[i + 1] + 1 + square(x[i] - x[i + 1]) + sin(x[i] + x[i + 1]);
                 });
             })
            .box(-1.5, 3),
        make(sized("nonscomp", n), cute + "NONSCOMP", Vector(n, 3),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(x[0] - 1);
                 for (int i = 1; i < n; i++) f += 4 * square(x[i] - square(x[i - 1]));
                 return f;
             })
            .box(repeated({1, -100}, n), Vector(n, 100))
            .minimum(0),
        make(sized("biggsb1", n), cute + "BIGGSB1", Vector(n, 0),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(x[0] - 1) + square(1 - x[n - 1]);
                 for (int i = 1; i < n; i++) f += square(x[i] - x[i - 1]);
                 return f;
             })
            .box(sequence(n, [n](int i) { return i < n ? 0 : -INFINITY; }),
                 sequence(n, [n](int i) { return i < n ? 0.9 : INFINITY; }))
            .minimum(0.015, 1e-8),
        make(sized("bdexp", n), cute + "BDEXP", Vector(n, 1),
             [n](const auto &x) {
                 return sum_of(0, n - 2, [&](int i) { return (x[i] + x[i + 1]) * exp(-x[i + 2] * (x[i] + x[i + 1])); });
             })
            .box(0, INFINITY),
        make(sized("cvxbqp1", n), cute + "CVXBQP1", Vector(n, 0.5),
             [n](const auto &x) {
                 return sum_of(1, n + 1, [&](int i) {
                     return i * square(x[i - 1] + x[(2 * i - 1) % n] + x[(3 * i - 1) % n]) / 2;
                 });
             })
            .box(0.1, 10)
            .minimum(0.0225 * n * (n + 1)),
        make(sized("ncvxbqp2", n), cute + "NCVXBQP2", Vector(n, 0.5),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = 0;
                 for (int i = 1; i <= n; i++) {
                     const auto term = i * square(x[i - 1] + x[(2 * i - 1) % n] + x[(3 * i - 1) % n]) / 2;
                     if (i <= n / 2) f += term;
                     else f -= term;
                 }
                 return f;
             })
            .box(0.1, 10),
        make(sized("hatfldc", n), cute + "HATFLDC, n = 25", Vector(n, 0.9),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(x[0] - 1) + square(x[n - 1] - 1);
                 for (int i = 1; i + 1 < n; i++) f += square(x[i + 1] - square(x[i]));
                 return f;
             })
            .box(sequence(n, [n](int i) { return i < n ? 0 : -INFINITY; }),
                 sequence(n, [n](int i) { return i < n ? 10 : INFINITY; }))
            .minimum(0),
    };
}

Problems of_two_variables() {
    return {
        make("six-hump-camel", dixon_szego + "C6", {1.1, 1.1},
             [](const auto &x) {
                 const auto a = square(x[0]), b = square(x[1]);
                 return (4 - 2.1 * a + square(a) / 3) * a + x[0] * x[1] + (-4 + 4 * b) * b;
             })
            .box({-3, -1.5}, {3, 1.5})
            .minimum(-1.0316285, 1e-6)
            .minimum(-0.2154638, 1e-6)
            .minimum(2.104250, 1e-5),
        make("branin", dixon_szego + "BR", {0, 0},
             [](const auto &x) {
                 const auto bend = x[1] - 5.1 / (4 * pi * pi) * square(x[0]) + 5 / pi * x[0] - 6;
                 return square(bend) + 10 * (1 - 1 / (8 * pi)) * cos(x[0]) + 10;
             })
            .box({-5, 0}, {10, 15})
            .minimum(0.3978874, 1e-6),
        make("goldstein-price", dixon_szego + "GP", {-0.5, -1.5},
             [](const auto &x) {
                 const auto &a = x[0], &b = x[1];
                 const auto first = square(a + b + 1) * (19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b);
                 const auto second =
                     square(2 * a - 3 * b) * (18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b);
                 return (1 + first) * (30 + second);
             })
            .box(-2, 2)
            .minimum(3)
            .minimum(30)
            .minimum(84)
            .minimum(840),
        make("exponentials-n2", "sum of exp(x_i) + exp(-2 x_i), a far start in a wide box", {350, 200},
             [](const auto &x) { return exp(x[0]) + exp(-2 * x[0]) + exp(x[1]) + exp(-2 * x[1]); })
            .box(-100, 400)
            .minimum(2 * (std::cbrt(2.0) + std::pow(2.0, -2.0 / 3))),
    };
}

// The grid problems of Moré and Toraldo, with k by k inner points of the unit square and h = 1/(k + 1). f is the sum
// over the triangles of |grad v|^2/2 - load v, with linear elements and v = 0 on the boundary.
Problem membrane(const std::string &name, const std::string &source, int k, double load) {
    return make(sized(name, k * k), source, Vector(k * k, 0), [k, load](const auto &v) {
        using T = ScalarOf<decltype(v)>;
        const double h = 1.0 / (k + 1);
        const auto at = [&](int i, int j) { return i < 0 || j < 0 || i >= k || j >= k ? T(0) : T(v[i * k + j]); };
        T f = 0;
        for (int i = -1; i < k; i++)
            for (int j = -1; j < k; j++) {
                f += (square(at(i + 1, j) - at(i, j)) + square(at(i, j + 1) - at(i, j))) / 2;
                f -= load * h * h * at(i, j);
            }
        return f;
    });
}

double distance_to_boundary(int place, int k) {
    const int i = place / k + 1, j = place % k + 1;
    return std::min({i, j, k + 1 - i, k + 1 - j}) / (k + 1.0);
}

Problems of_grids() {
    const std::string more_toraldo = "More, Toraldo, SIAM J. Optim. 1 (1991) 93: ";
    Problems all;
    for (const double load : {5.0, 10.0}) {
        const int k = 8;
        const Vector distance = sequence(k * k, [](int p) { return distance_to_boundary(p - 1, k); });
        all.push_back(membrane("torsion-c" + std::to_string(static_cast<int>(load)), more_toraldo + "torsion", k, load)
                          .box(scaled(distance, -1), distance));
    }
    const int k = 9;
    const auto wave = [](int p, double frequency) {
        const int i = (p - 1) / k + 1, j = (p - 1) % k + 1;
        return std::sin(frequency * i / (k + 1.0)) * std::sin(frequency * j / (k + 1.0));
    };
    const Vector below = sequence(k * k, [&](int p) { return std::pow(wave(p, 3.2), 3); });
    all.push_back(
        membrane("obstacle-below", more_toraldo + "obstacle A", k, 1).box(below, Vector(k * k, 2000)).from(below));
    const Vector lower = sequence(k * k, [&](int p) { return std::pow(wave(p, 9.2), 3); });
    const Vector upper = sequence(k * k, [&](int p) { return std::pow(wave(p, 9.2), 2) + 0.02; });
    all.push_back(membrane("obstacle-between", more_toraldo + "obstacle B", k, 1).box(lower, upper).from(lower));
    return all;
}

} // namespace

Problems bound_constrained() {
    Problems all = of_hock_and_schittkowski();
    append(all, {hatfld("hatflda", INFINITY).minimum(0), hatfld("hatfldb", 0.8).minimum(5.57281e-3, 1e-7)});
    append(all, of_cute(25));
    append(all, of_two_variables());
    append(all, of_grids());
    return all;
}

} // namespace cudaopt_problems
