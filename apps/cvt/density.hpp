// Densities on the unit square.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cudaopt::cvt {

// rho(x, y) >= 0; empty: constant, 1.
using Density = std::function<double(double x, double y)>;

// A density's name and formula.
struct NamedDensity {
    const char *name, *formula;
};
std::vector<NamedDensity> list_densities();

// By name, or from a file NAME.pgm, plain (P2) or raw (P5): bright is dense, 1 at most; the first row is at y = 1.
// Throws std::invalid_argument with a sentence: an unknown name, a file that cannot be read or is no such image
Density make_density(const std::string &name_or_file);

// A density at the pixels' centres, in whole levels; row after row from y = 0.
struct Levels {
    std::vector<uint16_t> at; // empty: 1 everywhere
    double level = 1;         // the density of one level
};

// Throws std::invalid_argument where the density is zero everywhere, negative or not finite somewhere
Levels sample(const Density &density, int32_t resolution);

} // namespace cudaopt::cvt
