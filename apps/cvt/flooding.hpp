// Jump flooding: Rong, Tan, Jump flooding in GPU with applications to Voronoi diagram and distance transform, I3D 2006.
//
// Each site is planted in its pixel, or in one beside it where another site has it. A pass with step s gives to each
// pixel the nearest of the sites that it and its eight neighbours at distance s hold. The passes of JFA have the steps
// 2^b, ..., 4, 2, 1, the first being the least power of two that is not below half of the resolution. Passes before or
// after these, 1+JFA, JFA+1 and JFA+2, repair most of JFA's errors.
#pragma once

#include "apps/cvt/packing.hpp"

#include <limits>
#include <vector>

namespace cudaopt::cvt {

enum class Flooding { jfa, one_before, one_after, two_after };

inline std::vector<int32_t> steps_of(Flooding flooding, int32_t resolution) {
    std::vector<int32_t> steps;
    if (flooding == Flooding::one_before) steps.push_back(1);
    int32_t step = 1;
    while (2 * step < resolution) step *= 2;
    for (; step > 0; step /= 2) steps.push_back(step);
    if (flooding == Flooding::two_after) steps.push_back(2);
    if (flooding == Flooding::one_after || flooding == Flooding::two_after) steps.push_back(1);
    return steps;
}

// The k-th pixel that a site would be planted in, k < planting_places: first that in which it lies, then those beside
// it, beginning with the sides to which it lies nearer.
constexpr int planting_places = 9;
struct Pixel {
    int32_t x, y;
};
CUDA_OPT_HD inline Pixel planting_place(const Packing &packing, Word site, int k) {
    const uint32_t x = packing.x(site), y = packing.y(site), half = (1u << packing.fraction_bits) >> 1;
    const uint32_t mask = (1u << packing.fraction_bits) - 1;
    const bool right = (x & mask) >= half, up = (y & mask) >= half;
    const uint32_t from_x = right ? (x & mask) - half : half - (x & mask);
    const uint32_t from_y = up ? (y & mask) - half : half - (y & mask);
    const int across = right ? 1 : -1, along = up ? 1 : -1;
    // Steps in the direction of the larger offset and in the other one.
    const int major = k == 1 || k == 3 || k == 6 ? 1 : k == 4 || k == 7 || k == 8 ? -1 : 0;
    const int minor = k == 2 || k == 3 || k == 7 ? 1 : k == 5 || k == 6 || k == 8 ? -1 : 0;
    const bool x_first = from_x >= from_y;
    return {packing.pixel(x) + across * (x_first ? major : minor),
            packing.pixel(y) + along * (x_first ? minor : major)};
}

// Plant a site: it asks for its places one after the other, and a pixel keeps the site of the lowest number that has
// asked; the one that has to go asks on. This is deferred acceptance (Gale, Shapley, Amer. Math. Monthly 69 (1962) 9),
// whose outcome does not depend on the order in which the sites come. One that is refused everywhere is left out.
// keep_least: as atomicMin: put the lesser of two words into a pixel and return what was there
template <class KeepLeast> CUDA_OPT_HD void plant(const Packing &packing, Word site, const KeepLeast &keep_least) {
    for (int k = 0; k < planting_places; k++) {
        const Pixel pixel = planting_place(packing, site, k);
        if (pixel.x < 0 || pixel.y < 0 || pixel.x >= packing.resolution || pixel.y >= packing.resolution) continue;
        const Word before = keep_least(int64_t(pixel.y) * packing.resolution + pixel.x, site);
        if (before == no_site) return;
        if (before > site) {
            site = before;
            Pixel place;
            k = -1;
            do place = planting_place(packing, site, ++k);
            while (place.x != pixel.x || place.y != pixel.y);
        }
    }
}

// A site as seen from one column of pixels.
struct Candidate {
    Word site;
    float dx2, y;

    // column: the centre of the column in fixed point
    CUDA_OPT_HD static Candidate of(const Packing &packing, Word site, float column) {
        const float dx = static_cast<float>(packing.x(site)) - column;
        return {site, site == no_site ? std::numeric_limits<float>::infinity() : dx * dx,
                static_cast<float>(packing.y(site))};
    }
};

// The nearest of the sites offered, of equally near ones that of the lowest number: their order does not matter.
struct Nearest {
    Word site = no_site;
    float distance = std::numeric_limits<float>::infinity(); // squared, in fixed point

    // row: the centre of the pixel's row in fixed point
    CUDA_OPT_HD void offer(const Candidate &candidate, float row) {
        const float dy = candidate.y - row, d = candidate.dx2 + dy * dy;
        const bool nearer = (d < distance) | ((d == distance) & (candidate.site < site)); // no branch
        distance = nearer ? d : distance;
        site = nearer ? candidate.site : site;
    }
};

} // namespace cudaopt::cvt
