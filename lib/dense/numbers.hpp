// Constants and predicates of double precision, for host and device. If one argument is NaN, greatest() and least()
// return the first argument, as std::max and std::min do.
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
// Returns whether v is exactly representable in single precision.
CUDA_OPT_HD_INLINE bool is_single(double v) { return static_cast<double>(static_cast<float>(v)) == v; }
// Returns whether v is a normal number: not 0, subnormal, infinite or NaN.
CUDA_OPT_HD_INLINE bool is_normal(double v) { return std::fabs(v) >= smallest_normal && is_finite(v); }

} // namespace cudaopt
