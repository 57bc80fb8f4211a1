#include "larger.hpp"

#include "structured.hpp"

namespace cudaopt_problems {

namespace {

const double pi = std::acos(-1.0);
const std::string luksan_vlcek = "Luksan, Vlcek, Sparse and partially separable test problems, 1999, no. ";
const std::string cute = "Bongartz, Conn, Gould, Toint, CUTE, ACM TOMS 21 (1995) 123: ";

// ---- grids of k by k inner points in the unit square, with 0 on the boundary ----

int at(int i, int j, int k) { return i < 0 || j < 0 || i >= k || j >= k ? -1 : i * k + j; }
// The edges of the grid lead from the point (i, j), -1 <= i, j < k, down and to the right.
Few<int, 2> edge(int number, int k) {
    const int place = number / 2, i = place / (k + 1) - 1, j = place % (k + 1) - 1;
    return number % 2 ? Few<int, 2>{at(i, j, k), at(i + 1, j, k)} : Few<int, 2>{at(i, j, k), at(i, j + 1, k)};
}
int edges(int k) { return 2 * (k + 1) * (k + 1); }
double coordinate(int place, int k) { return (place + 1) / (k + 1.0); }

// -div(a grad u) = 1 by the five-point formula. a is between 1 and 10^decades and constant in blocks of `block` by
// `block` points.
Problem diffusion(int k, double decades, int block) {
    Chance chance(static_cast<unsigned>(k + block));
    const int blocks = k / block + 2;
    Vector of_block(static_cast<std::size_t>(blocks * blocks));
    for (double &a : of_block) a = chance.decades(decades);
    Vector a;
    for (int e = 0; e < edges(k); e++) {
        const int place = e / 2, i = place / (k + 1), j = place % (k + 1);
        a.push_back(of_block[static_cast<std::size_t>(i / block * blocks + j / block)]);
    }
    return make_sum<2>(
        sized(block == 1 ? "diffusion" : "diffusion-blocks", k * k),
        "-div(a grad u) = 1 on the unit square, five points, a over 4 decades by chance, as in Gilbert, "
        "Lemarechal, Math. Program. 45 (1989) 407, whose variational problems scale so",
        Vector(k * k, 0), edges(k) + k * k,
        [k](int e) {
            return e < edges(k) ? edge(e, k) : Few<int, 2>{e - edges(k), -1};
        },
        [k, a](int e, const auto &u) {
            using T = ScalarOf<decltype(u)>;
            return e < edges(k) ? T(a[static_cast<std::size_t>(e)] * square(u[0] - u[1]) / 2) : T(-u[0]);
        });
}

// The membrane of Moré and Toraldo (1991) over an obstacle, or between two obstacles.
Problem membrane(const std::string &name, int k, double load) {
    const double h = 1.0 / (k + 1);
    return make_sum<2>(
        sized(name, k * k), "More, Toraldo, SIAM J. Optim. 1 (1991) 93: " + name, Vector(k * k, 0), edges(k) + k * k,
        [k](int e) {
            return e < edges(k) ? edge(e, k) : Few<int, 2>{e - edges(k), -1};
        },
        [k, load, h](int e, const auto &u) {
            using T = ScalarOf<decltype(u)>;
            return e < edges(k) ? T(square(u[0] - u[1]) / 2) : T(-load * h * h * u[0]);
        });
}

Vector on_grid(int k, const std::function<double(double, double)> &value) {
    return sequence(k * k, [&](int p) { return value(coordinate((p - 1) / k, k), coordinate((p - 1) % k, k)); });
}

Problems of_grids(int k) {
    const auto wave = [](double frequency) {
        return [frequency](double s, double t) { return std::sin(frequency * s) * std::sin(frequency * t); };
    };
    const Vector below = on_grid(k, [&](double s, double t) { return cube(wave(3.2)(s, t)); });
    const Vector lower = on_grid(k, [&](double s, double t) { return cube(wave(9.2)(s, t)); });
    const Vector upper = on_grid(k, [&](double s, double t) { return square(wave(9.2)(s, t)) + 0.02; });
    Problem limited = diffusion(k, 4, 4);
    limited.box(-INFINITY, 0.02).named("-limited").source += "; u <= 0.02";
    return {diffusion(k, 4, 1), diffusion(k, 4, 5), limited,
            membrane("obstacle-a", k, 1).box(below, Vector(k * k, 2000)).from(below),
            membrane("obstacle-b", k, 1).box(lower, upper).from(lower)};
}

// ---- chains ----

// f is the sum of c_i ((x_i - 1)^2/2 + (x_i - 1)^4/4) with c over 5 decades, and of the energy of a chain of springs.
Problem quartic(int n) {
    Chance chance(static_cast<unsigned>(n));
    const Vector c = sequence(n, [&](int) { return chance.decades(5); });
    return make_sum<2>(
        sized("quartic", n), "a chain of quartic springs, their strengths over 5 decades by chance", Vector(n, 0), n,
        [n](int i) {
            return Few<int, 2>{i, i + 1 < n ? i + 1 : -1};
        },
        [c](int i, const auto &x) {
            const double strength = c[static_cast<std::size_t>(i)];
            return strength * (square(x[0] - 1) / 2 + fourth(x[0] - 1) / 4) + square(x[1] - x[0]) / 2;
        });
}

Few<int, 4> overlapping(int k) { return {2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3}; }

Problems chains(int n) {
    return {
        make_sum<2>(
            sized("chained-rosenbrock", n), luksan_vlcek + "1", repeated({-1.2, 1}, n), n - 1,
            [](int k) {
                return Few<int, 2>{k, k + 1};
            },
            [](int, const auto &x) { return 100 * square(square(x[0]) - x[1]) + square(x[0] - 1); }),
        make_sum<4>(sized("chained-wood", n), luksan_vlcek + "2",
                    sequence(n, [](int i) { return i <= 4 ? (i % 2 ? -3 : -1) : (i % 2 ? -2 : 0); }), n / 2 - 1,
                    overlapping,
                    [](int, const auto &x) {
                        return 100 * square(square(x[0]) - x[1]) + square(x[0] - 1) + 90 * square(square(x[2]) - x[3]) +
                               square(x[2] - 1) + 10 * square(x[1] + x[3] - 2) + square(x[1] - x[3]) / 10;
                    }),
        make_sum<4>(sized("chained-powell-singular", n), luksan_vlcek + "3", repeated({3, -1, 0, 1}, n), n / 2 - 1,
                    overlapping,
                    [](int, const auto &x) {
                        return square(x[0] + 10 * x[1]) + 5 * square(x[2] - x[3]) + fourth(x[1] - 2 * x[2]) +
                               10 * fourth(x[0] - x[3]);
                    }),
        make_sum<4>(sized("chained-cragg-levy", n), luksan_vlcek + "4",
                    sequence(n, [](int i) { return i == 1 ? 1 : 2; }), n / 2 - 1, overlapping,
                    [](int, const auto &x) {
                        return fourth(exp(x[0]) - x[1]) + 100 * square(cube(x[1] - x[2])) + fourth(tan(x[2] - x[3])) +
                               square(fourth(x[0])) + square(x[3] - 1);
                    }),
        make_sum<3>(
            sized("generalised-broyden-tridiagonal", n), luksan_vlcek + "5", Vector(n, -1), n,
            [n](int k) {
                return Few<int, 3>{k, k - 1, k + 1 < n ? k + 1 : -1};
            },
            [](int, const auto &x) { return pow(abs((3 - 2 * x[0]) * x[0] - x[1] - x[2] + 1), 7.0 / 3); }),
        make_sum<2>(
            sized("genrose", n), cute + "GENROSE", sequence(n, [n](int i) { return i / (n + 1.0); }), n - 1,
            [](int k) {
                return Few<int, 2>{k, k + 1};
            },
            [](int, const auto &x) { return 100 * square(x[1] - square(x[0])) + square(x[1] - 1); }),
        make_sum<2>(
            sized("tridia", n), cute + "TRIDIA", Vector(n, 1), n,
            [](int k) {
                return Few<int, 2>{k, k - 1};
            },
            [](int k, const auto &x) {
                using T = ScalarOf<decltype(x)>;
                return k == 0 ? T(square(x[0] - 1)) : T((k + 1) * square(2 * x[0] - x[1]));
            }),
    };
}

// ---- linear forms ----

// The labels are the side of a plane, with noise. The units of the features spread over two decades.
Problem logistic(int n) {
    Chance chance(static_cast<unsigned>(2 * n + 1));
    Vector units, weights, labels;
    for (int j = 0; j < n; j++) {
        units.push_back(chance.decades(2) / 5);
        weights.push_back(2 * chance() - 1);
    }
    Forms forms;
    for (int k = 0; k < 2 * n; k++) {
        auto &row = forms.rows.emplace_back();
        double side = chance() - 0.5;
        for (int j = 0; j < n; j++) {
            if (chance() > 20.0 / n) continue;
            const double entry = 2 * chance() - 1;
            row.emplace_back(j, entry * units[static_cast<std::size_t>(j)]);
            side += entry * weights[static_cast<std::size_t>(j)];
        }
        labels.push_back(side > 0 ? 1 : -1);
    }
    return make_of_forms(sized("logistic", n),
                         "logistic regression with ridge 1e-2 in a box, features in units over 2 decades, by chance",
                         Vector(n, 0), forms, 1e-2,
                         [labels](int k, const auto &form) {
                             const auto z = labels[static_cast<std::size_t>(k)] * form;
                             using T = std::decay_t<decltype(z)>;
                             return z < T(0) ? T(log(1 + exp(z)) - z) : T(log(1 + exp(-z)));
                         })
        .box(-1, 1);
}

// The data are counts along parallel rays through k by k pixels, in 3k/4 directions. f is the negative log-likelihood
// of the intensities x and a background of 0.1.
Problem tomography(int k) {
    const int angles = 3 * k / 4;
    Forms forms;
    for (int a = 0; a < angles; a++)
        for (int b = 0; b < k; b++) {
            const double angle = pi * a / angles, offset = (b + 0.5) / k * 2 - 1, c = std::cos(angle),
                         s = std::sin(angle);
            auto &row = forms.rows.emplace_back();
            Vector lengths(static_cast<std::size_t>(k * k), 0);
            for (int step = 0; step < 8 * k; step++) {
                const double t = ((step + 0.5) / (8 * k) * 2 - 1) * 1.5;
                const double u = (offset * c - t * s + 1) / 2 * k, v = (offset * s + t * c + 1) / 2 * k;
                if (u >= 0 && u < k && v >= 0 && v < k)
                    lengths[static_cast<std::size_t>(static_cast<int>(u) * k + static_cast<int>(v))] += 3.0 / 8 / 2;
            }
            for (int p = 0; p < k * k; p++)
                if (lengths[static_cast<std::size_t>(p)] > 0) row.emplace_back(p, lengths[static_cast<std::size_t>(p)]);
        }
    const Vector image = on_grid(k, [](double s, double t) {
        const double r = std::hypot(s - 0.5, t - 0.5), q = std::hypot(s - 0.6, (t - 0.4) * 1.5);
        return (r < 0.4 ? 1.0 : 0.0) + (q < 0.15 ? 3.0 : 0.0) - (std::hypot(s - 0.35, t - 0.6) < 0.1 ? 1.0 : 0.0);
    });
    Chance chance(7);
    Vector counts;
    for (const long double mean : forms.times(image))
        counts.push_back(std::floor(static_cast<double>(mean) * 20 * (0.9 + 0.2 * chance())) / 20);
    return make_of_forms(sized("tomography", k * k),
                         "emission tomography, Shepp, Vardi, IEEE Trans. Med. Imaging 1 (1982) 113: a phantom of discs",
                         Vector(k * k, 0.5), forms, 0,
                         [counts](int ray, const auto &form) {
                             return form - counts[static_cast<std::size_t>(ray)] * log(form + 0.1);
                         })
        .box(0, INFINITY);
}

// |A x - b|^2 / 2 over x >= 0. A is sparse, and the units of its columns spread over two decades.
Problem nonnegative_least_squares(int n) {
    Chance chance(static_cast<unsigned>(n + 5));
    const Vector units = sequence(n, [&](int) { return chance.decades(2) / 10; });
    Forms forms;
    Vector b;
    for (int k = 0; k < n + n / 2; k++) {
        auto &row = forms.rows.emplace_back();
        for (int j = 0; j < n; j++) {
            const double take = chance(), entry = 2 * chance() - 0.7;
            if (take < 8.0 / n) row.emplace_back(j, entry * units[static_cast<std::size_t>(j)]);
        }
        b.push_back(2 * chance() - 0.5);
    }
    return make_of_forms(sized("nnls-sparse", n),
                         "the problem of Lawson, Hanson, Solving Least Squares Problems, 1974, 23; sparse, columns in "
                         "units over 2 decades, by chance",
                         Vector(n, 0), forms, 0,
                         [b](int k, const auto &form) { return square(form - b[static_cast<std::size_t>(k)]) / 2; })
        .box(0, INFINITY);
}

} // namespace

Problem with_unit_slope(Problem problem) {
    for (std::size_t i = 0; i < problem.start.size(); i++)
        problem.start[i] = std::min(problem.upper[i], std::max(problem.lower[i], problem.start[i]));
    Vector g(problem.start.size());
    problem.evaluate(problem.start, g);
    const double scale = 1 / projected_gradient_norm(problem, problem.start, g);
    problem.evaluate = [scale, f = problem.evaluate](const Vector &x, Vector &slopes) {
        const double value = scale * f(x, slopes);
        for (double &slope : slopes) slope *= scale;
        return value;
    };
    if (problem.in_long_double)
        problem.in_long_double = [scale, f = problem.in_long_double](const LongVector &x) { return scale * f(x); };
    return problem;
}

const Problems &larger_problems() {
    static const Problems all = [] {
        Problems problems;
        for (const int k : {20, 40}) append(problems, of_grids(k));
        for (const int n : {200, 2000}) problems.push_back(quartic(n));
        for (const int n : {200, 1000}) append(problems, chains(n));
        for (const int n : {100, 500}) problems.push_back(logistic(n));
        for (const int k : {16, 32}) problems.push_back(tomography(k));
        for (const int n : {200, 600}) problems.push_back(nonnegative_least_squares(n));
        for (Problem &problem : problems) problem = with_unit_slope(std::move(problem));
        return problems;
    }();
    return all;
}

} // namespace cudaopt_problems
