// Densities on the unit square, which weight the energy of a Voronoi tessellation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cudaopt::cvt {

// A density rho(x, y) >= 0. An empty function means the constant density 1.
using Density = std::function<double(double x, double y)>;

// The name and the formula of a density, for the list that the program prints.
struct NamedDensity {
    const char *name, *formula;
};
std::vector<NamedDensity> list_densities();

// Returns a density by its name, or from a plain (P2) or raw (P5) portable grey map NAME.pgm. Bright pixels have a high
// density, at most 1. The first row of the image is at y = 1. Throws std::invalid_argument with a message if the name
// is unknown, if the file cannot be read, or if it is not such an image.
Density make_density(const std::string &name_or_file);

// A density at the centres of the pixels, row by row from y = 0. Each value is an integer multiple of `level`.
struct Levels {
    // The integers of all pixels. If the array is empty, the density is `level` everywhere.
    std::vector<uint16_t> at;
    // The density of a pixel is `level` times the pixel's integer.
    double level = 1;
};

// Samples the density at the centres of the pixels. Throws std::invalid_argument if it is zero everywhere, or if it is
// negative or not finite at some pixel.
Levels sample(const Density &density, int32_t resolution);

} // namespace cudaopt::cvt
