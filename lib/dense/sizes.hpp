// Sizes that the compiler may know: loops over them are unrolled, and what they work on stands in registers.
#pragma once

#include <type_traits>

#include "exec/annotations.hpp"

namespace cudaopt::dense {

// A number that the compiler knows, as std::integral_constant has it, for devices, too; or, where it would be 0, one
// that is set.
template <int number> struct Known {
    CUDA_OPT_HD constexpr void set(int) {}
    CUDA_OPT_HD constexpr operator int() const { return number; }
};
template <> struct Known<0> {
    int number = 0;
    CUDA_OPT_HD constexpr void set(int value) { number = value; }
    CUDA_OPT_HD constexpr operator int() const { return number; }
};

// In the place of an array that does not exist.
struct Nothing {
    CUDA_OPT_HD static constexpr double *data() { return nullptr; }
};

// Loops over so many are unrolled. A system of 2 x 6 rows fills the registers of a device's thread; a larger one stands
// in its memory, at places that the compiler knows.
constexpr int most_unrolled = 10, most_in_registers = 6;
template <int number> inline constexpr bool is_unrolled = number > 0 && number <= most_unrolled;

// body(size), where it is told by its type if loops over it are unrolled.
template <int number, class Body> CUDA_OPT_HD_INLINE auto at_size([[maybe_unused]] int size, const Body &body) {
    if constexpr (is_unrolled<number>) return body(Known<number>{});
    else return body(size);
}

// How often a loop over such a size is unrolled on a device.
template <class Size> constexpr int times_unrolled = std::is_same_v<Size, int> ? 1 : 64;

} // namespace cudaopt::dense
