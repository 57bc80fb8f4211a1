// Tests of the estimate of the noise in f from its values at equally spaced points, and of the decisions that allow for
// noise.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "../support/seed.hpp"
#include "lbfgsb/iteration.hpp"

using namespace cudaopt;
using cudaopt::noise::deviation;
constexpr int samples = cudaopt::noise::samples;

namespace {

// Values are normally distributed numbers times sigma, plus a quadratic polynomial in the index of the point.
struct Values {
    double of[samples];
    Values(double sigma, double a, double b, double c, unsigned seed) {
        std::mt19937 random(cudaopt_test::seed(seed));
        std::normal_distribution<double> normal;
        for (int i = 0; i < samples; i++) of[i] = a + b * i + c * i * i + sigma * normal(random);
    }
};

} // namespace

// The k-th differences of 1, -1, 1, ... have the absolute value 2^k. The estimate from the first differences is used:
// sqrt(1!^2 / 2! 2^2).
TEST_CASE("The deviation of alternating values is that of their first differences", "[noise]") {
    double values[samples];
    for (int i = 0; i < samples; i++) values[i] = i % 2 == 0 ? 1 : -1;
    CHECK(deviation(values) == Approx(std::sqrt(2.0)).epsilon(1e-14));
}

// Eight values that are 0 except for one 1 have the differences 1, -1; 1, -2, 1; 1, -3, 3, -1; ... The estimate is
// taken from orders whose estimates agree.
TEST_CASE("The deviation of a single spike is that of the orders of differences that agree", "[noise]") {
    double values[samples] = {};
    values[3] = 1;
    CHECK(deviation(values) == Approx(std::sqrt(1.0 / 2 * 2 / 7)).epsilon(1e-14));
}

TEST_CASE("The estimated deviation of noise on a quadratic is within 10 % in the root mean square", "[noise]") {
    for (const double sigma : {1e-9, 1e-3, 1e3}) {
        double sum = 0;
        int far_away = 0;
        constexpr unsigned count = 400;
        for (unsigned seed = 1; seed <= count; seed++) {
            const double estimate = deviation(Values(sigma, 3 * sigma, 20 * sigma, -5 * sigma, seed).of);
            sum += estimate * estimate;
            far_away += estimate < sigma / 3 || estimate > 3 * sigma;
        }
        CHECK(std::sqrt(sum / count) == Approx(sigma).epsilon(0.1));
        CHECK(7 * far_away <= static_cast<int>(count)); // three times the median of 40 repetitions
    }
}

TEST_CASE("The deviation of a smooth function is at the level of its rounding errors", "[noise]") {
    CHECK(deviation(Values(0, 1, 0.125, 0.25, 1).of) == 0); // the values are exact and their third differences vanish
    double values[samples];
    for (int i = 0; i < samples; i++) values[i] = std::exp(1e-3 * i);
    CHECK(deviation(values) < 1e-15);
}

namespace {

// A trial point with its f, its slope along the direction, and its ||P g||_inf.
struct TrialPoint {
    double products[panel::leading * panel::columns(1)] = {};
    PanelProducts sums{};
    TrialPoint(double f, double slope, double norm = 1) {
        products[panel::gradient * panel::columns(1) + panel::s_column(0)] = slope;
        sums.columns = panel::columns(1);
        sums.leading_products = products;
        sums.f = f;
        sums.projected_gradient_max = norm;
        sums.variable_sums[projected_gradient_squared] = norm * norm;
    }
};

Settings with_level(double level, int64_t metric = Metric::one_number) {
    Settings settings;
    settings.noise_abs = level;
    settings.metric = metric;
    return settings;
}

// Begins a line search from f = 1 along a direction of slope -1, with the first step 1.
Iteration searching() {
    Iteration it;
    it.results.f = it.f_best = 1;
    it.results.pg_norm_max = it.results.pg_norm2 = 1;
    it.begin_search(1);
    it.slope_base = -1;
    it.direction = {-1, 1, 0};
    return it;
}

TrialVerdict verdict_on(double f, double slope, const Settings &settings) {
    Iteration it = searching();
    const TrialPoint at(f, slope);
    it.measure_trial(settings, at.sums);
    return it.judge_trial(settings, at.sums);
}

} // namespace

TEST_CASE("A trial point is accepted by its slope if the noise hides whether f falls", "[noise]") {
    for (const int64_t metric : {Metric::one_number, Metric::callers, Metric::learned}) {
        const Settings noisy = with_level(0.1, metric), exact = with_level(0, metric);
        // Beyond the minimiser along the direction, only the weak Wolfe conditions can hold.
        CHECK(verdict_on(1.15, 2, noisy) == TrialVerdict::accept);
        CHECK(verdict_on(1.25, 2, noisy) == TrialVerdict::evaluate);
        CHECK(verdict_on(1.15, 2, exact) == TrialVerdict::evaluate);
        CHECK(verdict_on(1.15, -0.95, noisy) == TrialVerdict::evaluate); // the slope is still too steep
        // Between f_base + ftol slope + 2 eps_f and f_best + 2 eps_f, only the approximate Wolfe conditions can hold.
        CHECK(verdict_on(1.19995, 0.5, noisy) == TrialVerdict::accept);
        CHECK(verdict_on(1.19995, 0.9, noisy) == TrialVerdict::evaluate);
    }
}

TEST_CASE("The line search uses the integral of the slope if f agrees with it within the noise", "[noise]") {
    constexpr double slope = -0.95, integral = 1 + (-1 + slope) / 2; // f must be between -0.175 and 0.225
    const auto next_step = [](double f, double level) {
        Iteration it = searching();
        const TrialPoint at(f, slope);
        it.measure_trial(with_level(level), at.sums);
        CHECK(it.judge_trial(with_level(level), at.sums) == TrialVerdict::evaluate);
        return it.trial_step();
    };
    CHECK(next_step(0.2, 0.1) == next_step(integral, 0));
    CHECK(next_step(-0.1, 0.1) == next_step(integral, 0));
    CHECK(next_step(0.3, 0.1) == next_step(0.3, 0));
    CHECK(next_step(1.02, 0.6) > 1);
    CHECK(next_step(1.02, 0.1) < 1);
}

TEST_CASE("A decrease within the noise does not correct the curvature", "[noise]") {
    Iteration it = searching();
    it.step = 1;
    const TrialPoint at(0.9, -0.6);
    CHECK(it.curvature_scale(with_level(0, Metric::learned), at.sums, 0.4) ==
          0.5); // 1 + (6 0.1 - 3 1.6) / 0.4, limited
    CHECK(it.curvature_scale(with_level(0.1 / 19, Metric::learned), at.sums, 0.4) == 1);
    CHECK(it.curvature_scale(with_level(0.1 / 21, Metric::learned), at.sums, 0.4) == 0.5);
}

TEST_CASE("Progress is a decrease of f by two noise levels or of ||P g|| by a factor of 0.7", "[noise]") {
    const Settings settings = with_level(0.1);
    Iteration it;
    const auto in_vain = [&](double f, double norm) {
        it.results.f = f;
        it.results.pg_norm_max = norm;
        it.search_evaluations = 3;
        it.note_progress(settings);
        return it.in_vain;
    };
    CHECK(in_vain(5, 1) == 0); // the first iterate
    CHECK(in_vain(4.81, 0.71) == 3);
    CHECK(in_vain(4.79, 1) == 0);
    CHECK(in_vain(4.6, 0.71) == 3);
    CHECK(in_vain(5, 0.69) == 0);
    CHECK(in_vain(4.6, 0.69) == 3); // both are compared with their least values
    CHECK(in_vain(4.6, 0.69) == 6);
}

TEST_CASE("The evaluations of failed line searches count as evaluations without progress", "[noise]") {
    const Settings settings = with_level(0.1);
    Iteration it = searching();
    it.failure = Event::nothing_lower;
    it.search_evaluations = 30;
    for (int k = 1; k < 4; k++) CHECK(it.after_failure(settings, 0) == FailureVerdict::refresh);
    CHECK(it.after_failure(settings, 0) == FailureVerdict::end);
    CHECK(it.results.stop_test == CUDA_OPT_NOISE);
    Iteration exact = searching();
    exact.failure = Event::nothing_lower;
    exact.fresh_start = true;
    CHECK(exact.after_failure(with_level(0), 0) == FailureVerdict::end);
    CHECK(exact.end_code == CUDA_OPT_LINE_SEARCH_FAILED);
}

TEST_CASE("With a noise level the best iterate is the one with the least projected gradient", "[noise]") {
    Iteration lower = searching(), flatter = searching(), much_lower = searching();
    CHECK(lower.accept(with_level(0.1), TrialPoint(0.85, 0, 1.1).sums)); // the base point has a smaller norm
    CHECK(lower.f_best == 0.85);
    // Beyond the noise f decides.
    CHECK(!much_lower.accept(with_level(0.1), TrialPoint(0.75, 0, 1.1).sums));
    much_lower.results.f = 0.75; // as measure() sets them
    much_lower.results.pg_norm_max = 1.1;
    CHECK(much_lower.accept(with_level(0.1), TrialPoint(1, 0, 0.9).sums));
    CHECK(!flatter.accept(with_level(0.1), TrialPoint(1.1, 0, 0.9).sums));
    CHECK(flatter.f_best == 1);
    CHECK(flatter.accept(with_level(0), TrialPoint(1.1, 0, 0.8).sums));
}

TEST_CASE("NOISE requires that 1 % of the variables changes f by no more than its noise level", "[noise]") {
    const Settings settings = with_level(0.1);
    for (const double norm : {9.9, 10.1}) {
        Iteration it = searching();
        it.failure = Event::nothing_lower;
        it.search_evaluations = 120;
        CHECK(it.norm_at_end() == Norm::none);
        it.note_norm(Norm::relative_gradient, 1, 0); // measured at another point
        CHECK(it.after_failure(settings, 0) == FailureVerdict::end);
        CHECK(it.norm_at_end() == Norm::relative_gradient);
        it.note_norm(Norm::relative_gradient, norm, 0);
        CHECK(it.norm_at_end() == Norm::none);
        it.record_end(settings);
        CHECK(it.end_code == (norm < 10 ? CUDA_OPT_CONVERGED : CUDA_OPT_LINE_SEARCH_FAILED));
        CHECK(it.results.stop_test == (norm < 10 ? CUDA_OPT_NOISE : 0));
    }
}
