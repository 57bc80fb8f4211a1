// Lennard-Jones clusters: N atoms in two or three dimensions,
//
//     f(p) = sum over pairs of atoms of r^-12 - 2 r^-6,   r = ||p_a - p_b||
//
// The variables are the atoms' coordinates, atom by atom. The gradient with respect to an atom is a sum over all other
// atoms. There are N (N - 1) such terms, so that arithmetic rather than memory traffic determines the time. f = Inf if
// atoms coincide. There are very many local minima.
//
// Start: a lattice of spacing 1, with k = floor(N^(1/dimensions)) atoms per side, except for the last side, which
// contains all remaining atoms. The centre of the lattice is the origin. MINPACK-2 places the first atom at the
// origin, but f is invariant under translation. A box [-L, L] contains the lattice if L >= (k - 1) / 2, and
// correspondingly for the last side; shape() returns the sides. [-1, 1] contains 9 atoms in two dimensions and 27 in
// three. With more atoms, the projection of the start into the box would make atoms coincide.
// Source: Averick, Carter, More, Xue, The MINPACK-2 Test Problem Collection, MCS-P153-0692 (1992); Hoare, Pal, Advances
// in Physics 20 (1971) 161.
#pragma once

#include "testfuncs/function.hpp"

#include <algorithm>

namespace cudaopt::testfuncs {

template <int dimensions> struct LennardJones : Defaults {
    static Facts facts() {
        const std::string d = std::to_string(dimensions);
        return {"lennard-jones-" + d + "d",
                "Lennard-Jones cluster in " + d + " dimensions",
                "sum over pairs of atoms of r^-12 - 2 r^-6",
                "a lattice of spacing 1 around the origin",
                dimensions == 2 ? "-1, -3 for 2, 3 atoms; -12.534867 for 7"
                                : "-1, -3, -6 for 2, 3, 4 atoms; -44.326801 for 13",
                "n / " + d + " atoms, the nearest whole number",
                "MINPACK-2, MCS-P153-0692 (1992)",
                {}};
    }
    static Dimension fit(int64_t n, const Parameters &) {
        constexpr int64_t least = 2 * dimensions;
        if (n < least)
            return {0, "n must be at least " + std::to_string(least) + ", two atoms, not " + std::to_string(n)};
        return {(n / dimensions + (n % dimensions * 2 > dimensions)) * dimensions, ""};
    }
    LennardJones(int64_t n, const Parameters &) : n(n), atoms(n / dimensions) {
        side = static_cast<int64_t>(std::pow(static_cast<double>(atoms) + 0.5, 1. / dimensions));
        const int64_t layer = dimensions == 2 ? side : side * side;
        last_side = (atoms + layer - 1) / layer;
    }

    double start(int64_t k) const {
        const int64_t atom = k / dimensions;
        const int axis = static_cast<int>(k % dimensions);
        const int64_t along = axis == 0 ? atom : axis == 1 ? atom / side : atom / (side * side);
        const bool last = axis == dimensions - 1;
        const double place = static_cast<double>(last ? along : along % side);
        return place - static_cast<double>((last ? last_side : side) - 1) / 2;
    }
    std::string shape() const {
        const std::string half_width = text_of(static_cast<double>(std::max(side, last_side) - 1) / 2);
        return std::to_string(atoms) + " atoms that start in [-" + half_width + ", " + half_width + "]";
    }

    template <class Real> struct Atom {
        const Real *x;
        Real *g;
        int64_t atoms;

        CUDA_OPT_HD void operator()(int64_t a, Sum &f) const {
            double here[dimensions], slope[dimensions];
            for (int axis = 0; axis < dimensions; axis++) {
                here[axis] = x[dimensions * a + axis];
                slope[axis] = 0;
            }
            double energy = 0;
            for (int64_t b = 0; b < atoms; b++) {
                double from_b[dimensions], r2 = 0;
                for (int axis = 0; axis < dimensions; axis++) {
                    from_b[axis] = here[axis] - x[dimensions * b + axis];
                    r2 += square(from_b[axis]);
                }
                if (b == a) continue;
                const double u = 1 / r2, u3 = u * u * u;
                energy += u3 * (u3 - 2);
                const double force = u * u3 * (u3 - 1);
                for (int axis = 0; axis < dimensions; axis++) slope[axis] += force * from_b[axis];
            }
            // The factor 1/2 is needed because every pair contributes twice.
            f.add(energy / 2);
            for (int axis = 0; axis < dimensions; axis++)
                g[dimensions * a + axis] = static_cast<Real>(-12 * slope[axis]);
        }
    };

    template <class Executor, class Real> void evaluate(Executor &on, const Real *x, double *f, Real *g) const {
        on.template map_reduce<Sum>(atoms, Atom<Real>{x, g, atoms}, StoreSum{f});
    }

    int64_t n, atoms, side, last_side;
};

} // namespace cudaopt::testfuncs
