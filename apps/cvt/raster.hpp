// Draws the pixels of two tessellations of the grid side by side.
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

// Each panel has the resolution of the grid, but at most 1200 rows and columns. The gap between the two is 16 pixels
// wide.
Raster raster_of(const cudaopt::cvt::Cells &left, const cudaopt::cvt::Cells &right);

// Returns whether the program was built with libpng.
bool have_png();
// Throws Failure if the file cannot be written.
void write_png(const std::string &path, const Raster &raster);

} // namespace driver
