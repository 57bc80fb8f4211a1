// These tests check which elements the host executor reduces, in which order, and with which accuracy.
#include <catch2/catch.hpp>

#include "../support/seed.hpp"
#include "exec/accumulators.hpp"
#include "exec/map_reduce_host.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace cudaopt;

namespace {

struct Everything {
    Sum sum;
    Max max;
    Min min;
    Count positive;
    Count nan;
    void join(const Everything &other) {
        sum.join(other.sum);
        max.join(other.max);
        min.join(other.min);
        positive.join(other.positive);
        nan.join(other.nan);
    }
};

struct LookAtAll {
    const double *x;
    void operator()(int64_t i, Everything &record) const {
        record.sum.add(x[i]);
        record.max.add(x[i]);
        record.min.add(x[i]);
        record.positive.add(x[i] > 0);
        record.nan.add(std::isnan(x[i]));
    }
};

struct CountVisit {
    int *visits;
    void operator()(int64_t i) const { visits[i]++; }
};

std::vector<double> random_values(int64_t n) {
    std::mt19937_64 random(cudaopt_test::seed(7));
    std::normal_distribution<double> normal;
    std::vector<double> values(n);
    for (double &value : values) value = normal(random) * std::exp(5 * normal(random));
    return values;
}

// A tile of 1024 variables has four partial sums of 256 terms, which are joined in a tree with the other tiles.
constexpr double rounding_of_sums = (256 + 16) * 0x1p-53;
constexpr int64_t sizes[] = {1, 2, 3, 5, 1023, 1024, 1025, 4097, 262144, 262145, 1000003};

} // namespace

TEST_CASE("A reduction includes every element once and its sum is accurate") {
    for (const int64_t n : sizes) {
        CAPTURE(n);
        const std::vector<double> x = random_values(n);
        long double sum = 0, magnitude = 0;
        double max = x[0], min = x[0];
        int64_t positive = 0;
        for (const double value : x) {
            sum += value;
            magnitude += std::fabs(value);
            max = std::max(max, value);
            min = std::min(min, value);
            positive += value > 0;
        }
        const auto record = map_reduce_host<Everything>(n, LookAtAll{x.data()}, 2);
        CHECK(std::fabs(static_cast<double>(record.sum.v - sum)) <= rounding_of_sums * static_cast<double>(magnitude));
        CHECK(record.max.v == max);
        CHECK(record.min.v == min);
        CHECK(record.positive.v == positive);
        CHECK(record.nan.v == 0);
    }
}

TEST_CASE("A sum of equal terms with rounding errors of one sign is accurate") {
    const int64_t n = 3000000;
    const std::vector<double> x(n, 24.2);
    const double exact = 24.2 * static_cast<double>(n);
    CHECK(std::fabs(map_reduce_host<Everything>(n, LookAtAll{x.data()}, 1).sum.v - exact) <= rounding_of_sums * exact);
}

TEST_CASE("A sum has the same bits with any number of threads") {
    for (const int64_t n : sizes) {
        CAPTURE(n);
        const std::vector<double> x = random_values(n);
        const double one = map_reduce_host<Everything>(n, LookAtAll{x.data()}, 1).sum.v;
        for (const int threads : {2, 3, 7, 0})
            CHECK(map_reduce_host<Everything>(n, LookAtAll{x.data()}, threads).sum.v == one);
    }
}

TEST_CASE("A NaN at any index appears in each result of a reduction") {
    std::vector<double> x(5000, 1);
    for (const std::size_t place : {0, 1, 1023, 1024, 4999}) {
        CAPTURE(place);
        x[place] = std::numeric_limits<double>::quiet_NaN();
        const auto record = map_reduce_host<Everything>(5000, LookAtAll{x.data()}, 3);
        CHECK(std::isnan(record.sum.v));
        CHECK(std::isnan(record.max.v));
        CHECK(std::isnan(record.min.v));
        CHECK(record.nan.v > 0);
        x[place] = 1;
    }
}

TEST_CASE("A reduction of no elements gives an empty record") {
    const auto record = map_reduce_host<Everything>(0, LookAtAll{nullptr}, 2);
    CHECK(record.sum.v == 0);
    CHECK(record.max.v == -INFINITY);
    CHECK(record.min.v == INFINITY);
    CHECK(record.positive.v == 0);
}

TEST_CASE("A map visits every index once") {
    for (const int64_t n : sizes) {
        std::vector<int> visits(n);
        map_host(n, CountVisit{visits.data()}, 3);
        CHECK(visits == std::vector<int>(n, 1));
    }
}
