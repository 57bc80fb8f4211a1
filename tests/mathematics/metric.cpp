// The learned diagonal: its update is compared with the formula in extended precision, and the tests check when it is
// used. The tests of the inner products check that sweep 1 applies the update.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "../support/problems.hpp"
#include "lbfgsb/learned_diagonal.hpp"
#include "reference.hpp"

namespace mathematics_metric {

using cudaopt::DiagonalUpdate;
using cudaopt::LearnedDiagonal;
using cudaopt_test::Uniform;
using reference::Number;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double most = 0x1p90;

} // namespace

TEST_CASE("The updated weight of a variable matches the formula", "[metric]") {
    Uniform uniform(50);
    for (int repetition = 0; repetition < 10000; repetition++) {
        const auto power = [&](int least, int greatest) {
            return std::ldexp(1 + uniform(), least + static_cast<int>(uniform() * (greatest - least)));
        };
        const double h = power(-90, 89), d = power(-200, 200) * (uniform() < 0.5 ? -1 : 1), y = power(-200, 200);
        const Number b = 1 / static_cast<Number>(h), share_w = uniform(), share_u = uniform();
        const auto of_d = static_cast<double>(share_w / (b * d * d)),
                   of_y = static_cast<double>(share_u * b / (static_cast<Number>(y) * y));
        const double kappa = power(-30, 2);
        const Number u = y * y / b * of_y, w = b * d * d * of_d;
        const Number quotient = std::min<Number>(std::max<Number>((kappa + u) / (kappa + w), 1 / 1.5L), 1.5L);
        const Number expected = 1 / (b * std::sqrt(quotient));
        const double learned = cudaopt::learned_weight(h, d, y, {0, of_d, of_y, kappa});
        const Number wanted = std::min<Number>(std::max<Number>(expected, 1 / most), most);
        if (!(std::fabs(learned - wanted) <= 16 * epsilon * wanted))
            FAIL("h = " << h << " becomes " << learned << ", not " << wanted);
    }
}

TEST_CASE("A learned weight lies between 2^-90 and 2^90 for any input", "[metric]") {
    const double numbers[] = {0,
                              1,
                              1e-300,
                              1e300,
                              1e-150,
                              1e150,
                              -1e160,
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::denorm_min()};
    for (const double h : {1.0, most, 1 / most})
        for (const double d : numbers)
            for (const double y : numbers)
                for (const double of_d : numbers)
                    for (const double of_y : numbers)
                        for (const double kappa : {1e-9, 1.0, 1e9}) {
                            const double learned = cudaopt::learned_weight(h, d, y, {0, of_d, of_y, kappa});
                            if (!(learned >= 1 / most && learned <= most)) FAIL("h = " << learned);
                        }
}

TEST_CASE("A learned diagonal is used while it explains much of the misfit of theta I", "[metric]") {
    LearnedDiagonal metric;
    CHECK_FALSE(metric.exists());
    CHECK(metric.weights() == cudaopt::no_weights);
    CHECK(metric.take_update().count == 0);
    CHECK_FALSE(metric.exists());
    metric.observe(3, 2, 100, 3, 2, 5, 2, 5);
    CHECK(metric.update_is_due());
    CHECK_FALSE(metric.exists());
    const DiagonalUpdate first = metric.take_update();
    CHECK((first.anew && first.count == 1 && first.pairs[0].slot == 3));
    CHECK((first.pairs[0].of_d == 0.2 && first.pairs[0].of_y == 0.5 && first.pairs[0].kappa == 5.0 / 100));
    CHECK(metric.exists());
    CHECK_FALSE(metric.update_is_due());
    CHECK(metric.take_update().count == 0);
    int pairs = 1;
    // The misfit of theta I is 2, of which b explains the given share. The history contains two pairs, so that each
    // updates b alone.
    const auto observe = [&](double share) {
        metric.observe(0, 2, 100, std::exp(-1.0), 1, 1, 1, std::exp(-2 * share));
        const DiagonalUpdate update = metric.take_update();
        CHECK((update.count == 1 && !update.anew && update.pairs[0].kappa == (5.0 + pairs++) / 100));
    };
    for (int k = 0; k < 200; k++) observe(0.25);
    CHECK_FALSE(metric.serves());
    CHECK(metric.weights() == cudaopt::no_weights);
    for (int k = 0; k < 200; k++) observe(0.35);
    CHECK(metric.serves());
    for (int k = 0; k < 200; k++) observe(0.25); // a share between the two limits changes nothing
    CHECK(metric.serves());
    const int64_t weights = metric.weights();
    CHECK(weights != cudaopt::no_weights);
    CHECK(metric.take_update().count == 0);
    CHECK(metric.weights() == weights);
    observe(0.25);
    CHECK(metric.weights() != weights);
    for (int k = 0; k < 200; k++) observe(0.1);
    CHECK_FALSE(metric.serves());
    // Sums that overflow do not update the diagonal.
    metric.observe(0, 2, 100, 1, 1, 1, 1, std::numeric_limits<double>::infinity());
    CHECK_FALSE(metric.update_is_due());
    metric.observe(0, 2, 100, 1, 1, 1, 0, 1);
    CHECK_FALSE(metric.update_is_due());
    for (int k = 0; k < 200; k++) observe(1);
    const int64_t last = metric.weights();
    metric.forget();
    CHECK_FALSE(metric.exists());
    CHECK_FALSE(metric.serves());
    metric.observe(1, 2, 100, 1, 1, 1, 1, 1); // forget() has kept the averages
    CHECK(metric.take_update().anew);
    CHECK(metric.serves());
    CHECK(metric.weights() > last); // products that a warm start keeps may be weighted with an earlier diagonal
    metric.clear();
    metric.observe(1, 2, 100, std::exp(-1.0), 1, 1, 1, std::exp(-1.0));
    metric.take_update();
    CHECK(metric.weights() > last + 1);
}

TEST_CASE("A diagonal that begins from sizes is used at once and does not wait for pairs", "[metric]") {
    LearnedDiagonal metric;
    metric.observe(1, 2, 100, 1, 1, 1, 1, 1);
    metric.take_update();
    const int64_t last = metric.weights();
    metric.begin_from_sizes();
    CHECK((metric.begins_from_sizes() && metric.exists() && metric.serves() && metric.update_is_due()));
    const DiagonalUpdate update = metric.take_update();
    CHECK((update.anew == DiagonalUpdate::from_sizes && update.count == 0 && !update.is_empty()));
    CHECK(metric.weights() > last);
    CHECK_FALSE(metric.begins_from_sizes());
    CHECK(metric.take_update().is_empty());
    metric.observe(1, 2, 100, std::exp(-1.0), 1, 1, 1, std::exp(-1.0)); // a later pair updates this diagonal
    CHECK((metric.serves() && !metric.take_update().anew));
    metric.begin_from_sizes();
    metric.forget();
    CHECK_FALSE(metric.begins_from_sizes());
    CHECK(metric.take_update().is_empty());
}

TEST_CASE("The weight of a variable's size is its square, or 1 if the size is unknown", "[metric]") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    DiagonalUpdate update;
    update.anew = DiagonalUpdate::from_sizes;
    for (const double x : {1.0, -1.0, 3.0, -1e-8, 2e5, 0x1p-45, -0x1p45}) CHECK(update.first_weight(x) == x * x);
    for (const double x : {0.0, -0.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
        CHECK(update.first_weight(x) == 1);
    for (const double x : {1e300, -1e300, 0x1p46}) CHECK(update.first_weight(x) == most);
    for (const double x : {1e-300, -1e-300, 0x1p-46, std::numeric_limits<double>::denorm_min()})
        CHECK(update.first_weight(x) == 1 / most);
    update.anew = DiagonalUpdate::from_ones;
    for (const double x : {0.0, 3.0, 1e300}) CHECK(update.first_weight(x) == 1);
}

// Returns kappa n of the pairs in the order in which they update b. Each pair is observed, and its update is taken.
static std::vector<double> weights_of_pairs(int64_t n, int count) {
    LearnedDiagonal metric;
    std::vector<double> weights;
    while (static_cast<int>(weights.size()) < count) {
        metric.observe(0, 1, n, 1, 1, 1, 1, 1);
        const DiagonalUpdate update = metric.take_update();
        for (int k = 0; k < update.count; k++) weights.push_back(update.pairs[k].kappa * static_cast<double>(n));
    }
    return weights;
}

TEST_CASE("With up to 2500 variables kappa n grows by one per pair", "[metric]") {
    for (const int64_t n : {int64_t{1}, int64_t{2}, int64_t{100}, int64_t{2499}, int64_t{2500}}) {
        const std::vector<double> weights = weights_of_pairs(n, 3000);
        for (std::size_t p = 0; p < weights.size(); p++)
            REQUIRE(weights[p] == Approx(5.0 + static_cast<double>(p)).epsilon(4 * epsilon));
    }
}

// The numbers of variables are n = (50 + 12000 c)^2, so that c is a simple number.
TEST_CASE("With more variables kappa n also grows with the square of the number of pairs", "[metric]") {
    const std::pair<int64_t, Number> cases[] = {{62 * 62, 1e-3L},     {170 * 170, 1e-2L},
                                                {650 * 650, 0.05L},   {1250 * 1250, 0.1L},
                                                {3050 * 3050, 0.25L}, {int64_t{1000000050} * 1000000050, 1e9L / 12000}};
    for (const auto &[n, c] : cases) {
        const std::vector<double> weights = weights_of_pairs(n, 3000);
        for (int p = 0; p < 3000; p++) {
            const Number expected = 5 + p + c * p * p;
            if (!(std::fabs(weights[static_cast<std::size_t>(p)] - expected) <= 32 * epsilon * expected))
                FAIL("n = " << n << ", pair " << p << ": " << weights[static_cast<std::size_t>(p)]);
        }
    }
    // After 1, 10 and 1000 pairs, kappa n increases with n.
    for (const int p : {1, 10, 1000})
        for (int64_t n = 2500; n < 100000000; n *= 2) {
            const auto at = static_cast<std::size_t>(p);
            CHECK(weights_of_pairs(2 * n, p + 1)[at] > weights_of_pairs(n, p + 1)[at]);
        }
}

// Each pair updates the diagonal once, in the order of observation. The pair is then still in the history, together
// with a newer one.
TEST_CASE("The first ten pairs update the diagonal one at a time and later pairs in groups", "[metric]") {
    for (int memory = 1; memory <= 20; memory++) {
        const int at_once = std::max(1, std::min(4, memory - 1));
        LearnedDiagonal metric;
        int64_t taken = 0;
        for (int pair = 0; pair < 60; pair++) {
            metric.observe(pair, memory, 1000, 1, 1, 1, 1, 1);
            const DiagonalUpdate update = metric.take_update();
            REQUIRE((update.count == 0 || update.count == (taken < 10 ? 1 : at_once)));
            for (int k = 0; k < update.count; k++) {
                REQUIRE(update.pairs[k].slot == taken);
                REQUIRE(update.pairs[k].kappa == static_cast<double>(5 + taken) / 1000);
                taken++;
            }
            REQUIRE(pair + 1 - taken < at_once);
        }
    }
    // If no update is taken for several pairs, the first four pairs are kept, and no more are stored.
    LearnedDiagonal metric;
    for (int pair = 0; pair < 10; pair++) metric.observe(pair, 8, 1000, 1, 1, 1, 1, 1);
    const DiagonalUpdate update = metric.take_update();
    CHECK((update.count == DiagonalUpdate::most && update.pairs[0].slot == 0 && update.pairs[3].slot == 3));
}

} // namespace mathematics_metric
