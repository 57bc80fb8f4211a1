// Energies whose elements all have |grad v|^2: then the triangles' terms can be collected by edges and nodes,
//
//     f(v) = sum over edges (a, b) of weight / 2 (v_b - v_a)^2 + sum over points of energy(v_p),   v = 0 outside,
//
// and the gradient is a five-point stencil. The edges' squares are summed rather than v' A v: near the minimum that
// product is a small sum of large terms. A point's share of f is its edges to the right and upwards, its edges to the
// boundary, and its own energy.
#pragma once

#include "testfuncs/strips.hpp"

namespace cudaopt::testfuncs {

// A column's points: the weights of their edges, and their own energy v -> {value, slope}.
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

// A load: load * v.
struct LinearNode {
    double load;
    CUDA_OPT_HD NodeEnergy operator()(double v) const { return {load * v, load}; }
};

} // namespace cudaopt::testfuncs
