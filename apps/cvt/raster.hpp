// Two tessellations side by side, as the pixels of the grid have them.
#pragma once

#include "apps/cvt/tessellation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace driver {

// Three bytes a pixel, red, green, blue, row after row from the top.
struct Raster {
    int32_t width, height;
    std::vector<uint8_t> bytes;
};

// A panel has the grid's resolution, or 1200 of its rows and columns where it has more; the two lie 16 apart.
Raster raster_of(const cudaopt::cvt::Cells &left, const cudaopt::cvt::Cells &right);

// Whether there was libpng to build with.
bool have_png();
// Throws Failure where the file cannot be written
void write_png(const std::string &path, const Raster &raster);

} // namespace driver
