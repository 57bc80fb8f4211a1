// The random numbers are Philox's, and starts are spread over the box.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include "cuda_opt/search_walks.cuh"

using namespace cudaopt::pattern;

namespace {

bool same(const Words &a, const Words &b) { return std::equal(a.at, a.at + 4, b.at); }

} // namespace

// The vectors that Salmon, Moraes, Dror and Shaw publish with Random123 (kat_vectors).
TEST_CASE("Philox4x32-10 gives its published vectors", "[search]") {
    CHECK(same(philox({{0, 0, 0, 0}}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
    CHECK(same(philox({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u), {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
    CHECK(same(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
               {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST_CASE("Random numbers differ between seeds and walks and draws and are uniform", "[search]") {
    std::set<double> all;
    const int64_t big = int64_t{1} << 40;
    for (const int64_t seed : {int64_t{0}, int64_t{1}, big})
        for (const int64_t walk : {int64_t{0}, int64_t{1}, big, big + 1})
            for (const int64_t draw : {int64_t{0}, int64_t{1}, big})
                all.insert(uniform(uint64_t(seed), uint64_t(walk), uint64_t(draw)));
    CHECK(all.size() == 36);

    const int cells = 64, numbers = 64 * 1000;
    std::vector<int> count(cells);
    for (int w = 0; w < numbers; w++) {
        const double u = uniform(7, static_cast<uint64_t>(w), 3);
        REQUIRE((u >= 0 && u < 1));
        count[static_cast<std::size_t>(u * cells)]++;
    }
    double chi2 = 0; // of 63 degrees of freedom: 63 +- 11
    for (const int c : count) chi2 += (c - 1000) * (c - 1000) / 1000.0;
    CHECK(chi2 < 63 + 5 * 11.3);
    CHECK(chi2 > 63 - 5 * 11.3);
}

TEST_CASE("A random start lies in its box even if the box is a point or almost one", "[search]") {
    const double lower[] = {-1e300, 0.1, 5, 1}, upper[] = {7e299, 0.3, 5, std::nextafter(1.0, 2)}, step[4] = {};
    const Rules rules{1000, 4, 16, cudaopt::AtSmallestStep::restart_step, 3, lower, upper, step};
    for (int64_t w = 0; w < rules.walks; w++)
        for (int j = 0; j < 4; j++) {
            REQUIRE(rules.start(w, 0, j) >= lower[j]);
            REQUIRE(rules.start(w, 0, j) <= upper[j]);
            REQUIRE((lower[j] == upper[j] || j == 3 || rules.start(w, 0, j) != rules.start(w, 1, j)));
        }
}

TEST_CASE("The integer keys of values have the order of the values", "[search]") {
    const double values[] = {-HUGE_VAL, -1e300, -2, -1e-310, -0.0, 1e-310, 0.5, 3, 1e300, HUGE_VAL};
    for (const double v : values) CHECK(value_of(key_of(v)) == v);
    for (std::size_t i = 1; i < std::size(values); i++) CHECK(key_of(values[i - 1]) < key_of(values[i]));
    CHECK(key_of(HUGE_VAL) < no_key);
}
