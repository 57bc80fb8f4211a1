// Packs a site into one 64-bit word, which contains its number and its position on the grid in fixed point. Jump
// flooding then reads numbers and positions from one array. The parts of the word are
//
//     | number | x | y |     x and y have coordinate_bits each, of which fraction_bits are below a pixel
//
// The number of the site has the remaining bits. A coordinate has at most 24 bits, so that differences of coordinates
// are exact in single precision. The word with all bits set means that there is no site.
#pragma once

#include "exec/annotations.hpp"

#include <cmath>
#include <cstdint>

namespace cudaopt::cvt {

using Word = uint64_t;
constexpr Word no_site = ~Word(0);

struct Packing {
    int32_t resolution;
    int coordinate_bits, fraction_bits;

    Packing(int64_t sites, int32_t resolution) : resolution(resolution) {
        // The number field has enough bits for `sites`, although the largest number is sites - 1. Therefore no number
        // has all its bits set, and no site is packed into the word no_site.
        const int number_bits = bits_of(sites);
        coordinate_bits = number_bits > 16 ? (64 - number_bits) / 2 : 24;
        fraction_bits = coordinate_bits - bits_of(resolution - 1);
    }

    // Returns the least number of bits that can represent a nonnegative integer.
    static int bits_of(int64_t number) {
        int bits = 0;
        for (; number > 0; number >>= 1) bits++;
        return bits;
    }

    // Converts a coordinate in [0, 1] to an integer multiple of 2^-fraction_bits pixels, rounded to nearest and limited
    // to the grid.
    CUDA_OPT_HD uint32_t fixed(double coordinate) const {
        const uint32_t end = static_cast<uint32_t>(resolution) << fraction_bits;
        const double value = floor(coordinate * end + 0.5);
        return !(value > 0) ? 0 : value >= end ? end - 1 : static_cast<uint32_t>(value);
    }
    CUDA_OPT_HD Word pack(int64_t number, uint32_t x, uint32_t y) const {
        return (static_cast<Word>(number) << (2 * coordinate_bits)) | (static_cast<Word>(x) << coordinate_bits) | y;
    }
    CUDA_OPT_HD uint32_t number(Word site) const { return static_cast<uint32_t>(site >> (2 * coordinate_bits)); }
    CUDA_OPT_HD uint32_t x(Word site) const {
        return static_cast<uint32_t>(site >> coordinate_bits) & ((1u << coordinate_bits) - 1);
    }
    CUDA_OPT_HD uint32_t y(Word site) const { return static_cast<uint32_t>(site) & ((1u << coordinate_bits) - 1); }
    // Returns the column or row of the pixel that contains the given x or y coordinate, which is in fixed point.
    CUDA_OPT_HD int32_t pixel(uint32_t fixed) const { return static_cast<int32_t>(fixed >> fraction_bits); }
    // Returns the x or y coordinate of the centre of a pixel, in fixed point. Like the coordinates of the sites, it is
    // exact in single precision.
    CUDA_OPT_HD float centre(int32_t pixel) const {
        return static_cast<float>((pixel << fraction_bits) + ((1 << fraction_bits) >> 1));
    }
    CUDA_OPT_HD int64_t pixels() const { return int64_t(resolution) * resolution; }
};

} // namespace cudaopt::cvt
