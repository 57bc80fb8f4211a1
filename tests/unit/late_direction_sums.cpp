// On a GPU the sums over a new direction arrive with the sweep at the next trial point. Only then does the state
// machine know whether the direction descends, and the sweep may already have updated the learned diagonal. The
// iterates must be those of the host backend, on which the sums are known before.
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "../support/forwarded_sweeps.hpp"
#include "../support/seed.hpp"
#include "cuda_opt.h"
#include "solver/solver.hpp"

namespace unit_late_direction_sums {

using namespace cudaopt;

namespace {

using Vector = std::vector<double>;

class LateSums final : public cudaopt_test::ForwardedSweeps {
  public:
    explicit LateSums(int64_t n) : ForwardedSweeps(make_host_sweeps<double, double>(n)) {}
    bool direction_sums_at_hand() const override { return false; }
};

std::unique_ptr<Sweeps> make_early(int, int64_t n, int, int) { return make_host_sweeps<double, double>(n); }
std::unique_ptr<Sweeps> make_late(int, int64_t n, int, int) { return std::make_unique<LateSums>(n); }

// The variables are x_i = u_i / size(i), so that a learned diagonal improves the model.
double size(std::size_t i) { return std::pow(5.0, static_cast<double>(i % 3)); }

// The chained Rosenbrock function 100 (u_{i+1} - u_i^2)^2 + (1 - u_i)^2.
double rosenbrock(const Vector &x, Vector &g) {
    double f = 0;
    std::fill(g.begin(), g.end(), 0);
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
        const double u = size(i) * x[i], a = size(i + 1) * x[i + 1] - u * u, b = 1 - u;
        f += 100 * a * a + b * b;
        g[i] += size(i) * (-400 * u * a - 2 * b);
        g[i + 1] += size(i + 1) * 200 * a;
    }
    return f;
}

struct Path {
    std::vector<Vector> iterates;
    int64_t truncations, evaluations;
};

// Returns the first 60 iterates in a narrow box from a start far outside it. Many directions are then no descent
// directions after the projection.
Path follow(decltype(make_late) make, int64_t metric, unsigned seed) {
    constexpr std::size_t n = 10;
    Vector x(n), g(n), lower(n), upper(n);
    uint64_t state = cudaopt_test::seed(seed);
    const auto random = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX
        return static_cast<double>(state >> 11) / 9007199254740992.0;
    };
    for (std::size_t i = 0; i < n; i++) {
        lower[i] = (random() < 0.5 ? -1 : 0.2) / size(i);
        upper[i] = lower[i] + 2 * random() / size(i);
        x[i] = 3 / size(i);
    }
    double f = 0;
    Solver solver(n, 5, 64, CUDA_OPT_BACKEND_HOST, -1, make);
    solver.arrays = {x.data(), g.data(), &f, lower.data(), upper.data(), nullptr};
    solver.settings().metric = metric;
    solver.settings().report_iterates = true;
    solver.settings().max_iterations = 60;
    Path path;
    for (;;) {
        const int task = solver.resume();
        if (task == CUDA_OPT_NEW_ITERATE) path.iterates.push_back(x);
        else if (task == CUDA_OPT_EVALUATE_FG) f = rosenbrock(x, g);
        else break;
    }
    path.truncations = solver.results().truncations;
    path.evaluations = solver.results().evaluations;
    return path;
}

} // namespace

TEST_CASE("The iterates do not depend on when the sums over a direction arrive", "[sweeps]") {
    for (const int64_t metric : {int64_t{Metric::one_number}, int64_t{Metric::learned}}) {
        int64_t truncations = 0, parted = 0, more_evaluations = 0;
        for (unsigned seed = 1; seed <= 500; seed++) {
            const Path early = follow(make_early, metric, seed), late = follow(make_late, metric, seed);
            parted += early.iterates != late.iterates;
            truncations += early.truncations;
            more_evaluations += late.evaluations - early.evaluations;
        }
        INFO("initial Hessian " << metric << ", " << truncations << " truncations, " << more_evaluations
                                << " more evaluations");
        CHECK(parted == 0);
        CHECK(truncations > 20);
    }
}

} // namespace unit_late_direction_sums
