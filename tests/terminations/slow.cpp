// Solves that make almost no progress until they restart with an empty history.
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "../support/seed.hpp"
#include "cuda_opt_batch.h"
#include "solve.hpp"

using namespace terminations;

namespace {

const Settings to_a_gradient = {
    {CUDA_OPT_FACTR, 0}, {CUDA_OPT_PGTOL, 1e-6}, {CUDA_OPT_MAX_ITERATIONS, 0}, {CUDA_OPT_MAX_EVALUATIONS, 12000}};

// (x_1 - 1)^2 + 100 sum (x_{i+1} - x_i^2)^2 from -1: one long curved valley.
double long_valley(const Vector &x, Vector &g) {
    g.assign(x.size(), 0);
    double f = (x[0] - 1) * (x[0] - 1);
    g[0] = 2 * (x[0] - 1);
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
        const double r = x[i + 1] - x[i] * x[i];
        f += 100 * r * r;
        g[i] -= 400 * r * x[i];
        g[i + 1] += 200 * r;
    }
    return f;
}

// Finds a, b and A for which the rows and columns of a_i A_ij b_j have the sum 1, and A is near a given matrix whose
// elements spread over four decades: |rows - 1|^2 + |columns - 1|^2 + 1e-6 |A - given|^2. The variables are A, a and b.
class MatrixScaling {
  public:
    explicit MatrixScaling(unsigned seed) {
        std::mt19937 random(cudaopt_test::seed(seed));
        const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
        for (double &element : given_) element = uniform() * std::pow(10, 4 * uniform() - 2);
    }
    static Vector start() {
        Vector x(n * n, 6);
        x.resize(n * n + 2 * n, 1);
        return x;
    }
    double operator()(const Vector &x, Vector &g) const {
        constexpr double weight = 1e-6;
        double rows[n], columns[n], f = 0;
        std::fill(rows, rows + n, -1.0);
        std::fill(columns, columns + n, -1.0);
        const double *const a = x.data() + n * n, *const b = a + n;
        for (std::size_t i = 0; i < n; i++)
            for (std::size_t j = 0; j < n; j++) {
                const double scaled = a[i] * x[i * n + j] * b[j];
                rows[i] += scaled;
                columns[j] += scaled;
            }
        g.assign(x.size(), 0);
        for (std::size_t i = 0; i < n; i++) f += rows[i] * rows[i] + columns[i] * columns[i];
        for (std::size_t i = 0; i < n; i++)
            for (std::size_t j = 0; j < n; j++) {
                const double element = x[i * n + j], away = element - given_[i * n + j];
                const double slope = 2 * (rows[i] + columns[j]);
                f += weight * away * away;
                g[i * n + j] = slope * a[i] * b[j] + 2 * weight * away;
                g[n * n + i] += slope * element * b[j];
                g[n * n + n + j] += slope * element * a[i];
            }
        return f;
    }

  private:
    static constexpr std::size_t n = 6;
    Vector given_ = Vector(n * n);
};

} // namespace

TEST_CASE("A slow solve restarts and then converges soon", "[slow]") {
    for (const int kind : {Initial::scalar, Initial::learned}) {
        const Outcome end = solve(long_valley, Vector(100, -1.0), {}, kind, to_a_gradient);
        CHECK(end.stop_test == CUDA_OPT_PGTOL);
        CHECK(end.refreshes >= 1); // without restarts, 10000 evaluations do not suffice
    }
    int restarted = 0; // usually all do
    for (unsigned seed = 1; seed <= 5; seed++) {
        const Outcome end = solve(MatrixScaling(seed), MatrixScaling::start(), {}, Initial::learned, to_a_gradient);
        CHECK(end.stop_test == CUDA_OPT_PGTOL);
        restarted += end.refreshes >= 1;
    }
    CHECK(restarted >= 3);
}

TEST_CASE("A long solve that makes steady progress does not restart", "[slow]") {
    Vector standard(200);
    for (std::size_t i = 0; i < standard.size(); i++) standard[i] = i % 2 == 0 ? -1.2 : 1;
    const Function chained = [](const Vector &x, Vector &g) {
        const double f = long_valley(x, g), a = x[0] - 1;
        g[0] -= 2 * a;
        double sum = f - a * a;
        for (std::size_t i = 0; i + 1 < x.size(); i++) {
            sum += (x[i] - 1) * (x[i] - 1);
            g[i] += 2 * (x[i] - 1);
        }
        return sum;
    };
    const Outcome end = solve(chained, standard, {}, Initial::learned, to_a_gradient);
    CHECK(end.stop_test == CUDA_OPT_PGTOL);
    CHECK(end.evaluations > 250); // a solve without progress restarts after 250 evaluations
    CHECK(end.refreshes == 0);
}

TEST_CASE("Slow problems of a batch restart by the rule of a single solve", "[slow]") {
    for (const int kind : {Initial::scalar, Initial::learned}) {
        cuda_opt *s = nullptr;
        constexpr int n = 100;
        REQUIRE(cuda_opt_create_batch(&s, n, 1, 10, CUDA_OPT_BACKEND_HOST) == 0);
        REQUIRE(cuda_opt_set_int(s, CUDA_OPT_METRIC, kind) == 0);
        for (const auto &[key, value] : to_a_gradient)
            REQUIRE((key >= CUDA_OPT_EPS ? cuda_opt_set_real(s, key, value)
                                         : cuda_opt_set_int(s, key, static_cast<int64_t>(value))) == 0);
        Vector x(n, -1.0), g(n);
        double f = 0;
        while (cuda_opt_batch_solve(s, x.data(), &f, g.data()) > 0) f = long_valley(x, g);
        int64_t test = 0, refreshes = 0;
        REQUIRE(cuda_opt_batch_get_int(s, CUDA_OPT_STOP_TEST, &test) == 0);
        REQUIRE(cuda_opt_batch_get_int(s, CUDA_OPT_REFRESHES, &refreshes) == 0);
        CHECK(test == CUDA_OPT_PGTOL);
        CHECK(refreshes >= 1);
        cuda_opt_destroy(&s);
    }
}
