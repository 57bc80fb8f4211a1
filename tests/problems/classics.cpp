// Unconstrained problems with published formulas from several test collections, with small and moderate n.
#include "sets.hpp"

namespace cudaopt_problems {

namespace {

const double pi = std::acos(-1.0);
const std::string cute = "Bongartz, Conn, Gould, Toint, CUTE, ACM TOMS 21 (1995) 123: ";
const std::string luksan_vlcek = "Luksan, Vlcek, Sparse and partially separable test problems, 1999, no. ";
const std::string andrei = "Andrei, An unconstrained optimization test functions collection, AMO 10 (2008) 147: ";
const std::string more_thuente = "More, Thuente, ACM TOMS 20 (1994) 286, function ";

} // namespace

Problems chained(int n) {
    return {
        make(sized("chained-rosenbrock", n), luksan_vlcek + "1", repeated({-1.2, 1}, n),
             [n](const auto &x) {
                 return sum_of(1, n,
                               [&](int i) { return 100 * square(square(x[i - 1]) - x[i]) + square(x[i - 1] - 1); });
             }),
        make(sized("chained-wood", n), luksan_vlcek + "2",
             sequence(n, [](int i) { return i <= 4 ? (i % 2 ? -3 : -1) : (i % 2 ? -2 : 0); }),
             [n](const auto &x) {
                 return sum_of(0, n - 3, 2, [&](int i) {
                     return 100 * square(square(x[i]) - x[i + 1]) + square(x[i] - 1) +
                            90 * square(square(x[i + 2]) - x[i + 3]) + square(x[i + 2] - 1) +
                            10 * square(x[i + 1] + x[i + 3] - 2) + square(x[i + 1] - x[i + 3]) / 10;
                 });
             }),
        make(sized("chained-powell-singular", n), luksan_vlcek + "3", repeated({3, -1, 0, 1}, n),
             [n](const auto &x) {
                 return sum_of(0, n - 3, 2, [&](int i) {
                     return square(x[i] + 10 * x[i + 1]) + 5 * square(x[i + 2] - x[i + 3]) +
                            fourth(x[i + 1] - 2 * x[i + 2]) + 10 * fourth(x[i] - x[i + 3]);
                 });
             })
            .minimum(0, 1e-6),
        make(sized("chained-cragg-levy", n), luksan_vlcek + "4", sequence(n, [](int i) { return i == 1 ? 1 : 2; }),
             [n](const auto &x) {
                 return sum_of(0, n - 3, 2, [&](int i) {
                     return fourth(exp(x[i]) - x[i + 1]) + 100 * square(cube(x[i + 1] - x[i + 2])) +
                            fourth(tan(x[i + 2] - x[i + 3])) + square(fourth(x[i])) + square(x[i + 3] - 1);
                 });
             }),
        make(sized("generalised-broyden-tridiagonal", n), luksan_vlcek + "5", Vector(n, -1),
             [n](const auto &x) {
                 using T = ScalarOf<decltype(x)>;
                 return sum_of(0, n, [&](int i) {
                     const T left = i > 0 ? x[i - 1] : T(0), right = i + 1 < n ? x[i + 1] : T(0);
                     return pow(abs((3 - 2 * x[i]) * x[i] - left - right + 1), 7.0 / 3);
                 });
             })
            .minimum(0, 1e-6),
        make(sized("seven-diagonal-broyden", n), luksan_vlcek + "7", Vector(n, -1),
             [n](const auto &x) {
                 using T = ScalarOf<decltype(x)>;
                 T f = 0;
                 for (int i = 0; i < n; i++) {
                     const T left = i > 0 ? x[i - 1] : T(0), right = i + 1 < n ? x[i + 1] : T(0);
                     f += pow(abs((3 - 2 * x[i]) * x[i] - left - right + 1), 7.0 / 3);
                     if (i < n / 2) f += pow(abs(x[i] + x[i + n / 2]), 7.0 / 3);
                 }
                 return f;
             }),
        make(sized("generalised-brown", n), luksan_vlcek + "13", repeated({-1, 1}, n),
             [n](const auto &x) {
                 return sum_of(1, n, [&](int i) {
                     return pow(square(x[i - 1]), square(x[i]) + 1) + pow(square(x[i]), square(x[i - 1]) + 1);
                 });
             })
            .minimum(0),
        make(sized("banded-trigonometric", n), luksan_vlcek + "16", Vector(n, 1.0 / n),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = 0;
                 for (int i = 1; i <= n; i++) {
                     f += i * (1 - cos(x[i - 1]));
                     if (i > 1) f += i * sin(x[i - 2]);
                     if (i < n) f -= i * sin(x[i]);
                 }
                 return f;
             }),
    };
}

Problems separable(int n) {
    return {
        make(sized("engval1", n), cute + "ENGVAL1", Vector(n, 2),
             [n](const auto &x) {
                 return sum_of(0, n - 1, [&](int i) { return square(square(x[i]) + square(x[i + 1])) - 4 * x[i] + 3; });
             }),
        make(sized("dqdrtic", n), cute + "DQDRTIC", Vector(n, 3),
             [n](const auto &x) {
                 return sum_of(0, n - 2,
                               [&](int i) { return square(x[i]) + 100 * square(x[i + 1]) + 100 * square(x[i + 2]); });
             })
            .minimum(0),
        make(sized("arwhead", n), cute + "ARWHEAD", Vector(n, 1),
             [n](const auto &x) {
                 return sum_of(0, n - 1, [&](int i) { return square(square(x[i]) + square(x[n - 1])) - 4 * x[i] + 3; });
             })
            .minimum(0),
        make(sized("nondia", n), cute + "NONDIA", Vector(n, -1),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(x[0] - 1);
                 for (int i = 1; i < n; i++) f += 100 * square(x[0] - square(x[i - 1]));
                 return f;
             })
            .minimum(0),
        make(sized("tridia", n), cute + "TRIDIA", Vector(n, 1),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(x[0] - 1);
                 for (int i = 2; i <= n; i++) f += i * square(2 * x[i - 1] - x[i - 2]);
                 return f;
             })
            .minimum(0),
        make(sized("liarwhd", n), cute + "LIARWHD", Vector(n, 4),
             [n](const auto &x) {
                 return sum_of(0, n, [&](int i) { return 4 * square(square(x[i]) - x[0]) + square(x[i] - 1); });
             })
            .minimum(0),
        make(sized("nondquar", n), cute + "NONDQUAR", repeated({1, -1}, n),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(x[0] - x[1]) + square(x[n - 2] + x[n - 1]);
                 for (int i = 0; i + 2 < n; i++) f += fourth(x[i] + x[i + 1] + x[n - 1]);
                 return f;
             })
            .minimum(0, 1e-5),
        make(sized("bdqrtic", n), cute + "BDQRTIC", Vector(n, 1),
             [n](const auto &x) {
                 return sum_of(0, n - 4, [&](int i) {
                     return square(-4 * x[i] + 3) + square(square(x[i]) + 2 * square(x[i + 1]) + 3 * square(x[i + 2]) +
                                                           4 * square(x[i + 3]) + 5 * square(x[n - 1]));
                 });
             }),
        make(sized("power", n), cute + "POWER", Vector(n, 1),
             [n](const auto &x) { return sum_of(1, n + 1, [&](int i) { return square(i * x[i - 1]); }); })
            .minimum(0),
        make(sized("quartc", n), cute + "QUARTC", Vector(n, 2),
             [n](const auto &x) { return sum_of(1, n + 1, [&](int i) { return fourth(x[i - 1] - i); }); })
            .minimum(0, 1e-5),
        make(sized("edensch", n), cute + "EDENSCH", Vector(n, 8),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = 16;
                 for (int i = 0; i + 1 < n; i++)
                     f += fourth(x[i] - 2) + square(x[i] * x[i + 1] - 2 * x[i + 1]) + square(x[i + 1] + 1);
                 return f;
             }),
    };
}

Problems coupled(int n) {
    return {
        make(sized("fletchcr", n), cute + "FLETCHCR", Vector(n, 0),
             [n](const auto &x) {
                 return sum_of(0, n - 1, [&](int i) { return 100 * square(x[i + 1] - x[i] + 1 - square(x[i])); });
             })
            .minimum(0),
        make(sized("genrose", n), cute + "GENROSE", sequence(n, [n](int i) { return i / (n + 1.0); }),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = 1;
                 for (int i = 1; i < n; i++) f += 100 * square(x[i] - square(x[i - 1])) + square(x[i] - 1);
                 return f;
             })
            .minimum(1),
        make(sized("sinquad", n), cute + "SINQUAD", Vector(n, 0.1),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = fourth(x[0] - 1) + square(square(x[n - 1]) - square(x[0]));
                 for (int i = 1; i + 1 < n; i++) f += square(sin(x[i] - x[n - 1]) - square(x[0]) + square(x[i]));
                 return f;
             }),
        make(sized("cosine", n), cute + "COSINE", Vector(n, 1),
             [n](const auto &x) { return sum_of(0, n - 1, [&](int i) { return cos(square(x[i]) - 0.5 * x[i + 1]); }); })
            .minimum(1 - n),
        make(sized("freuroth", n), cute + "FREUROTH", sequence(n, [](int i) { return i == 1   ? 0.5
                                                                                     : i == 2 ? -2
                                                                                              : 0; }),
             [n](const auto &x) {
                 return sum_of(0, n - 1, [&](int i) {
                     return square(x[i] - 13 + ((5 - x[i + 1]) * x[i + 1] - 2) * x[i + 1]) +
                            square(x[i] - 29 + ((x[i + 1] + 1) * x[i + 1] - 14) * x[i + 1]);
                 });
             }),
        make(sized("tointgss", n), cute + "TOINTGSS", Vector(n, 3),
             [n](const auto &x) {
                 return sum_of(0, n - 2, [&](int i) {
                     const auto tail = square(x[i + 2]);
                     return (10.0 / (n + 2) + tail) * (2 - exp(-square(x[i] - x[i + 1]) / (0.1 + tail)));
                 });
             }),
        make(sized("tquartic", n), cute + "TQUARTIC", Vector(n, 0.1),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(x[0] - 1);
                 for (int i = 1; i < n; i++) f += square(square(x[0]) - square(x[i]));
                 return f;
             })
            .minimum(0),
        make(sized("eg2", n), cute + "EG2", Vector(n, 0),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = 0.5 * sin(square(x[n - 1]));
                 for (int i = 0; i + 1 < n; i++) f += sin(x[0] + square(x[i]) - 1);
                 return f;
             }),
        make(sized("schmvett", n), cute + "SCHMVETT", Vector(n, 0.5),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = 0;
                 for (int i = 0; i + 2 < n; i++)
                     f -= 1 / (1 + square(x[i] - x[i + 1])) + sin((pi * x[i + 1] + x[i + 2]) / 2) +
                          exp(-square((x[i] + x[i + 2]) / x[i + 1] - 2));
                 return f;
             })
            .minimum(-3 * (n - 2)),
        make(sized("dixon", n), "Dixon, J. Inst. Math. Appl. 11 (1973) 309, for n = 10", Vector(n, -2),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = square(1 - x[0]) + square(1 - x[n - 1]);
                 for (int i = 0; i + 1 < n; i++) f += square(square(x[i]) - x[i + 1]);
                 return f;
             }),
    };
}

namespace {

// The DIXMAAN problems consist of three blocks of n / 3 variables. At 0, f = 1.
Problem dixmaan(char letter, int n, double alpha, double beta, double gamma, double delta, int end, int middle) {
    return make(sized(std::string("dixmaan") + letter, n), cute + "DIXMAAN, after Dixon and Maany 1988", Vector(n, 2),
                [=](const auto &x) {
                    ScalarOf<decltype(x)> f = 1;
                    const int m = n / 3;
                    for (int i = 0; i < n; i++) {
                        const double at = (i + 1.0) / n, outer = std::pow(at, end), inner = std::pow(at, middle);
                        f += alpha * outer * square(x[i]);
                        if (i + 1 < n) f += beta * inner * square(x[i] * (x[i + 1] + square(x[i + 1])));
                        if (i < 2 * m) f += gamma * inner * square(x[i]) * fourth(x[i + m]);
                        if (i < m) f += delta * outer * x[i] * x[i + 2 * m];
                    }
                    return f;
                })
        .minimum(1);
}

Problems of_exponentials(int n) {
    return {
        make(sized("raydan1", n), andrei + "Raydan 1", Vector(n, 1),
             [n](const auto &x) {
                 return sum_of(1, n + 1, [&](int i) { return i / 10.0 * (exp(x[i - 1]) - x[i - 1]); });
             })
            .minimum(n * (n + 1) / 20.0),
        make(sized("hager", n), andrei + "Hager", Vector(n, 1),
             [n](const auto &x) {
                 return sum_of(1, n + 1, [&](int i) { return exp(x[i - 1]) - std::sqrt(1.0 * i) * x[i - 1]; });
             }),
        make(sized("white-holst", n), andrei + "Extended White and Holst", repeated({-1.2, 1}, n),
             [n](const auto &x) {
                 return sum_of(0, n - 1, 2,
                               [&](int i) { return 100 * square(x[i + 1] - cube(x[i])) + square(1 - x[i]); });
             })
            .minimum(0),
        make(sized("psc1", n), andrei + "Extended PSC1", repeated({3, 0.1}, n),
             [n](const auto &x) {
                 return sum_of(0, n - 1, 2, [&](int i) {
                     return square(square(x[i]) + square(x[i + 1]) + x[i] * x[i + 1]) + square(sin(x[i])) +
                            square(cos(x[i + 1]));
                 });
             }),
        make(sized("hilbert", n), cute + "HILBERTA", Vector(n, 1),
             [n](const auto &x) {
                 ScalarOf<decltype(x)> f = 0;
                 for (int i = 0; i < n; i++)
                     for (int j = 0; j < n; j++) f += x[i] * x[j] / (i + j + 1);
                 return f;
             })
            .minimum(0),
    };
}

// The functions of one step length with which Moré and Thuente tested their line search. The start is the second of
// their first trial steps.
Problems line_functions() {
    Problems all = {
        make("line-1", more_thuente + "5.1", {0.1}, [](const auto &x) { return -x[0] / (square(x[0]) + 2); })
            .minimum(-1 / (2 * std::sqrt(2.0))),
        make("line-2", more_thuente + "5.2", {0.1},
             [](const auto &x) {
                 const auto a = x[0] + 0.004;
                 return fourth(a) * a - 2 * fourth(a);
             })
            .minimum(std::pow(1.6, 5) - 2 * std::pow(1.6, 4)),
    };
    const double betas[][2] = {{0.001, 0.001}, {0.01, 0.001}, {0.001, 0.01}};
    for (int k = 0; k < 3; k++) {
        const double b1 = betas[k][0], b2 = betas[k][1];
        const auto gamma = [](double b) { return std::sqrt(1 + b * b) - b; };
        all.push_back(make("line-" + std::to_string(k + 4), more_thuente + "5.4", {0.1}, [=](const auto &x) {
            return gamma(b1) * sqrt(square(1 - x[0]) + b2 * b2) + gamma(b2) * sqrt(square(x[0]) + b1 * b1);
        }));
    }
    for (Problem &problem : all) problem.box(0, INFINITY);
    return all;
}

} // namespace

Problems classics() {
    Problems all = chained(20);
    append(all, chained(100));
    append(all, separable(50));
    append(all, coupled(50));
    append(all, of_exponentials(10));
    append(all, {dixmaan('a', 30, 1, 0, 0.125, 0.125, 0, 0), dixmaan('d', 60, 1, 0.26, 0.26, 0.26, 0, 0),
                 dixmaan('h', 60, 1, 0.26, 0.26, 0.26, 1, 0), dixmaan('l', 90, 1, 0.26, 0.26, 0.26, 2, 0),
                 dixmaan('p', 90, 1, 0.26, 0.26, 0.26, 2, 1)});
    append(all, line_functions());
    return all;
}

} // namespace cudaopt_problems
