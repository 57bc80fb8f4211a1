// The storage type bfloat16 has the exponent range of single precision and a significand of eight bits. Numbers are
// stored in it, but all arithmetic is in double precision.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#endif

#include "exec/annotations.hpp"

namespace cudaopt {

struct bfloat16 {
    uint16_t bits;

    bfloat16() = default;
    // The constructor converts to single precision first and then to bfloat16. Both steps round to nearest, with ties
    // to even. NaN remains NaN.
    CUDA_OPT_HD_INLINE explicit bfloat16(double value) {
        const float single = static_cast<float>(value);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        // The intrinsic that converts two values is used, because the intrinsic for one value has a lower throughput.
        bits = __bfloat16_as_ushort(__floats2bfloat162_rn(single, 0).x);
#else
        uint32_t wide;
        memcpy(&wide, &single, sizeof wide);
        const uint32_t rounded = (wide + 0x7fffu + (wide >> 16 & 1)) >> 16;
        bits = static_cast<uint16_t>(single == single ? rounded : 0x7fffu);
#endif
    }
    CUDA_OPT_HD_INLINE operator double() const {
        const uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float single;
        memcpy(&single, &wide, sizeof single);
        return single;
    }
};

// The constant largest_number is the largest finite number of a storage type.
template <class Stored> constexpr double largest_number = static_cast<double>(std::numeric_limits<Stored>::max());
template <> inline constexpr double largest_number<bfloat16> = 0x1.fep127;

// Returns the neighbouring floating-point number of larger magnitude.
CUDA_OPT_HD_INLINE float next_away_from_zero(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits++;
    memcpy(&v, &bits, sizeof bits);
    return v;
}
CUDA_OPT_HD_INLINE bfloat16 next_away_from_zero(bfloat16 v) {
    v.bits++;
    return v;
}

} // namespace cudaopt
