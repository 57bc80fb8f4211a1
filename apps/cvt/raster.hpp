// Draws the pixels of two Voronoi tessellations on a grid side by side.
#pragma once

#include "apps/cvt/tessellation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

// An image with three bytes per pixel (red, green, blue), row by row from the top.
struct Raster {
    int32_t width, height;
    std::vector<uint8_t> bytes;
};

// Draws two tessellations as one image. Each has the resolution of its grid, but at most 1200 rows and columns. The gap
// between them is 16 pixels wide.
Raster raster_of(const cudaopt::cvt::Cells &left, const cudaopt::cvt::Cells &right);

// Returns whether the program was built with libpng, which write_png() requires.
bool have_png();
// Writes an image as a PNG file. Throws Failure if the file cannot be written.
void write_png(const std::string &path, const Raster &raster);

} // namespace driver
