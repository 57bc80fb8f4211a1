// Constants and predicates of double precision, for host and device. If one argument is NaN, greatest() and least()
// return the first argument, as std::max and std::min do.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "exec/annotations.hpp"

namespace cudaopt {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();
constexpr double largest_finite = std::numeric_limits<double>::max();
constexpr double smallest_normal = std::numeric_limits<double>::min();

template <class Number> CUDA_OPT_HD_INLINE Number greatest(Number a, Number b) { return a < b ? b : a; }
template <class Number> CUDA_OPT_HD_INLINE Number least(Number a, Number b) { return b < a ? b : a; }

CUDA_OPT_HD_INLINE bool is_finite(double v) { return std::fabs(v) <= largest_finite; }
// Returns whether v is exactly representable in single precision. The usual test, a conversion to float and back, is
// not safe: where two of them stand side by side, GCC 12 with AVX-512 vectorises both and then removes the conversions.
CUDA_OPT_HD_INLINE bool is_single(double v) {
    constexpr int64_t extra_bits = (int64_t{1} << 29) - 1; // 53 - 24 bits of the significand
    const double magnitude = std::fabs(v);
    if (!(magnitude >= std::numeric_limits<float>::min())) { // a multiple of 2^-149, or NaN
        const double units = magnitude * 0x1p149;
        return units == std::floor(units);
    }
    int64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    return (bits & extra_bits) == 0 && (magnitude <= std::numeric_limits<float>::max() || !is_finite(v));
}
// Returns whether v is a normal number: not 0, subnormal, infinite or NaN.
CUDA_OPT_HD_INLINE bool is_normal(double v) { return std::fabs(v) >= smallest_normal && is_finite(v); }

} // namespace cudaopt
