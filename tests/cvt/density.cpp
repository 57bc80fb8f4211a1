// Densities: levels, masses, images, the random start.
#include "apps/cvt/density.hpp"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "../support/seed.hpp"
#include "brute_force.hpp"
#include "apps/cvt/cell_sums.hpp"
#include "apps/cvt/tessellation.hpp"

using namespace cudaopt::testfuncs;
using namespace cudaopt::cvt;
using cudaopt_test::BruteForce;

namespace {

// A file that goes when the test ends.
struct Image {
    std::string path = std::filesystem::temp_directory_path() / ("cvt-" + std::to_string(getpid()) + ".pgm");
    explicit Image(const std::string &content) { std::ofstream(path, std::ios::binary) << content; }
    ~Image() { std::remove(path.c_str()); }
};

} // namespace

TEST_CASE("With a density the energy and gradient and masses agree with brute force") {
    constexpr int resolution = 128;
    for (const char *const name : {"linear", "gaussian", "waves"}) {
        const Density density = make_density(name);
        Tessellation grid(40, resolution, density);
        const std::vector<double> x = grid.random_sites(cudaopt_test::seed(1));
        const BruteForce brute(x, resolution, density);
        double f;
        std::vector<double> g(x.size());
        grid.evaluate(x.data(), &f, g.data(), Place());
        CAPTURE(name);
        // A density is rounded to one of 65535 levels.
        CHECK(std::fabs(f - brute.f) <= BruteForce(x, resolution).f / 65535);
        double largest = 0;
        for (const double value : brute.g) largest = std::max(largest, std::fabs(value));
        for (std::size_t i = 0; i < g.size(); i++) CHECK(g[i] == Approx(brute.g[i]).margin(1e-4 * largest));

        const Cells cells = grid.cells();
        const double mass = std::accumulate(cells.mass.begin(), cells.mass.end(), 0.);
        CHECK(mass == Approx(40 * grid.mean_mass()).epsilon(1e-12));
        for (std::size_t i = 0; i < g.size(); i++)
            CHECK(g[i] == Approx(2 * cells.mass[i / 2] * (x[i] - cells.centroid[i])).margin(1e-12 * largest));
    }
}

TEST_CASE("The levels of a density keep the sums below 2^64 at every resolution") {
    for (const int32_t resolution : {1, 2, 100, 512, 4096, 4097, 8192, 8193, most_resolution}) {
        const double r = resolution, largest = most_levels(resolution) * 2 / 3. * r * r * r * r;
        CAPTURE(resolution);
        CHECK(largest < std::ldexp(1., 64));
        CHECK(most_levels(resolution) >= 255);
    }
    // The sum itself, of a row of the largest grid whose site lies in the far corner.
    CellSums sums;
    const int32_t last = most_resolution - 1;
    for (int32_t x = 0; x <= last; x++) sums.add(255, -x, -last);
    const double rows = most_resolution, exact = 255 * rows * (1. * last * last + last * (2. * last + 1) / 6);
    CHECK(static_cast<double>(sums.square) == Approx(exact).epsilon(1e-14));
    CHECK(exact * rows < std::ldexp(1., 64) * 2); // all rows as heavy as the farthest: the bound above has the sum
}

TEST_CASE("Plain and raw PGM images of one and two bytes are read with the upper row first") {
    for (const std::string &content : {std::string("P2\n# a comment\n2 2\n100\n100 50 # another\n 0 20\n"),
                                       std::string("P5 2 2 100\n\x64\x32\x00\x14", 15),
                                       std::string("P5 2 2 1000\n\x03\xe8\x01\xf4\x00\x00\x00\xc8", 20)}) {
        const Image image(content);
        const Density density = make_density(image.path);
        CHECK(density(0.2, 0.9) == 1);
        CHECK(density(0.7, 0.6) == 0.5);
        CHECK(density(0.49, 0.1) == 0);
        CHECK(density(0.51, 0.49) == 0.2);
        CHECK(density(0, 1) == 1);
        CHECK(density(1, 0) == 0.2);
    }
}

TEST_CASE("A random start is distributed as the density and depends only on its seed") {
    const Tessellation grid(2000, 64, make_density("linear"));
    const std::vector<double> x = grid.random_sites(cudaopt_test::seed(7));
    CHECK(x == grid.random_sites(cudaopt_test::seed(7)));
    CHECK(x != grid.random_sites(cudaopt_test::seed(8)));
    double mean_x = 0, mean_y = 0;
    for (std::size_t k = 0; k < x.size(); k += 2) {
        mean_x += x[k] / 2000;
        mean_y += x[k + 1] / 2000;
        CHECK((x[k] > 0 && x[k] < 1 && x[k + 1] > 0 && x[k + 1] < 1));
    }
    CHECK(mean_x == Approx(2. / 3).margin(0.03)); // five standard deviations
    CHECK(mean_y == Approx(0.5).margin(0.033));
}

TEST_CASE("Invalid sizes and densities are refused with a message") {
    using Catch::Contains;
    CHECK_THROWS_WITH(Tessellation(0, 8), Contains("at least one, not 0"));
    CHECK_THROWS_WITH(Tessellation(65, 8), Contains("65 are more than the 64 pixels"));
    CHECK_THROWS_WITH(Tessellation(1, 0), Contains("from 1 to 16384"));
    CHECK_THROWS_WITH(Tessellation(1, 16385), Contains("from 1 to 16384"));
    CHECK_THROWS_WITH(Tessellation(1, 8, [](double, double) { return 0.; }), Contains("zero at all pixels"));
    CHECK_THROWS_WITH(Tessellation(1, 8, [](double x, double) { return x - 0.5; }), Contains("not negative"));
    CHECK_THROWS_WITH(Tessellation(1, 8, [](double x, double) { return 1 / (x - 0.0625); }), Contains("finite"));
    CHECK_THROWS_WITH(make_density("none"), Contains("there is no 'none'"));
    CHECK_THROWS_WITH(make_density("/nonexistent/a.pgm"), Contains("cannot be read"));
}
