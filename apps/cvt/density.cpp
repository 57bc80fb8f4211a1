#include "apps/cvt/density.hpp"

#include "apps/cvt/cell_sums.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>

namespace cudaopt::cvt {
namespace {

const double pi = std::acos(-1.);

struct Entry {
    NamedDensity named;
    Density density;
};

std::vector<Entry> entries() {
    return {{{"constant", "1"}, {}},
            {{"linear", "x"}, [](double x, double) { return x; }},
            {{"gaussian", "exp(-20 r^2), r from the centre"},
             [](double x, double y) { return std::exp(-20 * ((x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5))); }},
            {{"waves", "0.05 + sin(2 pi x)^2 sin(2 pi y)^2"}, [](double x, double y) {
                 const double s = std::sin(2 * pi * x) * std::sin(2 * pi * y);
                 return 0.05 + s * s;
             }}};
}

// Reads a density from a portable grey map, an image file format.
class GreyMap {
  public:
    explicit GreyMap(const std::string &path) : path_(path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) refuse("cannot be read");
        std::string kind(2, ' ');
        file.read(&kind[0], 2);
        if (!file || (kind != "P2" && kind != "P5")) refuse("is no PGM image (P2 or P5)");
        width_ = number(file, 1, most_side, "width");
        height_ = number(file, 1, most_side, "height");
        const long most = number(file, 1, 65535, "largest value");
        values_.resize(static_cast<std::size_t>(width_ * height_));
        // In a raw image (P5) exactly one white-space character separates the header from the pixels.
        if (kind == "P5") file.get();
        for (double &value : values_)
            value = static_cast<double>(kind == "P2" ? number(file, 0, most, "pixel") : raw(file, most)) /
                    static_cast<double>(most);
    }

    double operator()(double x, double y) const {
        const long column = std::min(width_ - 1, static_cast<long>(x * static_cast<double>(width_)));
        const long row = std::min(height_ - 1, static_cast<long>((1 - y) * static_cast<double>(height_)));
        return values_[static_cast<std::size_t>(std::max(0l, row) * width_ + std::max(0l, column))];
    }

  private:
    static constexpr long most_side = 1 << 15;

    [[noreturn]] void refuse(const std::string &why) const {
        throw std::invalid_argument("density: '" + path_ + "' " + why);
    }

    // Reads the next number from the header or from a plain image. A comment extends from # to the end of its line.
    long number(std::istream &file, long least, long most, const std::string &what) const {
        while (file >> std::ws && file.peek() == '#') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
        long value;
        if (!(file >> value)) refuse("ends before its " + what);
        if (value < least || value > most)
            refuse("has a " + what + " of " + std::to_string(value) + ", not from " + std::to_string(least) + " to " +
                   std::to_string(most));
        return value;
    }

    long raw(std::istream &file, long most) const {
        long value = file.get();
        if (most > 255) value = 256 * value + file.get();
        if (!file) refuse("ends before its last pixel");
        if (value > most)
            refuse("has a pixel of " + std::to_string(value) + ", above its largest value of " + std::to_string(most));
        return value;
    }

    std::string path_;
    long width_, height_;
    std::vector<double> values_;
};

bool ends_in_pgm(const std::string &text) { return text.size() > 4 && text.compare(text.size() - 4, 4, ".pgm") == 0; }

} // namespace

std::vector<NamedDensity> list_densities() {
    std::vector<NamedDensity> list;
    for (const Entry &entry : entries()) list.push_back(entry.named);
    return list;
}

Density make_density(const std::string &name_or_file) {
    if (ends_in_pgm(name_or_file)) {
        const auto image = std::make_shared<const GreyMap>(name_or_file);
        return [image](double x, double y) { return (*image)(x, y); };
    }
    std::string names;
    for (const Entry &entry : entries()) {
        if (name_or_file == entry.named.name) return entry.density;
        names += std::string(entry.named.name) + ", ";
    }
    throw std::invalid_argument("density: there is no '" + name_or_file + "'; there are " + names + "and files *.pgm");
}

Levels sample(const Density &density, int32_t resolution) {
    Levels levels;
    if (!density) return levels;
    const auto at = [&](int32_t pixel) { return (pixel + 0.5) / resolution; };
    double most = 0;
    for (int32_t j = 0; j < resolution; j++)
        for (int32_t i = 0; i < resolution; i++) {
            const double value = density(at(i), at(j));
            if (!(value >= 0) || std::isinf(value))
                throw std::invalid_argument("density: it must be finite and not negative, but is " +
                                            std::to_string(value) + " at (" + std::to_string(at(i)) + ", " +
                                            std::to_string(at(j)) + ")");
            most = std::max(most, value);
        }
    if (most == 0) throw std::invalid_argument("density: it is zero at all pixels");
    levels.level = most / most_levels(resolution);
    levels.at.resize(static_cast<std::size_t>(resolution) * static_cast<std::size_t>(resolution));
    auto next = levels.at.begin();
    for (int32_t j = 0; j < resolution; j++)
        for (int32_t i = 0; i < resolution; i++)
            *next++ = static_cast<uint16_t>(std::lround(density(at(i), at(j)) / levels.level));
    return levels;
}

} // namespace cudaopt::cvt
