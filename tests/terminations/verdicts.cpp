// Ends that are no success far from a minimum, over many problems with the default settings of the C interface.
#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "../support/seed.hpp"
#include "solve.hpp"

using namespace terminations;

namespace {

double uniform(std::mt19937 &random, double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
}

// Squares of Hill's curve v / (1 + (k / c)^s) + b - data, where k and the concentrations c are of the order of `unit`,
// and the other variables of the order of 1 to 100.
struct Hill {
    double unit;
    double operator()(const Vector &p, Vector &g) const {
        constexpr double parts[] = {0.1, 0.3, 1, 2, 5, 10, 30, 100, 300}, errors[] = {1, -2, 1, 0, 2, -1, 1, -1, 1};
        double f = 0;
        g.assign(4, 0);
        for (int i = 0; i < 9; i++) {
            const double c = unit * parts[i], data = 80 / (1 + std::pow(4 / parts[i], 1.5)) + 5 + errors[i];
            const double u = std::pow(p[1] / c, p[3]), q = 1 / (1 + u), w = p[0] * q * q * u,
                         r = p[0] * q + p[2] - data;
            const double derivatives[] = {q, -w * p[3] / p[1], 1, -w * std::log(p[1] / c)};
            f += r * r;
            for (std::size_t k = 0; k < 4; k++) g[k] += 2 * r * derivatives[k];
        }
        return f;
    }
    Box box() const { return {{0, 1e-4 * unit, -50, 0.1}, {500, 1e5 * unit, 50, 10}}; }
};

// Solves that fit Hill's curve in three units from 60 random starts each, every second one with the learned diagonal.
struct HillSolve {
    Hill f;
    Outcome end;
};
std::vector<HillSolve> hill_solves(uint64_t own_seed) {
    std::mt19937 random(cudaopt_test::seed(own_seed));
    std::vector<HillSolve> solves;
    for (const double unit : {1e-9, 1e-8, 1e-7})
        for (int k = 0; k < 60; k++) {
            const Hill f{unit};
            const Box box = f.box();
            const Vector start = {uniform(random, 10, 100), box.upper[1] * std::pow(10, uniform(random, -4, -1)),
                                  uniform(random, -20, 20), uniform(random, 0.5, 3)};
            solves.push_back({f, solve(f, start, box, k % 2 ? Initial::learned : Initial::scalar, {}, 5)});
        }
    return solves;
}

} // namespace

TEST_CASE("ROUNDING does not end a solve where the relative gradient is large") {
    for (const auto &[f, end] : hill_solves(1)) {
        if (end.stop_test != CUDA_OPT_ROUNDING || end.f <= 1e-3) continue;
        INFO("unit " << f.unit << ": " << end.message);
        const Box box = f.box();
        for (std::size_t i = 0; i < 4; i++) {
            const double to = std::clamp(end.x[i] - end.g[i], box.lower[i], box.upper[i]);
            CHECK(std::fabs(end.x[i] * (end.x[i] - to)) <= end.f / 100);
        }
    }
}

// Rounding errors decide which solves end so. About 100 of the 180 did without the estimate of the decrease along the
// relative gradient. With it, 0 or 1 did for each of five seeds.
TEST_CASE("FACTR seldom ends a solve far above the minimum if one variable is 1e8 times smaller than the others") {
    const std::vector<HillSolve> solves = hill_solves(2);
    double least = std::numeric_limits<double>::infinity();
    for (const HillSolve &one : solves) least = std::min(least, one.end.f);
    const auto is_false = [&](const HillSolve &one) {
        return one.end.stop_test == CUDA_OPT_FACTR && one.end.f > 1.1 * least + 1e-3;
    };
    CHECK(std::count_if(solves.begin(), solves.end(), is_false) <= 18);
}

// Without an estimate of the decrease along the relative gradient, 29 to 41 of the 60 ended so for each of six seeds.
// With it, 0 to 2 did.
TEST_CASE("With an operator FACTR does not end a solve far above the minimum because a restart gained little") {
    std::mt19937 random(cudaopt_test::seed(3));
    std::vector<Outcome> ends;
    for (int k = 0; k < 60; k++) {
        const Hill f{1e-9};
        const Vector start = {uniform(random, 20, 150), f.unit * std::pow(10, uniform(random, 0, 3)),
                              uniform(random, -20, 50), uniform(random, 0.5, 3)};
        ends.push_back(solve(f, start, f.box(), Initial::identity, {{CUDA_OPT_MAX_EVALUATIONS, 1000}}, 5));
    }
    const auto by_f = [](const Outcome &a, const Outcome &b) { return a.f < b.f; };
    const double least = std::min_element(ends.begin(), ends.end(), by_f)->f;
    const auto is_false = [&](const Outcome &end) { return end.task == CUDA_OPT_CONVERGED && end.f > 1.01 * least; };
    CHECK(std::count_if(ends.begin(), ends.end(), is_false) <= 12);
}

// Variables below 3e-14 have less weight than their sizes would give them. When a restart that gained little was
// evidence of a minimum in such solves, 2 to 7 of the 20 converged above it for each of four seeds. Now none does for
// seven seeds.
TEST_CASE("Restarts from sizes do not end a solve far above the minimum if a variable is tiny") {
    std::mt19937 random(cudaopt_test::seed(4));
    int wrong = 0;
    for (int k = 0; k < 20; k++) {
        const Hill f{1e-21};
        const Vector start = {uniform(random, 20, 150), f.unit * std::pow(10, uniform(random, 0, 3)),
                              uniform(random, -20, 50), uniform(random, 0.5, 3)};
        const Outcome end = solve(f, start, f.box(), Initial::learned, {{CUDA_OPT_MAX_EVALUATIONS, 1000}}, 10);
        wrong += end.task == CUDA_OPT_CONVERGED && end.f > 12.5; // the minimum is 12.3
    }
    CHECK(wrong <= 1);
}

TEST_CASE("With the exact noise level no success is far above the minimum") {
    std::mt19937 random(cudaopt_test::seed(2));
    int solves = 0;
    for (int k = 0; k < 200; k++) {
        const std::size_t n = 2 + random() % 6;
        const double level = std::pow(10, -6 + static_cast<double>(random() % 4));
        Vector weight(n), centre(n);
        for (double &w : weight) w = std::pow(10, uniform(random, -3, 3));
        for (double &c : centre) c = uniform(random, -4, 4);
        const auto exact = [&](const Vector &x) {
            double f = 0;
            for (std::size_t i = 0; i < n; i++) f += weight[i] * std::cosh(x[i] - centre[i]);
            return f;
        };
        const Function noisy = [&](const Vector &x, Vector &g) {
            for (std::size_t i = 0; i < n; i++) g[i] = weight[i] * std::sinh(x[i] - centre[i]);
            return exact(x) + level * uniform(random, -1, 1);
        };
        Vector lowest = centre;
        for (double &c : lowest) c = std::clamp(c, -1.0, 1.0);
        const double least = exact(lowest);
        if (2.2e-9 * std::fmax(1, least) > level) continue; // FACTR may hold
        const Outcome end = solve(noisy, Vector(n, 0), {Vector(n, -1), Vector(n, 1)},
                                  k % 2 ? Initial::learned : Initial::scalar, {{CUDA_OPT_NOISE_ABS, level}});
        INFO("problem " << k << ", level " << level << ": " << end.message);
        CHECK((end.task != CUDA_OPT_CONVERGED || exact(end.x) - least <= 100 * level));
        solves++;
    }
    CHECK(solves > 20);
}

// A linear fit without residual in single precision, by n functions at 2 n random points. f is computed in double
// precision, and each gradient is rounded to single precision.
using FitFunction = double (*)(double point, int j, double parameter);
struct SingleFit {
    std::vector<double> basis, wanted;

    SingleFit(std::mt19937 &random, FitFunction function) : wanted(2 + random() % 6) {
        std::vector<double> parameters(wanted.size());
        for (double &c : wanted) c = uniform(random, -2, 2);
        for (double &p : parameters) p = uniform(random, 0, 6);
        for (std::size_t row = 0; row < 2 * wanted.size(); row++) {
            const double point = uniform(random, -1, 1);
            for (std::size_t j = 0; j < wanted.size(); j++)
                basis.push_back(300 * function(point, static_cast<int>(j), parameters[j]));
        }
    }

    double operator()(const std::vector<float> &x, std::vector<float> &g) const {
        const std::size_t n = wanted.size();
        std::vector<double> slope(n);
        double f = 0;
        for (std::size_t row = 0; row < 2 * n; row++) {
            double residual = 0;
            for (std::size_t j = 0; j < n; j++) residual += basis[row * n + j] * (x[j] - wanted[j]);
            f += residual * residual;
            for (std::size_t j = 0; j < n; j++) slope[j] += 2 * residual * basis[row * n + j];
        }
        std::copy(slope.begin(), slope.end(), g.begin());
        return f;
    }

    // Returns whether a solve fails although its f is at most ten times f at the rounded minimiser.
    bool fails(int m, int metric) const {
        cudaopt::Minimiser<float> solver(static_cast<int64_t>(wanted.size()), m, CUDA_OPT_BACKEND_HOST);
        solver.set_int(CUDA_OPT_THREADS, 1);
        solver.set_int(CUDA_OPT_METRIC, metric);
        std::vector<float> x(wanted.size()), g(x.size()), nearest(wanted.begin(), wanted.end());
        double f = 0;
        int task;
        while ((task = solver.solve(x.data(), &f, g.data())) > 0) f = (*this)(x, g);
        return task != CUDA_OPT_CONVERGED && f <= 10 * (*this)(nearest, g);
    }
};

// In single precision, chance decides single solves. Of these 6,000, 27 fail if only the pair of the largest curvature
// may explain the gradient, and 1 if each pair may.
TEST_CASE("Stiff fits without residual end as success in single precision") {
    const FitFunction functions[] = {
        [](double point, int j, double phase) { return std::cos(point * j + phase); },
        [](double point, int j, double shift) { return 1 / (0.1 + std::pow(point + (3 - shift - j) / 3, 2)); },
        [](double point, int j, double shift) { return std::pow(point + shift / 6, j); }};
    int failed = 0;
    for (const FitFunction function : functions)
        for (const int m : {10, 40}) {
            std::mt19937 random(cudaopt_test::seed(3));
            for (int k = 0; k < 1000; k++)
                failed += SingleFit(random, function).fails(m, k % 2 ? Initial::learned : Initial::scalar);
        }
    CHECK(failed <= 12);
}

// Rounding of the stiff variable causes a large relative gradient, and the model describes this variable alone.
TEST_CASE("A stiff variable does not hide a soft one that is far from its minimum") {
    std::mt19937 random(cudaopt_test::seed(4));
    for (const double stiffness : {1e6, 1e7, 1e8})
        for (int k = 0; k < 60; k++) {
            const float centre[] = {static_cast<float>(uniform(random, 0.5, 2)),
                                    static_cast<float>(uniform(random, 0.5, 2))};
            std::vector<float> x = {static_cast<float>(uniform(random, -6, 6)),
                                    static_cast<float>(uniform(random, -6, 6))};
            std::vector<float> g(2);
            cudaopt::Minimiser<float> solver(2, 5, CUDA_OPT_BACKEND_HOST);
            solver.set_int(CUDA_OPT_METRIC, k % 2 ? CUDA_OPT_METRIC_LEARNED : CUDA_OPT_METRIC_ONE_NUMBER);
            double f = 0;
            int task;
            while ((task = solver.solve(x.data(), &f, g.data())) > 0) {
                const double a = static_cast<double>(x[0]) - centre[0], b = static_cast<double>(x[1]) - centre[1];
                f = (stiffness * a * a + b * b) / 2;
                g = {static_cast<float>(stiffness * a), static_cast<float>(b)};
            }
            INFO("stiffness " << stiffness << ", solve " << k << ": " << solver.message());
            CHECK((task != CUDA_OPT_CONVERGED || f < 1e-2));
        }
}
