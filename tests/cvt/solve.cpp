// The gradient agrees with the grid's energy, and a minimisation moves the sites to their centroids.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "cuda_opt.hpp"
#include "../support/configurations.hpp"
#include "../support/seed.hpp"
#include "apps/cvt/quality.hpp"
#include "apps/cvt/tessellation.hpp"

namespace cvt_solve {

using namespace cudaopt::testfuncs;
using namespace cudaopt::cvt;
using namespace cudaopt_test;

namespace {

struct Solved {
    int task;
    double f_start, f;
    std::vector<double> x;
    Cells cells;
};

// Until no site is further than the tolerance from its centroid, in mean distances of sites and for cells of mean mass.
template <class Configuration> Solved solve(Tessellation &grid, std::vector<double> start, double tolerance) {
    const int64_t n = 2 * grid.sites();
    cudaopt::Minimiser<double> s(n, 7, Configuration::backend);
    cudaopt::Array<double> x(s, start), g(s, n), f(s, 1);
    const cudaopt::Array<double> lower(s, std::vector<double>(start.size(), 0));
    const cudaopt::Array<double> upper(s, std::vector<double>(start.size(), 1));
    s.set_bounds(lower, upper);
    s.set_real(CUDA_OPT_EPS, 0);
    s.set_real(CUDA_OPT_PGTOL, tolerance * 2 * grid.mean_mass() / std::sqrt(static_cast<double>(grid.sites())));
    Place place;
    place.space = s.on_cuda() ? Place::Space::cuda : Place::Space::host;
    Solved solved = {0, 0, 0, {}, {}};
    while ((solved.task = s.solve(x, f, g)) == CUDA_OPT_EVALUATE_FG) {
        grid.evaluate(x.data(), f.data(), g.data(), place);
        if (solved.f_start == 0) solved.f_start = f.to_host()[0];
    }
    solved.f = s.get_real(CUDA_OPT_F);
    solved.x = x.to_host();
    grid.evaluate(x.data(), f.data(), g.data(), place);
    solved.cells = grid.cells();
    return solved;
}

} // namespace

TEST_CASE("The gradient agrees with differences of the grid's energy") {
    Tessellation grid(30, 64);
    const std::vector<double> x = grid.random_sites(cudaopt_test::seed(2));
    const auto evaluate = [&](const std::vector<double> &at, std::vector<double> &g) {
        double f;
        grid.evaluate(at.data(), &f, g.data(), Place());
        return f;
    };
    std::vector<double> g(x.size()), ignored(x.size());
    evaluate(x, g);
    constexpr double step = 1e-8; // hardly a pixel changes its cell
    for (std::size_t i = 0; i < x.size(); i++) {
        std::vector<double> up = x, down = x;
        up[i] += step;
        down[i] -= step;
        const double slope = (evaluate(up, ignored) - evaluate(down, ignored)) / (2 * step);
        CHECK(g[i] == Approx(slope).epsilon(1e-5).margin(1e-8));
    }
}

CONFIGURED_TEST_CASE("From a random start sites converge to their centroids with good triangles", "", HostDouble,
                     CudaDouble) {
    if (skipped<TestType>()) return;
    Tessellation grid(200, 256);
    const Solved solved = solve<TestType>(grid, grid.random_sites(cudaopt_test::seed(1)), 0.01);
    REQUIRE(solved.task == CUDA_OPT_CONVERGED);
    // The limits allow three times the median distance of eight starts from a regular hexagonal lattice, for which
    // f is 5 sqrt(3) / 54, the quality 1 and the angle 60 degrees. The start has about twice this f.
    CHECK(solved.f < 0.8 * solved.f_start);
    CHECK(solved.f * 200 < 1.08 * 5 * std::sqrt(3.) / 54);
    CHECK(solved.f * 200 > 5 * std::sqrt(3.) / 54);
    CHECK(solved.cells.empty == 0);
    double farthest = 0;
    for (std::size_t i = 0; i < solved.x.size(); i++)
        farthest = std::max(farthest, std::fabs(solved.x[i] - solved.cells.centroid[i]));
    CHECK(farthest * std::sqrt(200.) < 0.03); // the tolerance is 0.01 for a cell of mean mass
    if (!ExactDiagram::available()) return;
    const Quality quality = quality_of(ExactDiagram(solved.x), solved.x, true);
    CHECK(quality.mean_q > 0.71);
    CHECK(quality.mean_angle > 37);
}

CONFIGURED_TEST_CASE("Sites that coincide at the start are separated", "", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    Tessellation grid(50, 256);
    std::vector<double> x = grid.random_sites(cudaopt_test::seed(4));
    for (std::size_t k = 0; k < 12; k++) x[k] = 0.5;
    const Solved solved = solve<TestType>(grid, x, 0.02);
    CHECK(solved.cells.empty == 0);
    CHECK(solved.f * 50 < 1.15 * 5 * std::sqrt(3.) / 54);
}

CONFIGURED_TEST_CASE("The sites concentrate where the density is larger", "", HostDouble, CudaDouble) {
    if (skipped<TestType>()) return;
    Tessellation grid(100, 128, [](double x, double) { return x < 0.5 ? 1 : 16; });
    const std::vector<double> start = Tessellation(100, 128).random_sites(cudaopt_test::seed(1)); // spread evenly
    const Solved solved = solve<TestType>(grid, start, 0.05);
    const auto on_the_right = [](const std::vector<double> &x) {
        int count = 0;
        for (std::size_t k = 0; k < x.size(); k += 2) count += x[k] > 0.5;
        return count;
    };
    CHECK(on_the_right(solved.x) > on_the_right(start));
    CHECK(on_the_right(solved.x) < 80 + 5); // at the best, sites per area go like the root of the density
}

} // namespace cvt_solve
