// One evaluation has the same bits in each run, with any number of threads, on the host and on CUDA.
#include <catch2/catch.hpp>

#include <string>

#include "../support/configurations.hpp"
#include "../support/seed.hpp"
#include "cuda_opt.hpp"
#include "apps/cvt/tessellation.hpp"

using namespace cudaopt::testfuncs;
using namespace cudaopt::cvt;

namespace {

struct Values {
    double f;
    std::vector<double> g;
    Cells cells;
};

Values on_host(Tessellation &grid, const std::vector<double> &x, int threads = 0) {
    Values values = {0, std::vector<double>(x.size()), {}};
    Place place;
    place.threads = threads;
    grid.evaluate(x.data(), &values.f, values.g.data(), place);
    values.cells = grid.cells();
    return values;
}

Values on_cuda(Tessellation &grid, const std::vector<double> &x) {
    const cudaopt::Minimiser<double> s(static_cast<int64_t>(x.size()), 3, CUDA_OPT_BACKEND_CUDA);
    const cudaopt::Array<double> device_x(s, x), g(s, device_x.size()), f(s, 1);
    Place place;
    place.space = Place::Space::cuda;
    grid.evaluate(device_x.data(), f.data(), g.data(), place);
    return {f.to_host()[0], g.to_host(), grid.cells()};
}

void check_equal(const Values &a, const Values &b) {
    CHECK(a.f == b.f);
    CHECK(a.g == b.g);
    CHECK(a.cells.site == b.cells.site);
    CHECK(a.cells.mass == b.cells.mass);
    CHECK(a.cells.centroid == b.cells.centroid);
    CHECK(a.cells.empty == b.cells.empty);
}

struct Case {
    int64_t sites, resolution;
    std::string density;
};
const Case cases[] = {{1, 1, "constant"},     {1, 100, "constant"},   {300, 100, "constant"},   {10000, 100, "waves"},
                      {500, 512, "constant"}, {700, 512, "gaussian"}, {70000, 300, "constant"}, {3000, 777, "linear"}};

} // namespace

TEST_CASE("On the host an evaluation has the same bits in each run and with 1 to 3 threads") {
    for (const Case &now : cases) {
        CAPTURE(now.sites, now.resolution, now.density);
        Tessellation grid(now.sites, now.resolution, make_density(now.density));
        const std::vector<double> x = grid.random_sites(cudaopt_test::seed(3));
        const Values one = on_host(grid, x, 1);
        check_equal(one, on_host(grid, x, 1));
        check_equal(one, on_host(grid, x, 2));
        check_equal(one, on_host(grid, x, 3));
    }
}

TEST_CASE("On CUDA an evaluation has the same bits as on the host in each run") {
    if (cudaopt_test::skipped<cudaopt_test::CudaDouble>()) return;
    for (const Case &now : cases) {
        CAPTURE(now.sites, now.resolution, now.density);
        Tessellation grid(now.sites, now.resolution, make_density(now.density)),
            again = {now.sites, now.resolution, make_density(now.density)};
        std::vector<double> x = grid.random_sites(cudaopt_test::seed(3));
        if (now.sites >= 300) // coinciding sites, sites in one pixel, sites in the corners
            for (std::size_t k = 0; k < 100; k++)
                x[k] = k < 40 ? 0.25 : k < 80 ? 0.75 + 1e-5 * static_cast<double>(k) : 1;
        const Values host = on_host(grid, x);
        check_equal(host, on_cuda(again, x));
        check_equal(host, on_cuda(again, x));
    }
}

TEST_CASE("Without CUDA or a device an evaluation on CUDA is refused with a message") {
    if (cudaopt_test::unavailable(CUDA_OPT_BACKEND_CUDA).empty()) return;
    Tessellation grid(2, 8);
    double x[4] = {0.2, 0.2, 0.8, 0.8}, f, g[4];
    Place place;
    place.space = Place::Space::cuda;
    CHECK_THROWS_WITH(grid.evaluate(x, &f, g, place), Catch::Contains("CUDA"));
}
