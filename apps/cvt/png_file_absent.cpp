// Replaces png_file.cpp if libpng is not available.
#include "raster.hpp"
#include "drivers/failure.hpp"

namespace driver {

bool have_png() { return false; }

void write_png(const std::string &path, const Raster &) {
    throw Failure(exit_failed, "cannot write '" + path + "': this program was built without libpng");
}

} // namespace driver
