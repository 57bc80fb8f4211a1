// Minimal surface: the surface of least area over the unit square D with given values at the boundary,
//
//     f(v) = integral over D of sqrt(1 + |grad v|^2),   v = Enneper's surface at the boundary,
//
// where D = (-1/2, 1/2)^2. v is discretised by piecewise linear elements on nx x ny interior points. An evaluation
// loads one value per variable from memory and stores one.
//
// Start: the mean of the linear interpolants in x and in y of the boundary values. The function b of enneper.hpp
// describes these values: v = b(x) at the sides |y| = 1/2, and v = -b(y) at the sides |x| = 1/2. The values at opposite
// sides are equal, so the interpolants are -b(y) and b(x), and their mean is (b(x) - b(y)) / 2.
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Nitsche, Lectures on
// Minimal Surfaces 1 (1989).
#pragma once

#include "testfuncs/enneper.hpp"
#include "testfuncs/inverse_sqrt.hpp"
#include "testfuncs/triangles.hpp"

namespace cudaopt::testfuncs {

struct MinimalSurface : Defaults {
    static Facts facts() {
        return {"minimal-surface",
                "Minimal surface",
                "integral over the unit square of sqrt(1 + |grad v|^2), v = Enneper's surface at the boundary",
                "the mean of the linear interpolants in x and in y",
                "1.42135322 on 200 x 200 points",
                "a grid of interior points, the nearest square one to n",
                "MINPACK-2, MCS-P153-0692 (1992)",
                with_sides({})};
    }
    static Dimension fit(int64_t n, const Parameters &p) { return fit_grid(n, p); }
    MinimalSurface(int64_t n, const Parameters &p) : n(n), energy(grid_of(n, p)) {}

    double start(int64_t k) const {
        return (energy.side(energy.x(energy.grid.column(k))) - energy.side(energy.y(energy.grid.row(k)))) / 2;
    }
    std::string shape() const { return energy.grid.text() + " interior points"; }

    struct Area {
        CUDA_OPT_HD ElementEnergy operator()(double q) const {
            const double inverse = inverse_sqrt(1 + q);
            return {(1 + q) * inverse, 0.5 * inverse};
        }
    };

    struct Energy {
        Grid grid;
        EnneperSide side;
        Triangles<Area> every;

        explicit Energy(const Grid &grid) : grid(grid), every(triangles_of_unit_square(grid, 0, Area())) {}
        CUDA_OPT_HD double x(int64_t i) const { return static_cast<double>(i + 1) / every.per_hx - 0.5; }
        CUDA_OPT_HD double y(int64_t j) const { return static_cast<double>(j + 1) / every.per_hy - 0.5; }
        CUDA_OPT_HD double boundary(int64_t i, int64_t j) const {
            return j == -1 || j == grid.ny ? side(x(i)) : -side(y(j));
        }
        CUDA_OPT_HD const Triangles<Area> &column(int64_t) const { return every; }

        // Returns the area of the surface over the two triangles, in two corners of the domain, that contain no
        // interior point. Both triangles contribute the same area.
        double corners() const {
            const double slope_x = side(x(0)) * every.per_hx, slope_y = side(y(0)) * every.per_hy; // v = 0 at a corner
            return 2 * every.area * std::sqrt(1 + square(slope_x) + square(slope_y));
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(strips_of(energy.grid), Strip<Real, Energy>{x, g, energy.grid, energy},
                                    StoreSum{f, energy.corners()});
    }

    int64_t n;
    Energy energy;
};

} // namespace cudaopt::testfuncs
