// Optimal design with composites: two elastic materials are placed in a bar of square cross-section D such that its
// torsional rigidity is greatest. The stress potential v minimises
//
//     f(v) = integral over D of psi(|grad v|) + v,   v = 0 at the boundary,   D = (0, 1) x (0, 1),
//
//     psi(t) = mu2 t^2 / 2                         for t <= t1,           t1 = sqrt(2 lambda mu1 / mu2)
//              mu2 t1 (t - t1 / 2)                 for t1 <= t <= t2,     t2 = sqrt(2 lambda mu2 / mu1)
//              mu1 t^2 / 2 + lambda (mu2 - mu1)    for t2 <= t,
//
// where mu1 = 1 and mu2 = 2 are the reciprocal shear moduli of the materials. v is discretised by piecewise linear
// elements on nx x ny interior points, and the integral of v is approximated by the vertex rule. psi is continuously
// differentiable; 2 dpsi/d(t^2) is mu2 t1 / t, limited to the range from mu1 to mu2. An evaluation loads one value per
// variable from memory and stores one.
//
// Parameter: 0 < lambda < 1, a Lagrange multiplier, by default 0.008. Start: -dist(x, boundary)^2.
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Goodman, Kohn,
// Reyna, Computer Methods in Applied Mechanics and Engineering 57 (1986) 107.
#pragma once

#include "testfuncs/inverse_sqrt.hpp"
#include "testfuncs/triangles.hpp"

namespace cudaopt::testfuncs {

struct OptimalDesign : Defaults {
    static Facts facts() {
        return {"optimal-design",
                "Optimal design with composites",
                "integral over the unit square of psi(|grad v|) + v, psi quadratic, linear, quadratic",
                "-(distance to the boundary)^2",
                "-0.01138130 on 200 x 200 points with lambda = 0.008",
                "a grid of interior points, the nearest square one to n",
                "MINPACK-2, MCS-P153-0692 (1992)",
                with_sides({{"lambda", 0.008, 0, 1, "Lagrange multiplier"}})};
    }
    static Dimension fit(int64_t n, const Parameters &p) { return fit_grid(n, p); }
    OptimalDesign(int64_t n, const Parameters &p) : n(n), grid(grid_of(n, p)), lambda(p.at("lambda")) {}

    double start(int64_t i) const { return -square(grid.distance_to_boundary(i)); }
    std::string shape() const { return grid.text() + " interior points"; }

    static constexpr double mu1 = 1, mu2 = 2;

    struct Psi {
        double t1, t2, lambda;
        CUDA_OPT_HD ElementEnergy operator()(double q) const {
            const double per_t = inverse_sqrt(q);
            if (q <= t1 * t1) return {mu2 / 2 * q, mu2 / 2};
            if (q >= t2 * t2) return {mu1 / 2 * q + lambda * (mu2 - mu1), mu1 / 2};
            return {mu2 * t1 * (q * per_t - t1 / 2), mu2 * t1 / 2 * per_t};
        }
    };

    struct Energy : ZeroBoundary {
        Triangles<Psi> every;
        CUDA_OPT_HD const Triangles<Psi> &column(int64_t) const { return every; }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        const double hxhy = 1 / static_cast<double>((grid.nx + 1) * (grid.ny + 1));
        const Psi psi = {std::sqrt(2 * lambda * mu1 / mu2), std::sqrt(2 * lambda * mu2 / mu1), lambda};
        const Energy energy = {{}, triangles_of_unit_square(grid, hxhy, psi)};
        on.template map_reduce<Sum>(strips_of(grid), Strip<Real, Energy>{x, g, grid, energy}, StoreSum{f});
    }

    int64_t n;
    Grid grid;
    double lambda;
};

} // namespace cudaopt::testfuncs
