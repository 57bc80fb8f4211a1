// This header defines sizes that may be compile-time constants, and arrays of such sizes. Loops over a constant size
// are unrolled, and their operands are kept in registers.
#pragma once

#include <cstddef>
#include <cstdint>
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

// An array of doubles that belongs to an object. If the length is a compile-time constant, the numbers are a member of
// the array. Otherwise the template argument is 0, and the numbers are stored elsewhere in the same block of memory.
// The array then stores its distance to the numbers instead of a pointer, so that the whole block can be moved, saved
// and loaded as bytes.
template <int length> class Array {
  public:
    CUDA_OPT_HD double *data() { return numbers_; }
    CUDA_OPT_HD const double *data() const { return numbers_; }
    CUDA_OPT_HD double &operator[](int i) { return numbers_[i]; }
    CUDA_OPT_HD double operator[](int i) const { return numbers_[i]; }

  private:
    double numbers_[length] = {};
};

template <> class Array<0> {
  public:
    Array() = default;
    // A copy would have another address, from which the stored distance would lead to the wrong numbers.
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    CUDA_OPT_HD void place(double *where) {
        distance_ = reinterpret_cast<char *>(where) - reinterpret_cast<char *>(this);
    }
    CUDA_OPT_HD double *data() { return reinterpret_cast<double *>(reinterpret_cast<char *>(this) + distance_); }
    CUDA_OPT_HD const double *data() const {
        return reinterpret_cast<const double *>(reinterpret_cast<const char *>(this) + distance_);
    }
    CUDA_OPT_HD double &operator[](int i) { return data()[i]; }
    CUDA_OPT_HD double operator[](int i) const { return data()[i]; }

  private:
    // The member distance_ is the distance in bytes from this object to its numbers.
    std::ptrdiff_t distance_ = 0;
};

// Room is temporary storage for one function. If its length is a compile-time constant, the storage is a local array,
// which the compiler may keep in registers. Otherwise the storage is an array that a persistent object reserves for
// this purpose.
template <int length> class Room {
  public:
    CUDA_OPT_HD explicit Room(const Nothing &) {}
    CUDA_OPT_HD double *data() { return numbers_; }

  private:
    double numbers_[length];
};
template <> class Room<0> {
  public:
    CUDA_OPT_HD explicit Room(Array<0> &kept) : numbers_(kept.data()) {}
    CUDA_OPT_HD double *data() { return numbers_; }

  private:
    double *numbers_;
};
template <int length> using KeptRoom = std::conditional_t<length == 0, Array<0>, Nothing>;

// An object that owns arrays has a function each_array(m, visit), which calls visit(array, length) for each array if
// there are m correction pairs. The visitor CountArrays counts the doubles that the arrays need. The visitor
// PlaceArrays assigns an address to each array.
struct CountArrays {
    int64_t doubles = 0;
    CUDA_OPT_HD constexpr void operator()(Array<0> &, int64_t count) { doubles += count; }
    template <class Other> CUDA_OPT_HD constexpr void operator()(Other &, int64_t) {}
};

struct PlaceArrays {
    double *next;
    CUDA_OPT_HD void operator()(Array<0> &array, int64_t count) {
        array.place(next);
        next += count;
    }
    template <class Other> CUDA_OPT_HD void operator()(Other &, int64_t) {}
};

} // namespace cudaopt::dense
