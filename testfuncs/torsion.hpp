// Elastic-plastic torsion: the stress potential v of an infinitely long bar of square cross-section D under torsion
// minimises
//
//     f(v) = integral over D of |grad v|^2 / 2 - c v,   v = 0 at the boundary,   |v(x)| <= dist(x, boundary of D),
//
// where D = (0, 1) x (0, 1). v is discretised by piecewise linear elements on nx x ny interior points, and the integral
// of the load c v is approximated by the vertex rule. The bar is plastic where the bound is active. An evaluation
// loads one value per variable from memory and stores one.
//
// Parameter: c > 0, the angle of twist per unit of length, by default 5. Start: the upper bound, dist(x, boundary).
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Glowinski,
// Numerical Methods for Nonlinear Variational Problems (1984).
#pragma once

#include "testfuncs/edges.hpp"

namespace cudaopt::testfuncs {

struct Torsion : Defaults {
    static Facts facts() {
        return {"torsion",
                "Elastic-plastic torsion",
                "integral over the unit square of |grad v|^2 / 2 - c v, |v| <= distance to the boundary",
                "the distance to the boundary",
                "-0.41846866 on 200 x 200 points with c = 5",
                "a grid of interior points, the nearest square one to n",
                "MINPACK-2, MCS-P153-0692 (1992)",
                with_sides({{"c", 5, 0, INFINITY, "angle of twist"}})};
    }
    static Dimension fit(int64_t n, const Parameters &p) { return fit_grid(n, p); }
    Torsion(int64_t n, const Parameters &p) : n(n), grid(grid_of(n, p)), c(p.at("c")) {}

    static constexpr bool bounded = true;
    double lower(int64_t i) const { return -grid.distance_to_boundary(i); }
    double upper(int64_t i) const { return grid.distance_to_boundary(i); }
    double start(int64_t i) const { return grid.distance_to_boundary(i); }
    std::string shape() const { return grid.text() + " interior points"; }

    struct Energy : ZeroBoundary {
        EdgeColumn<LinearNode> every;
        CUDA_OPT_HD const EdgeColumn<LinearNode> &column(int64_t) const { return every; }
    };

    Energy energy() const {
        const double hx = 1 / static_cast<double>(grid.nx + 1), hy = 1 / static_cast<double>(grid.ny + 1);
        return {{}, {hy / hx, hy / hx, hx / hy, {-c * hx * hy}}};
    }

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(strips_of(grid), Strip<Real, Energy>{x, g, grid, energy()}, StoreSum{f});
    }

    int64_t n;
    Grid grid;
    double c;
};

} // namespace cudaopt::testfuncs
