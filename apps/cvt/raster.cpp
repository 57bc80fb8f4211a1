#include "raster.hpp"

#include <algorithm>
#include <array>

namespace driver {
namespace {

using cudaopt::cvt::Cells;
using Colour = std::array<uint8_t, 3>;

constexpr int32_t most_side = 1200, gap = 16;

// Returns a light colour for a cell. It differs from the colours of most neighbouring cells.
Colour colour_of(uint32_t site) {
    uint32_t hash = site * 2654435761u;
    Colour colour;
    for (uint8_t &channel : colour) {
        hash ^= hash >> 15;
        hash *= 2246822519u;
        channel = static_cast<uint8_t>(170 + (hash >> 16) % 80);
    }
    return colour;
}

// One Voronoi tessellation as an image. at(i, j) is the colour of the pixel in column i and row j from the bottom.
class Panel {
  public:
    explicit Panel(const Cells &cells)
        : side(std::min(cells.resolution, most_side)), cells_(cells), dark_(static_cast<std::size_t>(side) * side) {
        const double per_site = static_cast<double>(side) * side / static_cast<double>(cells.mass.size());
        const int32_t radius = per_site > 1000 ? 2 : per_site > 100 ? 1 : 0;
        // Cell edges are drawn only if a cell has more than 30 pixels on average. Otherwise only edges would be
        // visible.
        if (per_site > 30) edges();
        if (per_site > 100)
            for (std::size_t k = 0; k < cells.x.size(); k += 2) dot(cells.x[k], cells.x[k + 1], radius);
    }

    Colour at(int32_t i, int32_t j) const { return dark_[index(i, j)] ? Colour{40, 40, 48} : colour_of(site(i, j)); }

    const int32_t side;

  private:
    std::size_t index(int32_t i, int32_t j) const {
        return static_cast<std::size_t>(j) * static_cast<std::size_t>(side) + static_cast<std::size_t>(i);
    }
    uint32_t site(int32_t i, int32_t j) const {
        const auto pixel = [&](int64_t k) { return static_cast<std::size_t>(k * cells_.resolution / side); };
        return cells_.site[pixel(j) * static_cast<std::size_t>(cells_.resolution) + pixel(i)];
    }
    void edges() {
        for (int32_t j = 0; j + 1 < side; j++)
            for (int32_t i = 0; i + 1 < side; i++)
                dark_[index(i, j)] = site(i, j) != site(i + 1, j) || site(i, j) != site(i, j + 1);
    }
    void dot(double x, double y, int32_t radius) {
        const auto ci = static_cast<int32_t>(x * side), cj = static_cast<int32_t>(y * side);
        for (int32_t j = std::max(0, cj - radius); j <= std::min(side - 1, cj + radius); j++)
            for (int32_t i = std::max(0, ci - radius); i <= std::min(side - 1, ci + radius); i++)
                dark_[index(i, j)] = true;
    }

    const Cells &cells_;
    std::vector<bool> dark_;
};

} // namespace

Raster raster_of(const Cells &left, const Cells &right) {
    const Panel panels[] = {Panel(left), Panel(right)};
    const int32_t side = panels[0].side;
    Raster raster = {2 * side + gap, side, {}};
    raster.bytes.assign(3 * static_cast<std::size_t>(raster.width) * static_cast<std::size_t>(side), 255);
    auto byte = raster.bytes.begin();
    for (int32_t j = side - 1; j >= 0; j--)
        for (const Panel &panel : panels) {
            for (int32_t i = 0; i < side; i++)
                for (const uint8_t channel : panel.at(i, j)) *byte++ = channel;
            if (&panel == panels) byte += 3 * gap;
        }
    return raster;
}

} // namespace driver
