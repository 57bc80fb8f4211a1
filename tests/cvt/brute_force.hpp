// The definition of the grid by brute force: each pixel is compared with all sites in double precision.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace cudaopt_test {

struct BruteForce {
    std::vector<std::size_t> site; // of each pixel
    double f = 0;
    std::vector<double> g;

    template <class Density>
    BruteForce(const std::vector<double> &x, int resolution, const Density &rho) : g(x.size()) {
        const double h = 1. / resolution;
        for (int j = 0; j < resolution; j++)
            for (int i = 0; i < resolution; i++) {
                const double px = (i + 0.5) * h, py = (j + 0.5) * h;
                std::size_t nearest = 0;
                double least = std::numeric_limits<double>::infinity();
                for (std::size_t k = 0; k < x.size(); k += 2) {
                    const double d = (px - x[k]) * (px - x[k]) + (py - x[k + 1]) * (py - x[k + 1]);
                    if (d < least) {
                        least = d;
                        nearest = k;
                    }
                }
                const double mass = rho(px, py) * h * h;
                site.push_back(nearest / 2);
                f += mass * least;
                g[nearest] += 2 * mass * (x[nearest] - px);
                g[nearest + 1] += 2 * mass * (x[nearest + 1] - py);
            }
    }
    BruteForce(const std::vector<double> &x, int resolution)
        : BruteForce(x, resolution, [](double, double) { return 1.; }) {}
};

} // namespace cudaopt_test
