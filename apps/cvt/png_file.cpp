#include "raster.hpp"
#include "drivers/failure.hpp"

#include <png.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace driver {

bool have_png() { return true; }

void write_png(const std::string &path, const Raster &raster) {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(raster.width);
    image.height = static_cast<png_uint_32>(raster.height);
    image.format = PNG_FORMAT_RGB;
    std::FILE *const file = std::fopen(path.c_str(), "wb");
    if (!file) throw Failure(exit_failed, "cannot write '" + path + "': " + std::strerror(errno));
    const bool written = png_image_write_to_stdio(&image, file, 0, raster.bytes.data(), 0, nullptr) != 0;
    const std::string why = written ? "" : image.message;
    errno = 0;
    if (std::fclose(file) != 0 || !written)
        throw Failure(exit_failed, "cannot write '" + path + "': " + (errno ? std::strerror(errno) : why));
}

} // namespace driver
