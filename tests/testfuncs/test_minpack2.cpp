// MINPACK-2's problems on the host: values against a naive second implementation, gradients, starts, bounds, refusals.
#include <catch2/catch.hpp>

#include "evaluation.hpp"
#include "naive_minpack2.hpp"

#include <complex>

using namespace cudaopt::testfuncs;

namespace {

// A small instance of a problem.
struct Case {
    std::string name;
    int64_t n, nx, ny; // nx = 0: no grid
    Parameters parameters = {};

    std::unique_ptr<Problem> make() const {
        Parameters all = parameters;
        if (nx > 0) all.insert({{"nx", static_cast<double>(nx)}, {"ny", static_cast<double>(ny)}});
        return make_problem(name, n, all);
    }
    double naive(const Vector &x) const { return static_cast<double>(naive_minpack2(name, nx, ny, x, parameters)); }
};

const std::vector<std::string> on_grids = {"torsion",        "bearing",    "minimal-surface",
                                           "optimal-design", "combustion", "ginzburg-landau-2d"};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::string &name : on_grids)
        for (const auto &[nx, ny] : {std::pair{2, 2}, {2, 3}, {3, 4}, {7, 5}, {4, 9}, {5, 8}})
            all.push_back({name, 0, nx, ny});
    for (const int64_t n : {4, 5, 6, 7, 30}) all.push_back({"ginzburg-landau-1d", n, 0, 0});
    for (const int64_t atoms : {2, 3, 5, 9, 12}) {
        all.push_back({"lennard-jones-2d", 2 * atoms, 0, 0});
        all.push_back({"lennard-jones-3d", 3 * atoms, 0, 0});
    }
    all.push_back({"torsion", 0, 6, 5, {{"c", 20.}}});
    all.push_back({"bearing", 0, 6, 5, {{"epsilon", 0.8}, {"b", 3.}}});
    all.push_back({"optimal-design", 0, 6, 5, {{"lambda", 0.1}}});
    all.push_back({"combustion", 0, 6, 5, {{"lambda", 0.5}}});
    all.push_back({"ginzburg-landau-1d", 20, 0, 0, {{"t", 7.}}});
    all.push_back({"ginzburg-landau-2d", 0, 6, 5, {{"kappa", 1.5}, {"vortices", 3.}}});
    return all;
}

// Returns the largest difference of a component of g from a central difference of the naive f.
double naive_gradient_error(const Case &one, const Vector &x, const Vector &g, double h) {
    double largest = 0;
    for (std::size_t k = 0; k < x.size(); k++) {
        const auto at = [&](double x_k) {
            Vector moved = x;
            moved[k] = x_k;
            return naive_minpack2(one.name, one.nx, one.ny, moved, one.parameters);
        };
        const double up = x[k] + h, down = x[k] - h; // as they are rounded
        const long double difference = (at(up) - at(down)) / (static_cast<long double>(up) - down);
        largest = largest_of(largest, static_cast<double>(std::fabs(g[k] - difference)));
    }
    return largest;
}

Vector bound(const Problem &problem, bool upper) {
    Vector b(problem.n());
    upper ? problem.upper(0, problem.n(), b.data()) : problem.lower(0, problem.n(), b.data());
    return b;
}

} // namespace

TEST_CASE("MINPACK-2: the problems are listed in the order of the report") {
    std::vector<std::string> names;
    for (const Facts &facts : list_problems()) names.push_back(facts.name);
    names.erase(names.begin(), names.begin() + 5);
    CHECK(names == std::vector<std::string>{"torsion", "bearing", "minimal-surface", "optimal-design",
                                            "ginzburg-landau-1d", "lennard-jones-2d", "lennard-jones-3d", "combustion",
                                            "ginzburg-landau-2d"});
}

TEST_CASE("MINPACK-2: f equals the integral summed element by element") {
    for (const Case &one : cases()) {
        CAPTURE(one.name, one.n, one.nx, one.ny);
        const auto problem = one.make();
        for (const Vector &x : {start_of(*problem), random_feasible(*problem, 1), random_feasible(*problem, 2)}) {
            const double expected = one.naive(x);
            CHECK(std::fabs(evaluate(*problem, x).f - expected) <= 2e-14 * (1 + std::fabs(expected)));
        }
    }
}

TEST_CASE("MINPACK-2: g agrees with central differences of f") {
    for (const Case &one : cases()) {
        CAPTURE(one.name, one.n, one.nx, one.ny);
        const auto problem = one.make();
        for (unsigned seed = 1; seed <= 3; seed++) {
            const Vector x = random_feasible(*problem, seed);
            const double h = one.name == "ginzburg-landau-1d" ? 1e-2 : 1e-4;
            const Value value = evaluate(*problem, x);
            if (one.name == "optimal-design") {
                // The second derivative of psi is discontinuous where the material changes, so that differences with
                // the step h may be wrong by a multiple of h. The step is tiny, and f is computed in long double.
                CHECK(naive_gradient_error(one, x, value.g, 1e-10) <= 1e-8 * norm_inf(value.g));
                continue;
            }
            const double rounding = 1e-15 * std::fabs(value.f) / h;
            CHECK(gradient_error(*problem, x, h) <= 1e-8 * norm_inf(value.g) + rounding);
        }
    }
}

TEST_CASE("MINPACK-2: the gradient of optimal design is correct in each of its three materials") {
    // v = slope * x over most of the grid: |grad v| is the slope
    const double t1 = std::sqrt(0.008), t2 = 2 * t1;
    const auto problem = make_problem("optimal-design", 100);
    for (const double slope : {0.5 * t1, 0.9 * t1, 1.2 * t1, 0.9 * t2, 1.1 * t2, 3 * t2}) {
        CAPTURE(slope);
        Vector x(100);
        for (int k = 0; k < 100; k++) x[k] = slope * (k % 10 + 1) / 11. + 1e-4 * std::sin(k);
        CHECK(gradient_error(*problem, x, 1e-6) <= 1e-7);
        const auto expected = static_cast<double>(naive_minpack2("optimal-design", 10, 10, x));
        CHECK(std::fabs(evaluate(*problem, x).f - expected) <= 1e-15);
    }
}

TEST_CASE("MINPACK-2: two-dimensional Ginzburg-Landau is invariant under a gauge transformation") {
    const int64_t nx = 9, ny = 6, points = nx * ny;
    const auto problem =
        make_problem("ginzburg-landau-2d", 0, {{"nx", 9.}, {"ny", 6.}, {"kappa", 2.}, {"vortices", 3.}});
    const double hx = 3 * std::sqrt(1.5) / nx, hy = 3 * std::sqrt(4.5) / ny;
    const Vector x = random_feasible(*problem, 3);
    const auto chi = [](int64_t i, int64_t j) { return std::sin(2. * (i % 9) + 5. * (j % 6)); };
    Vector turned(x.size());
    for (int64_t j = 0; j < ny; j++)
        for (int64_t i = 0; i < nx; i++) {
            const int64_t k = j * nx + i;
            const std::complex<double> psi = std::complex<double>(x[k], x[points + k]) * std::polar(1., chi(i, j));
            turned[k] = psi.real();
            turned[points + k] = psi.imag();
            turned[2 * points + k] = x[2 * points + k] + (chi(i + 1, j) - chi(i, j)) / hx;
            turned[3 * points + k] = x[3 * points + k] + (chi(i, j + 1) - chi(i, j)) / hy;
        }
    const double f = evaluate(*problem, x).f;
    CHECK(std::fabs(evaluate(*problem, turned).f - f) <= 1e-13 * f);
}

TEST_CASE("MINPACK-2: with single precision f has the same bits and g is rounded") {
    for (const Case &one : cases()) {
        CAPTURE(one.name, one.n, one.nx, one.ny);
        const auto problem = one.make();
        const Vector x = random_feasible(*problem, 3);
        const Value expected = evaluate(*problem, x);
        const std::vector<float> single(x.begin(), x.end());
        std::vector<float> g(single.size());
        double f;
        problem->evaluate(single.data(), &f, g.data(), Place{});
        CHECK(f == expected.f);
        CHECK(g == std::vector<float>(expected.g.begin(), expected.g.end()));
    }
}

TEST_CASE("MINPACK-2: an evaluation has the same bits with any number of threads") {
    for (const Facts &facts : list_problems()) {
        CAPTURE(facts.name);
        const auto problem = make_problem(facts.name, facts.name.rfind("lennard", 0) == 0 ? 3600 : 100000);
        const Vector x = start_of(*problem);
        const Value one = evaluate(*problem, x, 1), two = evaluate(*problem, x, 2);
        CHECK(two.f == one.f);
        CHECK(two.g == one.g);
    }
}

TEST_CASE("MINPACK-2: a NaN in any variable makes f and that element of g NaN") {
    for (const Case &one : cases()) {
        CAPTURE(one.name, one.n, one.nx, one.ny);
        const auto problem = one.make();
        for (int64_t k = 0; k < problem->n(); k++) {
            Vector x = start_of(*problem);
            x[k] = NAN;
            const Value value = evaluate(*problem, x);
            CHECK(std::isnan(value.f));
            CHECK(std::isnan(value.g[k]));
        }
    }
}

TEST_CASE("MINPACK-2: the starts have the values of the report's formulas") {
    // 3 x 2 interior points, hx = 1/4, hy = 1/3
    const Parameters sides = {{"nx", 3.}, {"ny", 2.}};
    CHECK(start_of(*make_problem("torsion", 6, sides)) == Vector{0.25, 1 / 3., 0.25, 0.25, 1 / 3., 0.25});
    const Vector design = start_of(*make_problem("optimal-design", 6, sides));
    CHECK(design[0] == -0.0625);
    CHECK(design[1] == -1 / 9.);
    const Vector fuel = start_of(*make_problem("combustion", 6, {{"nx", 3.}, {"ny", 2.}, {"lambda", 4.}}));
    CHECK(fuel[0] == 0.8 * 0.5);
    const Vector film = start_of(*make_problem("bearing", 6, sides));
    CHECK(film == Vector{1, std::sin(std::acos(-1.)), 0, 1, std::sin(std::acos(-1.)), 0});
    const Vector surface = start_of(*make_problem("minimal-surface", 9));
    CHECK(surface[4] == 0); // antisymmetric in x and y
    CHECK(surface[1] == -surface[3]);
    CHECK(std::fabs(start_of(*make_problem("ginzburg-landau-1d", 400))[399] - 0.007635738426960874) <= 1e-16);
    CHECK(start_of(*make_problem("lennard-jones-2d", 10)) == Vector{-0.5, -1, 0.5, -1, -0.5, 0, 0.5, 0, -0.5, 1});
    const Vector cell = start_of(*make_problem("ginzburg-landau-2d", 16));
    CHECK(cell[0] == 1); // the zeros of the sines
    const double flux = 16 * std::acos(-1.) / (6 * std::sqrt(108.));
    CHECK(std::fabs(cell[13] - flux * 3) <= 1e-14); // B at x = 3, with hx = 3
    for (int k = 4; k < 12; k++) CHECK(cell[k] == 0);
}

TEST_CASE("MINPACK-2: the starts of clusters are distinct points in the documented box") {
    for (const auto &[name, n] : {std::pair<std::string, int>{"lennard-jones-2d", 18}, {"lennard-jones-3d", 81}}) {
        const auto problem = make_problem(name, n);
        CHECK(problem->shape() == std::to_string(name == "lennard-jones-2d" ? 9 : 27) + " atoms that start in [-1, 1]");
        const Vector x = start_of(*problem);
        CHECK(norm_inf(x) == 1);
        CHECK(evaluate(*problem, x).f < 0);
    }
    CHECK(make_problem("lennard-jones-3d", 40000)->shape() == "13333 atoms that start in [-12.5, 12.5]");
    CHECK(evaluate(*make_problem("lennard-jones-2d", 4), {0.5, 0.5, 0.5, 0.5}).f == INFINITY);
}

TEST_CASE("MINPACK-2: only torsion and bearing have bounds and all starts satisfy them") {
    for (const Case &one : cases()) {
        CAPTURE(one.name, one.n, one.nx, one.ny);
        const auto problem = one.make();
        const bool bounded = one.name == "torsion" || one.name == "bearing";
        CHECK(problem->bounded() == bounded);
        const Vector lower = bound(*problem, false), upper = bound(*problem, true), x = start_of(*problem);
        for (std::size_t i = 0; i < x.size(); i++) {
            CHECK(lower[i] <= x[i]);
            CHECK(x[i] <= upper[i]);
            if (one.name == "torsion") CHECK((upper[i] == x[i] && lower[i] == -x[i]));
            else CHECK((upper[i] == INFINITY && lower[i] == (bounded ? 0 : -INFINITY)));
        }
    }
}

TEST_CASE("MINPACK-2: n is rounded to the nearest grid with the given sides") {
    const auto shape = [](const std::string &name, int64_t n, const Parameters &sides = {}) {
        const auto problem = make_problem(name, n, sides);
        return std::to_string(problem->n()) + ": " + problem->shape();
    };
    CHECK(shape("torsion", 40000) == "40000: 200 x 200 interior points");
    CHECK(shape("bearing", 40200) == "40000: 200 x 200 interior points");
    CHECK(shape("combustion", 40201) == "40401: 201 x 201 interior points");
    CHECK(shape("optimal-design", 6) == "4: 2 x 2 interior points");
    CHECK(shape("optimal-design", 7) == "9: 3 x 3 interior points");
    CHECK(shape("minimal-surface", 100, {{"nx", 7.}}) == "98: 7 x 14 interior points");
    CHECK(shape("minimal-surface", 100, {{"ny", 300.}}) == "600: 2 x 300 interior points");
    CHECK(shape("torsion", -1, {{"nx", 5.}, {"ny", 3.}}) == "15: 5 x 3 interior points");
    CHECK(shape("ginzburg-landau-2d", 40000) == "40000: 100 x 100 points with 4 variables each");
    CHECK(shape("ginzburg-landau-2d", 1000) == "1024: 16 x 16 points with 4 variables each");
    CHECK(shape("ginzburg-landau-1d", 401) == "401: ");
    CHECK(shape("lennard-jones-2d", 19) == "18: 9 atoms that start in [-1, 1]");
    CHECK(shape("lennard-jones-3d", 80) == "81: 27 atoms that start in [-1, 1]");
    CHECK(make_problem("torsion", std::numeric_limits<int64_t>::max())->n() == 1000000000000000000);
}

TEST_CASE("MINPACK-2: invalid sizes and parameters are refused with a message") {
    CHECK_THROWS_WITH(make_problem("torsion", 3), "torsion: n must be at least 4, a grid of 2 x 2 points, not 3");
    CHECK_THROWS_WITH(make_problem("ginzburg-landau-2d", 15),
                      "ginzburg-landau-2d: n must be at least 16, a grid of 2 x 2 points, not 15");
    CHECK_THROWS_WITH(make_problem("ginzburg-landau-1d", 3), "ginzburg-landau-1d: n must be at least 4, not 3");
    CHECK_THROWS_WITH(make_problem("lennard-jones-3d", 5), "lennard-jones-3d: n must be at least 6, two atoms, not 5");
    CHECK_THROWS_WITH(make_problem("bearing", 100, {{"nx", 1.}}),
                      "bearing: nx must be a whole number from 2 to 1000000000, not 1");
    CHECK_THROWS_WITH(make_problem("bearing", 100, {{"ny", 2.5}}),
                      "bearing: ny must be a whole number from 2 to 1000000000, not 2.5");
    CHECK_THROWS_WITH(make_problem("bearing", 100, {{"ny", 2e9}}),
                      "bearing: ny must be a whole number from 2 to 1000000000, not 2000000000");
    CHECK_THROWS_WITH(make_problem("torsion", 100, {{"c", 0.}}), "torsion: c must be above 0, and finite, not 0");
    CHECK_THROWS_WITH(make_problem("torsion", 100, {{"c", INFINITY}}),
                      "torsion: c must be above 0, and finite, not inf");
    CHECK_THROWS_WITH(make_problem("torsion", 100, {{"c", NAN}}), "torsion: c must be above 0, and finite, not nan");
    CHECK_THROWS_WITH(make_problem("bearing", 100, {{"epsilon", 1.}}),
                      "bearing: epsilon must be between 0 and 1, not 1");
    CHECK_THROWS_WITH(make_problem("bearing", 100, {{"b", -1.}}), "bearing: b must be above 0, and finite, not -1");
    CHECK_THROWS_WITH(make_problem("optimal-design", 100, {{"lambda", 1.5}}),
                      "optimal-design: lambda must be between 0 and 1, not 1.5");
    CHECK_THROWS_WITH(make_problem("combustion", 100, {{"lambda", 7.}}),
                      "combustion: lambda must be between 0 and 6.808, not 7");
    CHECK_THROWS_WITH(make_problem("ginzburg-landau-1d", 100, {{"t", 8.}}),
                      "ginzburg-landau-1d: t must be between 3.73 and 7.32, not 8");
    CHECK_THROWS_WITH(make_problem("ginzburg-landau-2d", 100, {{"vortices", 2.5}}),
                      "ginzburg-landau-2d: vortices must be a whole number, not 2.5");
    CHECK_THROWS_WITH(make_problem("torsion", 100, {{"lambda", 1.}}),
                      "torsion: there is no parameter 'lambda'; it has c, nx, ny");
}
