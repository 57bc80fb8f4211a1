// Steady-state combustion (Bratu): the temperature v of a solid fuel, which is cooled at the boundary, minimises
//
//     f(v) = integral over D of |grad v|^2 / 2 - lambda e^v,   v = 0 at the boundary,   D = (0, 1) x (0, 1).
//
// v is discretised by piecewise linear elements on nx x ny interior points. The integral of e^v is approximated by the
// vertex rule, where the vertices on the boundary give the constant -lambda (1 - nx ny hx hy). f has no lower bound:
// its minimum near the start is a local one. An evaluation loads one value per variable from memory and stores one.
//
// Parameter: 0 < lambda < 6.808, the Frank-Kamenetski parameter, by default 5. For a larger lambda there is no steady
// state.
// Start: lambda / (lambda + 1) sqrt(dist(x, boundary)).
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Aris, The
// Mathematical Theory of Diffusion and Reaction in Permeable Catalysts (1975).
#pragma once

#include "testfuncs/edges.hpp"

namespace cudaopt::testfuncs {

struct Combustion : Defaults {
    static Facts facts() {
        return {"combustion",
                "Steady-state combustion",
                "integral over the unit square of |grad v|^2 / 2 - lambda e^v",
                "lambda / (lambda + 1) sqrt(distance to the boundary)",
                "-5.61144851, a local one, on 200 x 200 points with lambda = 5; f has no lower bound",
                "a grid of interior points, the nearest square one to n",
                "MINPACK-2, MCS-P153-0692 (1992)",
                with_sides({{"lambda", 5, 0, 6.808, "Frank-Kamenetski parameter"}})};
    }
    static Dimension fit(int64_t n, const Parameters &p) { return fit_grid(n, p); }
    Combustion(int64_t n, const Parameters &p) : n(n), grid(grid_of(n, p)), lambda(p.at("lambda")) {}

    double start(int64_t i) const { return lambda / (lambda + 1) * std::sqrt(grid.distance_to_boundary(i)); }
    std::string shape() const { return grid.text() + " interior points"; }

    struct Fuel {
        double heat; // lambda hx hy
        CUDA_OPT_HD NodeEnergy operator()(double v) const {
            const double released = heat * std::exp(v);
            return {-released, -released};
        }
    };

    struct Energy : ZeroBoundary {
        EdgeColumn<Fuel> every;
        CUDA_OPT_HD const EdgeColumn<Fuel> &column(int64_t) const { return every; }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        const double hx = 1 / static_cast<double>(grid.nx + 1), hy = 1 / static_cast<double>(grid.ny + 1);
        const Energy energy = {{}, {hy / hx, hy / hx, hx / hy, {lambda * hx * hy}}};
        const double of_boundary = -lambda * (1 - static_cast<double>(n) * hx * hy);
        on.template map_reduce<Sum>(strips_of(grid), Strip<Real, Energy>{x, g, grid, energy}, StoreSum{f, of_boundary});
    }

    int64_t n;
    Grid grid;
    double lambda;
};

} // namespace cudaopt::testfuncs
