// Jump flooding against brute force.
#include "apps/cvt/flooding.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>

#include "../support/seed.hpp"
#include "brute_force.hpp"
#include "apps/cvt/tessellation.hpp"

namespace cvt_flooding {

using namespace cudaopt::testfuncs;
using namespace cudaopt::cvt;
using cudaopt_test::BruteForce;

namespace {

struct Difference {
    double misassigned, f, g; // f relative, g relative to the largest component
};

Difference against(const BruteForce &brute, const std::vector<double> &x, int resolution, Flooding flooding) {
    Tessellation grid(static_cast<int64_t>(x.size()) / 2, resolution, {}, flooding);
    double f;
    std::vector<double> g(x.size());
    grid.evaluate(x.data(), &f, g.data(), Place());
    const Cells cells = grid.cells();
    Difference difference = {0, std::fabs(f - brute.f) / brute.f, 0};
    double largest = 0;
    for (std::size_t p = 0; p < brute.site.size(); p++) difference.misassigned += cells.site[p] != brute.site[p];
    for (std::size_t i = 0; i < g.size(); i++) {
        difference.g = std::max(difference.g, std::fabs(g[i] - brute.g[i]));
        largest = std::max(largest, std::fabs(brute.g[i]));
    }
    difference.misassigned /= static_cast<double>(brute.site.size());
    difference.g /= largest;
    return difference;
}

} // namespace

// Rarely, a pixel far from its site is misassigned.
TEST_CASE("Jump flooding of 500 sites misassigns few pixels and has an accurate energy") {
    constexpr int resolution = 96, draws = 25;
    std::vector<double> misassigned, f, g;
    double sum = 0, sum_of_plain = 0;
    for (uint64_t seed = 1; seed <= draws; seed++) {
        const std::vector<double> x = Tessellation(500, resolution).random_sites(cudaopt_test::seed(seed));
        const BruteForce brute(x, resolution);
        const Difference apart = against(brute, x, resolution, Flooding::two_after);
        misassigned.push_back(apart.misassigned), f.push_back(apart.f), g.push_back(apart.g);
        sum += apart.misassigned;
        sum_of_plain += against(brute, x, resolution, Flooding::jfa).misassigned;
    }
    const auto median = [](std::vector<double> &values) {
        std::nth_element(values.begin(), values.begin() + draws / 2, values.end());
        return values[draws / 2];
    };
    CAPTURE(sum, sum_of_plain);
    CHECK(median(misassigned) < 2e-5);
    CHECK(median(f) < 1e-6);
    CHECK(median(g) < 1e-2);
    CHECK(sum_of_plain > 10 * sum); // what the passes after it are for
}

TEST_CASE("Jump flooding handles many sites in one pixel and coinciding sites") {
    constexpr int resolution = 64;
    std::vector<double> x = Tessellation(60, resolution).random_sites(cudaopt_test::seed(1));
    for (std::size_t k = 0; k < 12; k++) x[k] = 0.4 + 1e-4 * static_cast<double>(k * k); // 6 in some two pixels
    const BruteForce brute(x, resolution);
    CHECK(against(brute, x, resolution, Flooding::two_after).f < 1e-6);

    for (std::size_t k = 0; k < 40; k += 2) {
        x[k] = 0.3;
        x[k + 1] = 0.7;
    }
    Tessellation grid(60, resolution);
    double f;
    std::vector<double> g(x.size());
    grid.evaluate(x.data(), &f, g.data(), Place());
    const Cells cells = grid.cells();
    CHECK(cells.empty == 19); // the first of the twenty has the cell
    for (std::size_t i = 0; i < 20; i++) {
        CHECK((cells.mass[i] > 0) == (i == 0));
        CHECK((g[2 * i] == 0 && cells.centroid[2 * i] == 0.3) == (i > 0));
    }
    CHECK(f == Approx(BruteForce(x, resolution).f).epsilon(1e-12));
}

TEST_CASE("The pixels of the sites do not depend on the order in which sites are inserted") {
    constexpr int resolution = 16;
    const Packing packing(150, resolution);
    std::vector<double> x = Tessellation(150, resolution).random_sites(cudaopt_test::seed(1));
    for (std::size_t k = 0; k < 60; k++) x[k] = 0.5 + x[k] / resolution; // crowds
    const auto planted = [&](int stride) {
        std::vector<Word> words(resolution * resolution, no_site);
        for (std::size_t k = 0; k < 150; k++) {
            const std::size_t i = k * static_cast<std::size_t>(stride) % 150;
            const uint32_t fx = packing.fixed(x[2 * i]), fy = packing.fixed(x[2 * i + 1]);
            plant(packing, packing.pack(static_cast<int64_t>(i), fx, fy), [&](int64_t pixel, Word site) {
                Word &word = words[static_cast<std::size_t>(pixel)];
                const Word before = word;
                word = std::min(word, site);
                return before;
            });
        }
        return words;
    };
    const std::vector<Word> in_order = planted(1);
    for (const int stride : {149, 7, 11, 77, 91}) CHECK(planted(stride) == in_order);
    CHECK(std::count(in_order.begin(), in_order.end(), no_site) < resolution * resolution - 100);
}

TEST_CASE("Jump flooding is exact for a site per pixel and sites at the corners and one site") {
    constexpr int resolution = 32;
    std::vector<double> x;
    for (int j = 0; j < resolution; j++)
        for (int i = 0; i < resolution; i++) {
            x.push_back((i + 0.25) / resolution);
            x.push_back((j + 0.5) / resolution);
        }
    double f;
    std::vector<double> g(x.size());
    Tessellation(resolution * resolution, resolution).evaluate(x.data(), &f, g.data(), Place());
    CHECK(f == Approx(1. / 16 / resolution / resolution).epsilon(1e-12));

    const std::vector<double> corners = {0, 0, 1, 0, 0, 1, 1, 1};
    CHECK(against(BruteForce(corners, resolution), corners, resolution, Flooding::two_after).g < 1e-12);
    const std::vector<double> one = {1, 0.3};
    CHECK(against(BruteForce(one, resolution), one, resolution, Flooding::two_after).g < 1e-12);
}

// Not a test: `test_cvt [.table]` prints what docs/cvt.md shows.
TEST_CASE("The variants of jump flooding", "[.table]") {
    constexpr int resolution = 512;
    for (const int64_t sites : {50, 500, 5000, 20000})
        for (const uint64_t seed : {1, 2, 3}) {
            const std::vector<double> x = Tessellation(sites, resolution).random_sites(seed);
            const BruteForce brute(x, resolution);
            for (const Flooding flooding :
                 {Flooding::jfa, Flooding::one_before, Flooding::one_after, Flooding::two_after}) {
                const Difference d = against(brute, x, resolution, flooding);
                std::printf("%6lld sites, seed %d, variant %d: misassigned %.2e  energy %.2e  gradient %.2e\n",
                            static_cast<long long>(sites), static_cast<int>(seed), static_cast<int>(flooding),
                            d.misassigned, d.f, d.g);
            }
        }
}

} // namespace cvt_flooding
