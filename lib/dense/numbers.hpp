// The range of double precision, for host and device. greatest() and least() treat NaN as std::max and std::min do:
// where nothing compares, the first argument stays.
#pragma once

#include <cmath>
#include <limits>

#include "exec/annotations.hpp"

namespace cudaopt {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();
constexpr double largest_finite = std::numeric_limits<double>::max();
constexpr double smallest_normal = std::numeric_limits<double>::min();

template <class Number> CUDA_OPT_HD_INLINE Number greatest(Number a, Number b) { return a < b ? b : a; }
template <class Number> CUDA_OPT_HD_INLINE Number least(Number a, Number b) { return b < a ? b : a; }

CUDA_OPT_HD_INLINE bool is_finite(double v) { return std::fabs(v) <= largest_finite; }
// Whether single precision holds v exactly.
CUDA_OPT_HD_INLINE bool is_single(double v) { return static_cast<double>(static_cast<float>(v)) == v; }
// Neither 0 nor denormal, infinite or NaN.
CUDA_OPT_HD_INLINE bool is_normal(double v) { return std::fabs(v) >= smallest_normal && is_finite(v); }

} // namespace cudaopt
