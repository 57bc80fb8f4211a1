// The jump flooding algorithm (JFA): Rong, Tan, Jump flooding in GPU with applications to Voronoi diagram and distance
// transform, I3D 2006.
//
// Each site is first written to its pixel, or to a neighbouring one if its pixel already contains another site. An
// iteration with step length s considers the sites that are stored in a pixel and in its eight neighbours at distance
// s. It assigns the nearest of them to the pixel. The step lengths of JFA are 2^b, ..., 4, 2, 1, where 2^b is the least
// power of two that is not below half of the resolution. The variants 1+JFA, JFA+1 and JFA+2 have additional iterations
// with small steps before or after these, which correct most of the errors of JFA.
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

// Returns the k-th choice, 0 <= k < planting_places, of a pixel to which a site may be written. The first choice is the
// pixel that contains the site. The others are the neighbouring pixels, beginning with those to which the site is
// closer.
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
    // The pixel is displaced by 0 or +-1 pixel in each direction. `major` is the displacement in the direction in which
    // the site is farther from the centre of its pixel, and `minor` the displacement in the other direction.
    const int major = k == 1 || k == 3 || k == 6 ? 1 : k == 4 || k == 7 || k == 8 ? -1 : 0;
    const int minor = k == 2 || k == 3 || k == 7 ? 1 : k == 5 || k == 6 || k == 8 ? -1 : 0;
    const bool x_first = from_x >= from_y;
    return {packing.pixel(x) + across * (x_first ? major : minor),
            packing.pixel(y) + along * (x_first ? minor : major)};
}

// Writes a site to the first of its choices of pixels that contains no site with a lower number.
//
// If another site with a higher number was there, that site proceeds to its own next choice. This is deferred
// acceptance (Gale, Shapley, Amer. Math. Monthly 69 (1962) 9), whose result does not depend on the order of the sites.
// If all choices of a site contain sites with lower numbers, the site is left out. keep_least(pixel, word) writes the
// lesser of two words to a pixel and returns the previous one, as atomicMin does.
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

// A site that is considered for the pixels of one column, with its squared horizontal distance from that column.
struct Candidate {
    Word site;
    float dx2, y;

    // Returns the site as a candidate for the pixels of a column. column: the horizontal coordinate of the column's
    // centre in fixed point.
    CUDA_OPT_HD static Candidate of(const Packing &packing, Word site, float column) {
        const float dx = static_cast<float>(packing.x(site)) - column;
        return {site, site == no_site ? std::numeric_limits<float>::infinity() : dx * dx,
                static_cast<float>(packing.y(site))};
    }
};

// The nearest of the sites considered so far for one pixel. If several are equally near, it is the one with the lowest
// number, so that the result does not depend on the order in which they are considered.
struct Nearest {
    Word site = no_site;
    // The squared distance of the nearest site so far, in fixed point.
    float distance = std::numeric_limits<float>::infinity();

    // Considers one more site for the pixel. row: the vertical coordinate of the pixel's centre in fixed point.
    CUDA_OPT_HD void offer(const Candidate &candidate, float row) {
        const float dy = candidate.y - row, d = candidate.dx2 + dy * dy;
        const bool nearer = (d < distance) | ((d == distance) & (candidate.site < site)); // without a branch
        distance = nearer ? d : distance;
        site = nearer ? candidate.site : site;
    }
};

} // namespace cudaopt::cvt
