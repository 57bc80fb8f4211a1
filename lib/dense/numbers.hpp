// This header defines constants and predicates for double precision, for both host and device. If one argument is NaN,
// greatest() and least() return their first argument, as std::max and std::min do.
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
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
// The same constants of single precision. Device code cannot call the functions of std::numeric_limits.
constexpr double largest_single = std::numeric_limits<float>::max();
constexpr double smallest_normal_single = std::numeric_limits<float>::min();

template <class Number> CUDA_OPT_HD_INLINE Number greatest(Number a, Number b) { return a < b ? b : a; }
template <class Number> CUDA_OPT_HD_INLINE Number least(Number a, Number b) { return b < a ? b : a; }

CUDA_OPT_HD_INLINE bool is_finite(double v) { return std::fabs(v) <= largest_finite; }
// Returns whether v is exactly representable in single precision. A conversion to float and back would be the usual
// test, but it is not safe. If the code contains two adjacent tests, GCC 12 with AVX-512 vectorises them and then
// removes the conversions.
CUDA_OPT_HD_INLINE bool is_single(double v) {
    // The significand has 53 bits in double and 24 in single precision, so the lowest 29 bits of a normal number must
    // be 0.
    constexpr int64_t extra_bits = (int64_t{1} << 29) - 1;
    const double magnitude = std::fabs(v);
    // In this range, the numbers of single precision are the multiples of 2^-149. This branch also handles NaN.
    if (!(magnitude >= smallest_normal_single)) {
        const double units = magnitude * 0x1p149;
        return units == std::floor(units);
    }
    int64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    return (bits & extra_bits) == 0 && (magnitude <= largest_single || !is_finite(v));
}
// Returns whether v is a normal number, which means that it is not zero, subnormal, infinite or NaN.
CUDA_OPT_HD_INLINE bool is_normal(double v) { return std::fabs(v) >= smallest_normal && is_finite(v); }

// Returns the natural logarithm of v, to a few units in the last place, or NaN if v is not positive and finite. It has
// the same bits on every processor and GPU, which the function of the C library has not. With v = 2^k m and m near 1,
// log m is the series of 2 artanh z, z = (m - 1) / (m + 1), up to z^21.
CUDA_OPT_HD_INLINE double logarithm(double v) {
    if (!(v > 0) || !is_finite(v)) return not_a_number;
    int k = 0;
    double m = std::frexp(v, &k);
    if (m < 0.7) m *= 2, k--;
    const double z = (m - 1) / (m + 1), square = z * z;
    double series = 0;
    for (int i = 21; i > 1; i -= 2) series = (series + 1.0 / i) * square;
    return k * 0.693147180559945309417 + 2 * z * (1 + series);
}

} // namespace cudaopt

// The next functions validate values that were loaded as bytes, before the values are used.
namespace cudaopt::dense {

// Returns whether each bool is stored as the byte 0 or 1. Reading a bool with any other byte is undefined behaviour.
template <class... Bools> bool are_bools(const Bools &...values) {
    const auto is_bool = [](const bool &value) {
        unsigned char byte;
        std::memcpy(&byte, &value, sizeof byte);
        return byte <= 1;
    };
    return (is_bool(values) && ...);
}

template <class Value> bool is_within(Value least, Value value, Value most) { return least <= value && value <= most; }

} // namespace cudaopt::dense
