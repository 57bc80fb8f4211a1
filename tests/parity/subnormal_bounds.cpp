// Bounds near the limits of the floating-point range: the distance to a bound, a breakpoint, and the product of a
// diagonal element with a gradient element underflow or overflow. Nevertheless every evaluation point is finite and
// within its bounds.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "../support/seed.hpp"
#include "cuda_opt.h"
#include "cuda_opt_batch.h"

namespace parity_subnormal_bounds {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// xorshift64* (Vigna 2016) gives the same numbers on every platform.
class Random {
  public:
    int64_t below(int64_t n) {
        state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
        return static_cast<int64_t>((state_ * 2685821657736338717u >> 11) % static_cast<uint64_t>(n));
    }

  private:
    uint64_t state_ = cudaopt_test::seed(88172645463325252u);
};

// Returns whether all evaluation points of one solve of a small random problem are finite and within its bounds.
bool all_points_are_good(Random &random, bool batch, int metric) {
    constexpr double tiny[] = {5e-324, 1e-323, -5e-324, -1e-323, 1e-310, -1e-310, 2.3e-308, 1e-300, -1e-300, 1e-200, 0};
    const auto any_tiny = [&] { return tiny[random.below(11)]; };
    const auto n = static_cast<std::size_t>(1 + random.below(6));
    const auto variables = static_cast<int64_t>(n);
    const auto m = static_cast<int32_t>(1 + random.below(3));
    std::vector<double> x(n), g(n), lower(n, -infinite), upper(n, infinite), diagonal(n, 1.0), target(n);
    for (std::size_t i = 0; i < n; i++) {
        target[i] = static_cast<double>(random.below(5)) - 2;
        x[i] = static_cast<double>(random.below(2000)) / 500 - 2;
        switch (random.below(5)) {
        case 0: upper[i] = any_tiny(); break;
        case 1: lower[i] = any_tiny(); break;
        case 2: lower[i] = -1, upper[i] = any_tiny(); break;
        default: break;
        }
    }
    cuda_opt *s = nullptr;
    if (batch) cuda_opt_create_batch(&s, variables, 1, m, CUDA_OPT_BACKEND_HOST);
    else cuda_opt_create(&s, variables, m, CUDA_OPT_BACKEND_HOST);
    cuda_opt_set_int(s, CUDA_OPT_THREADS, 1);
    cuda_opt_set_bounds(s, lower.data(), upper.data());
    if (batch && metric == CUDA_OPT_METRIC_DIAGONAL) cuda_opt_batch_set_diagonal(s, diagonal.data());
    else if (!batch) cuda_opt_set_diagonal(s, diagonal.data());
    cuda_opt_set_int(s, CUDA_OPT_METRIC, metric);
    double f = 0;
    bool good = true;
    for (int call = 0; call < 200; call++) {
        const int task =
            batch ? cuda_opt_batch_solve(s, x.data(), &f, g.data()) : cuda_opt_solve(s, x.data(), &f, g.data());
        if (task <= 0) break;
        if (batch || task == CUDA_OPT_SUPPLY_DIAGONAL)
            for (double &d : diagonal) d = 0.1 + static_cast<double>(random.below(5));
        if (task == CUDA_OPT_SUPPLY_DIAGONAL) continue;
        f = 0;
        for (std::size_t i = 0; i < n; i++) {
            const double d = x[i] - target[i];
            f += d * d + d * d * d * d;
            g[i] = 2 * d + 4 * d * d * d;
            good = good && std::isfinite(x[i]) && x[i] >= lower[i] && x[i] <= upper[i];
        }
    }
    cuda_opt_destroy(&s);
    return good;
}

} // namespace

TEST_CASE("With subnormal bounds every evaluation point is finite and within the bounds", "[bounds]") {
    for (const bool batch : {false, true})
        for (const int metric : {CUDA_OPT_METRIC_ONE_NUMBER, CUDA_OPT_METRIC_DIAGONAL, CUDA_OPT_METRIC_LEARNED}) {
            Random random;
            int bad = 0;
            for (int solve = 0; solve < 6000; solve++) bad += !all_points_are_good(random, batch, metric);
            INFO((batch ? "batch" : "solve") << ", initial Hessian " << metric);
            CHECK(bad == 0);
        }
}

} // namespace parity_subnormal_bounds
