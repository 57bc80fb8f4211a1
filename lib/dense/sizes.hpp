// This header defines types for sizes that may be compile-time constants. Loops over a constant size are unrolled, and
// their operands are kept in registers.
#pragma once

#include <type_traits>

#include "exec/annotations.hpp"

namespace cudaopt::dense {

// Known is an integer that is a compile-time constant. Unlike std::integral_constant, it can be used in device code. In
// code that accepts both kinds of size, Known<0> stores a value that is set at run time.
template <int number> struct Known {
    CUDA_OPT_HD constexpr void set(int) {}
    CUDA_OPT_HD constexpr operator int() const { return number; }
};
template <> struct Known<0> {
    int number = 0;
    CUDA_OPT_HD constexpr void set(int value) { number = value; }
    CUDA_OPT_HD constexpr operator int() const { return number; }
};

// Nothing is the type of a member or argument that is not needed.
struct Nothing {
    CUDA_OPT_HD static constexpr double *data() { return nullptr; }
};

// Loops over sizes of up to most_unrolled are unrolled. A linear system with 2 * most_in_registers rows occupies all
// registers of a GPU thread. A larger system is stored in local memory, at addresses that are compile-time constants.
constexpr int most_unrolled = 10, most_in_registers = 6;
template <int number> inline constexpr bool is_unrolled = number > 0 && number <= most_unrolled;

// Calls body(size). If the loops over `size` are to be unrolled, the argument is a compile-time constant. Otherwise it
// is an int.
template <int number, class Body> CUDA_OPT_HD_INLINE auto at_size([[maybe_unused]] int size, const Body &body) {
    if constexpr (is_unrolled<number>) return body(Known<number>{});
    else return body(size);
}

// Device loops over a size of type Size are unrolled by the factor times_unrolled<Size>.
template <class Size> constexpr int times_unrolled = std::is_same_v<Size, int> ? 1 : 64;

} // namespace cudaopt::dense
