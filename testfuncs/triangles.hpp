// Energies that are a sum over the triangles of a mesh, whose terms depend on the gradient of v, and of a linear term:
//
//     f(v) = sum over triangles of area * phi(|grad v|^2) + load * sum over points of v_p
//
// A point is a corner of six triangles. "Lower" triangles have their right angle at the lower left, "upper" ones at the
// upper right. The contribution of a point to f consists of the lower and the upper triangle with the right angle at
// the point itself and, at the sides of the domain, those with their right angle on the boundary. The two triangles at
// the lower left and upper right corner of the domain contain no interior point and add a constant.
//
// Two of the six triangles at a point also belong to the next point in the column, so that only four are computed per
// point.
#pragma once

#include "testfuncs/strips.hpp"

namespace cudaopt::testfuncs {

// The values of phi and of its derivative at one triangle of the mesh.
struct ElementEnergy {
    double value, slope;
};

// Evaluates the energy and the gradient at the points of a column. Phi is a function that maps q = |grad v|^2 to an
// ElementEnergy.
template <class Phi> struct Triangles {
    double per_hx, per_hy, area; // 1 / hx, 1 / hy, hx hy / 2
    // The linear term of f is the sum of load * v over the points.
    double load;
    Phi phi;
    // The two triangles that a point shares with the point below it in the column: the lower triangle of the point
    // below and the upper triangle of the point itself. enter() or the evaluation of the point below stores them.
    ElementEnergy below_lower = {0, 0}, upper = {0, 0};

    CUDA_OPT_HD void enter(const Neighbourhood &v) {
        const double below = (v.here - v.below) * per_hy;
        below_lower = phi(square((v.below_right - v.below) * per_hx) + square(below));
        upper = phi(square((v.here - v.left) * per_hx) + square(below));
    }

    CUDA_OPT_HD double operator()(const Sides &sides, const Neighbourhood &v, Sum &f) {
        const double right = (v.right - v.here) * per_hx, left = (v.here - v.left) * per_hx;
        const double above = (v.above - v.here) * per_hy, below = (v.here - v.below) * per_hy;

        const ElementEnergy lower = phi(square(right) + square(above));
        const ElementEnergy left_lower = phi(square(left) + square((v.above_left - v.left) * per_hy));
        const ElementEnergy right_upper = phi(square(right) + square((v.right - v.below_right) * per_hy));
        const ElementEnergy above_upper = phi(square((v.above - v.above_left) * per_hx) + square(above));

        double energy = lower.value + upper.value;
        if (sides.leftmost) energy += left_lower.value;
        if (sides.lowest) energy += below_lower.value;
        if (sides.rightmost) energy += right_upper.value;
        if (sides.highest) energy += above_upper.value;
        f.add(area * energy + load * v.here);

        const double horizontal = left * (upper.slope + left_lower.slope) - right * (lower.slope + right_upper.slope);
        const double vertical = below * (upper.slope + below_lower.slope) - above * (lower.slope + above_upper.slope);
        below_lower = lower;
        upper = above_upper;
        return 2 * area * (horizontal * per_hx + vertical * per_hy) + load;
    }
};

template <class Phi> Triangles<Phi> triangles_of_unit_square(const Grid &grid, double load, const Phi &phi) {
    const auto per_hx = static_cast<double>(grid.nx + 1), per_hy = static_cast<double>(grid.ny + 1);
    return {per_hx, per_hy, 0.5 / (per_hx * per_hy), load, phi};
}

} // namespace cudaopt::testfuncs
