// Pressure distribution in a journal bearing: the pressure v of a film of lubricant between two circular cylinders
// minimises
//
//     f(v) = integral over D of w(x) |grad v|^2 / 2 - epsilon sin(x) v,   w(x) = (1 + epsilon cos x)^3,   v >= 0,
//
// where D = (0, 2 pi) x (0, 2 b), and v = 0 at the boundary. v is discretised by piecewise linear elements on nx x ny
// interior points, and the integrals of w and of the load epsilon sin(x) v are approximated by the vertex rule. Each
// edge of the mesh has as its weight the mean of w over the two triangles at that edge. With w_i = w(i hx) the weights
// are
//
//     between columns i and i + 1: (w_i + w_{i+1}) / 2 hy / hx
//     within column i:             (w_{i-1} + 4 w_i + w_{i+1}) / 6 hx / hy
//
// An evaluation loads one value per variable from memory and stores one.
//
// Parameters: 0 < epsilon < 1, the eccentricity, by default 0.1; b > 0, by default 10. Start: max(sin x, 0).
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Cimatti, Applied
// Mathematics and Optimization 3 (1977) 227.
#pragma once

#include "testfuncs/angle.hpp"
#include "testfuncs/edges.hpp"

#include <algorithm>

namespace cudaopt::testfuncs {

struct Bearing : Defaults {
    static Facts facts() {
        return {"bearing",
                "Pressure distribution in a journal bearing",
                "integral over (0, 2 pi) x (0, 2 b) of (1 + epsilon cos x)^3 |grad v|^2 / 2 - epsilon sin(x) v, v >= 0",
                "max(sin x, 0)",
                "-0.18059754 on 200 x 200 points with epsilon = 0.1, b = 10",
                "a grid of interior points, the nearest square one to n",
                "MINPACK-2, MCS-P153-0692 (1992)",
                with_sides({{"epsilon", 0.1, 0, 1, "eccentricity"}, {"b", 10, 0, INFINITY, "half the width"}})};
    }
    static Dimension fit(int64_t n, const Parameters &p) { return fit_grid(n, p); }
    Bearing(int64_t n, const Parameters &p)
        : n(n), grid(grid_of(n, p)), hx(2 * pi / static_cast<double>(grid.nx + 1)),
          hy(2 * p.at("b") / static_cast<double>(grid.ny + 1)), epsilon(p.at("epsilon")) {}

    static constexpr bool bounded = true;
    double lower(int64_t) const { return 0; }
    double start(int64_t k) const { return std::max(std::sin(static_cast<double>(grid.column(k) + 1) * hx), 0.); }
    std::string shape() const { return grid.text() + " interior points"; }

    struct Energy : ZeroBoundary {
        double hx, hy, epsilon;
        Angle step; // hx

        // Returns the weight w(x) = (1 + epsilon cos x)^3, given the cosine of x.
        CUDA_OPT_HD double film(double cosine) const {
            const double thickness = 1 + epsilon * cosine;
            return thickness * thickness * thickness;
        }
        CUDA_OPT_HD EdgeColumn<LinearNode> column(int64_t i) const {
            const Angle x(static_cast<double>(i + 1) * hx);
            const double w = film(x.cos);
            const double w_left = film(x.cos * step.cos + x.sin * step.sin);
            const double w_right = film(x.cos * step.cos - x.sin * step.sin);
            return {(w_left + w) / 2 * (hy / hx),
                    (w + w_right) / 2 * (hy / hx),
                    (w_left + 4 * w + w_right) / 6 * (hx / hy),
                    {-epsilon * hx * hy * x.sin}};
        }
    };

    Energy energy() const { return {{}, hx, hy, epsilon, Angle(hx)}; }

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(strips_of(grid), Strip<Real, Energy>{x, g, grid, energy()}, StoreSum{f});
    }

    int64_t n;
    Grid grid;
    double hx, hy, epsilon;
};

} // namespace cudaopt::testfuncs
