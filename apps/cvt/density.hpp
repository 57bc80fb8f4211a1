// Densities on the unit square.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cudaopt::cvt {

// rho(x, y) >= 0. An empty function means the constant 1.
using Density = std::function<double(double x, double y)>;

// The name and the formula of a density.
struct NamedDensity {
    const char *name, *formula;
};
std::vector<NamedDensity> list_densities();

// Returns a density by its name, or from a plain (P2) or raw (P5) portable grey map NAME.pgm. Bright pixels have a high
// density, at most 1, and the first row of the image is at y = 1. Throws std::invalid_argument with a sentence if the
// name is unknown, or if the file cannot be read or is not such an image.
Density make_density(const std::string &name_or_file);

// A density at the centres of the pixels, in integer multiples of one level, stored row by row from y = 0.
struct Levels {
    std::vector<uint16_t> at; // multiples of the level; empty: the density is `level` everywhere
    double level = 1;         // the density of one level
};

// Throws std::invalid_argument if the density is zero everywhere, or negative or not finite at some pixel.
Levels sample(const Density &density, int32_t resolution);

} // namespace cudaopt::cvt
