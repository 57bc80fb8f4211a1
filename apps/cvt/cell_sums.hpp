// Masses, centroids and energies of the cells of a grid by sums of whole numbers, which are the same in any order.
//
// With q_p the density at pixel p in whole levels, and u_p the whole vector from the pixel in which site i lies to p,
// cell i has
//
//     M = sum q_p,   U = sum q_p u_p,   W = sum q_p |u_p|^2.
//
// With o_i the vector from that pixel's centre to the site, in pixels, and h = 1 / resolution,
//
//     sum rho |p - x_i|^2 h^2 = level h^4 (W - 2 o_i U + |o_i|^2 M),   gradient = 2 level h^3 (o_i M - U),
//     m_i = level h^2 M,   c_i = centre + h U / M.
//
// Nothing is rounded before these last lines. No sum overflows: W is largest where a single site in a corner has all
// pixels, 2/3 levels resolution^4 at most, and most_levels() keeps this below 2^64; |U| and M are smaller.
#pragma once

#include "apps/cvt/packing.hpp"

namespace cudaopt::cvt {

constexpr int32_t most_resolution = 16384;

// How many levels above zero a density can have: at least 255, at most what 16 bits hold.
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

// From the sums to energy and gradient; the sites' coordinates are x_0, y_0, x_1, y_1, ...
struct CellRule {
    Packing packing;
    double gradient_scale; // 2 level h^3
    const CellSums *sums;
    const double *x;
    double *g;

    // o in one direction.
    CUDA_OPT_HD double offset(double coordinate) const {
        return coordinate * packing.resolution - (packing.pixel(packing.fixed(coordinate)) + 0.5);
    }
    // Write the gradient with respect to site i and return the energy of its cell, without level h^4.
    CUDA_OPT_HD double operator()(int64_t i) const {
        const CellSums &s = sums[i];
        const double mass = static_cast<double>(s.mass), ux = static_cast<double>(s.x), uy = static_cast<double>(s.y);
        const double ox = offset(x[2 * i]), oy = offset(x[2 * i + 1]);
        g[2 * i] = gradient_scale * (ox * mass - ux);
        g[2 * i + 1] = gradient_scale * (oy * mass - uy);
        return static_cast<double>(s.square) - 2 * (ox * ux + oy * uy) + (ox * ox + oy * oy) * mass;
    }
};

// The cells' energies are summed in rounds of 256, each as a binary tree, and those of the rounds by 256 lanes and a
// tree: an order that the host can follow.
constexpr int lanes = 256;

} // namespace cudaopt::cvt
