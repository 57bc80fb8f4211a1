// Tests of the rule by which a slow solve restarts, applied to given values of f and ||P g|| at each iterate, and of
// the data that the restart discards.
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "cuda_opt.h"
#include "lbfgsb/iteration.hpp"
#include "solver/solver.hpp"

using cudaopt::Iteration;
using cudaopt::Settings;

namespace {

// Returns the first evaluation in [from, to] at which the solve restarts, or 0. Each iterate takes one evaluation.
template <class F, class Norm>
int64_t restart_within(Iteration &it, int64_t from, int64_t to, const F &f, const Norm &norm,
                       const Settings &settings = {}) {
    for (int64_t k = from; k <= to; k++) {
        it.results.evaluations = k;
        it.results.f = f(static_cast<double>(k));
        if (k == 1) it.f_start = it.results.f;
        it.results.pg_norm_max = norm(static_cast<double>(k));
        if (it.restarts_slow_solve(settings)) return k;
    }
    return 0;
}

double one(double) { return 1; }
// At the start f = 1001; afterwards f is 1 and no longer decreases.
double after_start(double k) { return k == 1 ? 1001 : 1; }

} // namespace

TEST_CASE("A solve without progress restarts after 250 evaluations and then after 750 and 2250", "[slow]") {
    Iteration it;
    CHECK(restart_within(it, 1, 9999, after_start, one) == 252); // the decrease from the start is progress
    CHECK(restart_within(it, 253, 9999, after_start, one) == 1002);
    CHECK(restart_within(it, 1003, 9999, after_start, one) == 3252);
}

TEST_CASE("A decrease of f is progress from 1e-7 of the decrease since the start on", "[slow]") {
    const auto falling = [](double share) {
        return [=](double k) { return k == 1 ? 1001 : 1 - share * 1000 * k / 200; };
    };
    Iteration slow, fast;
    CHECK(restart_within(fast, 1, 9999, falling(1.1e-7), one) == 0);
    CHECK(restart_within(slow, 1, 9999, falling(0.7e-7), one) > 0);
    Iteration rising; // f that is above its start makes no progress
    CHECK(restart_within(
              rising, 1, 9999, [](double k) { return k; }, one) == 251);
}

TEST_CASE("A projected gradient below 0.3 times the least one so far is progress", "[slow]") {
    const auto halved_every = [](double evaluations) {
        return [=](double k) { return std::pow(0.5, std::floor(k / evaluations)); };
    };
    Iteration fast, slow;
    CHECK(restart_within(fast, 1, 2000, after_start, halved_every(120)) == 0);
    CHECK(restart_within(slow, 1, 2000, after_start, halved_every(140)) > 0);
    Iteration rough; // compared with the least one, not with the last
    CHECK(restart_within(rough, 1, 2000, after_start, [](double k) {
              return k == 100 ? 0.2 : k < 100 ? 1 : 0.5;
          }) == 350);
}

TEST_CASE("Progress of f does not raise the reference value of the projected gradient", "[slow]") {
    Iteration it;
    CHECK(restart_within(it, 1, 999, after_start, [](double k) { return k == 2 ? 10 : k < 100 ? 1 : 0.5; }) == 252);
}

TEST_CASE("A solve with ROBUST = 0 does not restart because of slow progress", "[slow]") {
    Settings settings;
    settings.robust = false;
    Iteration it;
    CHECK(restart_within(it, 1, 99999, after_start, one, settings) == 0);
}

namespace {

// (u_1 - 1)^2 + 100 sum (u_{i+1} - u_i^2)^2 with u_i = scale_i x_i: one long curved valley.
double scaled_valley(const std::vector<double> &scale, const std::vector<double> &x, std::vector<double> &g) {
    std::fill(g.begin(), g.end(), 0);
    const double first = scale[0] * x[0] - 1;
    double f = first * first;
    g[0] = scale[0] * 2 * first;
    for (std::size_t i = 0; i + 1 < x.size(); i++) {
        const double u = scale[i] * x[i], r = scale[i + 1] * x[i + 1] - u * u;
        f += 100 * r * r;
        g[i] -= scale[i] * 400 * r * u;
        g[i + 1] += scale[i + 1] * 200 * r;
    }
    return f;
}

struct FirstRestart {
    bool happened = false;
    // Whether the model uses a learned diagonal before the restart and when two pairs have followed it.
    bool uses_diagonal_before = false, uses_diagonal_after = false;
};

// Solves until two pairs have followed the first restart. The value of f at the start is so large that no later
// decrease of f counts as progress.
FirstRestart first_restart(const std::vector<double> &scale) {
    const std::size_t n = scale.size();
    std::vector<double> x(n), g(n);
    for (std::size_t i = 0; i < n; i++) x[i] = -1 / scale[i];
    double f = 0;
    const auto make = [](int, int64_t size, int, int) { return cudaopt::make_host_sweeps<double, double>(size); };
    cudaopt::Solver solver(static_cast<int64_t>(n), 10, 64, CUDA_OPT_BACKEND_HOST, -1, make);
    solver.arrays = {x.data(), g.data(), &f, nullptr, nullptr, nullptr};
    Settings &settings = solver.settings();
    settings.metric = cudaopt::Metric::learned;
    settings.report_iterates = true;
    settings.factr = settings.pgtol = 0;
    FirstRestart found;
    for (int task = solver.resume(); task > 0; task = solver.resume()) {
        if (task == CUDA_OPT_EVALUATE_FG) {
            f = scaled_valley(scale, x, g) + (solver.results().evaluations == 1 ? 1e12 : 0);
        } else if (solver.state().slow_restarts == 0) {
            found.uses_diagonal_before = solver.state().weighted();
        } else if (solver.pairs() == 2) { // the first of them has updated the new diagonal
            found.happened = true;
            found.uses_diagonal_after = solver.state().weighted();
            break;
        }
    }
    return found;
}

} // namespace

// The model uses a learned diagonal if it has explained enough of the misfit of earlier pairs. The scales of the
// variables differ so much that the model uses the diagonal before the restart. The first pair after the restart only
// begins a new diagonal. No pair has yet been compared with it when the first model after this pair is formed. That
// model must therefore not use it.
TEST_CASE("The restart of a slow solve discards what earlier pairs showed about the diagonal", "[slow]") {
    for (const int spread : {1, 2, 3, 4}) {
        std::vector<double> scale(100);
        for (std::size_t i = 0; i < scale.size(); i++) scale[i] = std::ldexp(1.0, static_cast<int>(7 * i % 5) * spread);
        const FirstRestart restart = first_restart(scale);
        INFO("scales up to 2^" << 4 * spread);
        CHECK(restart.happened);
        CHECK(restart.uses_diagonal_before);
        CHECK_FALSE(restart.uses_diagonal_after);
    }
}
