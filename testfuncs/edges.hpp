// Energies on a triangulation in which the energy of each triangle is a multiple of |grad v|^2. The terms of the
// triangles can then be rearranged as sums over edges and points,
//
//     f(v) = sum over edges (a, b) of weight / 2 (v_b - v_a)^2 + sum over points of energy(v_p),   v = 0 outside,
//
// and the gradient is a five-point stencil. Here f is computed as a sum of squares over edges rather than as a
// quadratic form v' A v with the stencil's matrix A, because near the minimum v' A v is a small sum of large terms. The
// contribution of a point consists of its edges to the right and upwards, its edges to the boundary, and its own
// energy.
#pragma once

#include "testfuncs/strips.hpp"

namespace cudaopt::testfuncs {

// The data that the points of one grid column share: the weights of their edges, and `node`, a function that maps v to
// the value and the slope of a point's own energy.
template <class Node> struct EdgeColumn {
    double left, right, vertical;
    Node node;

    CUDA_OPT_HD void enter(const Neighbourhood &) {}
    CUDA_OPT_HD double operator()(const Sides &sides, const Neighbourhood &v, Sum &f) const {
        const double to_right = v.right - v.here, to_left = v.left - v.here;
        const double upwards = v.above - v.here, downwards = v.below - v.here;
        const double horizontal_squares = right * square(to_right) + (sides.leftmost ? left * square(to_left) : 0);
        const double vertical_squares = square(upwards) + (sides.lowest ? square(downwards) : 0);
        const auto own = node(v.here);
        f.add(0.5 * (horizontal_squares + vertical * vertical_squares) + own.value);
        return own.slope - (right * to_right + left * to_left + vertical * (upwards + downwards));
    }
};

struct NodeEnergy {
    double value, slope;
};

// The energy load * v.
struct LinearNode {
    double load;
    CUDA_OPT_HD NodeEnergy operator()(double v) const { return {load * v, load}; }
};

} // namespace cudaopt::testfuncs
