// Masses, centroids and energies of the Voronoi cells on a grid. They are computed from sums of integers, so that the
// results do not depend on the order of summation.
//
// The density at pixel p is q_p level, where q_p is an integer and the number `level` is the same for all pixels. Let
// u_p be the vector, in pixels, from the pixel that contains site i to pixel p; its components are integers. The sums
// over the pixels p of cell i are
//
//     M = sum q_p,   U = sum q_p u_p,   W = sum q_p |u_p|^2.
//
// Let o_i be the vector, in pixels, from the centre of the pixel that contains site i to the site. o_i'U denotes the
// inner product, and h = 1 / resolution. Then the energy and the gradient of the cell, its mass m_i and its centroid
// c_i are
//
//     sum rho |p - x_i|^2 h^2 = level h^4 (W - 2 o_i'U + |o_i|^2 M),   gradient = 2 level h^3 (o_i M - U),
//     m_i = level h^2 M,   c_i = centre + h U / M.
//
// Rounding occurs only in these two lines. No sum overflows: W is largest if a single site lies in a corner of the
// square and its cell contains all pixels. W is then at most 2/3 q resolution^4, where q is the largest q_p. The
// function most_levels() limits q so that this is below 2^64. |U| and M are smaller.
#pragma once

#include "apps/cvt/packing.hpp"

namespace cudaopt::cvt {

constexpr int32_t most_resolution = 16384;

// Returns the largest integer q_p (density in units of `level`) that is allowed at a pixel. It is at least 255, and at
// most 65535, the largest 16-bit number.
inline int32_t most_levels(int32_t resolution) {
    const int bits = 64 - 4 * Packing::bits_of(resolution - 1);
    return (1 << (bits < 16 ? bits : 16)) - 1;
}

struct CellSums {
    uint64_t mass = 0;    // M
    int64_t x = 0, y = 0; // U
    uint64_t square = 0;  // W

    CUDA_OPT_HD void add(uint32_t weight, int32_t ux, int32_t uy) {
        mass += weight;
        x += int64_t(weight) * ux;
        y += int64_t(weight) * uy;
        square += uint64_t(weight) * (uint64_t(int64_t(ux) * ux) + uint64_t(int64_t(uy) * uy));
    }
};

// Computes the energy and the gradient from the sums of the cells (see the beginning of the file). The coordinates of
// the sites are stored as x_0, y_0, x_1, y_1, ...
struct CellRule {
    Packing packing;
    double gradient_scale; // 2 level h^3
    const CellSums *sums;
    const double *x;
    double *g;

    // Returns one component of the vector o from the centre of the site's pixel to the site, in pixels.
    CUDA_OPT_HD double offset(double coordinate) const {
        return coordinate * packing.resolution - (packing.pixel(packing.fixed(coordinate)) + 0.5);
    }
    // Writes the gradient with respect to site i and returns the energy of its cell, without the factor level h^4.
    CUDA_OPT_HD double operator()(int64_t i) const {
        const CellSums &s = sums[i];
        const double mass = static_cast<double>(s.mass), ux = static_cast<double>(s.x), uy = static_cast<double>(s.y);
        const double ox = offset(x[2 * i]), oy = offset(x[2 * i + 1]);
        g[2 * i] = gradient_scale * (ox * mass - ux);
        g[2 * i + 1] = gradient_scale * (oy * mass - uy);
        return static_cast<double>(s.square) - 2 * (ox * ux + oy * uy) + (ox * ox + oy * oy) * mass;
    }
};

// The energies of the cells are added in a fixed order, which host and CUDA share. Each group of 256 consecutive cells
// is summed by a binary tree. The sums of the groups are distributed cyclically over 256 partial sums ("lanes"), which
// are then summed by a binary tree.
constexpr int lanes = 256;

} // namespace cudaopt::cvt
