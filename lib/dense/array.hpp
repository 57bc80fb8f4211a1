// An array of doubles that belongs to an object. If its length is a compile-time constant, the array is a member of the
// object. Otherwise (length 0) it lies elsewhere in the same block of memory. The object then stores the distance to
// the array instead of a pointer, so that the block can be moved, saved and loaded as bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dense/sizes.hpp"

namespace cudaopt::dense {

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
    Array(const Array &) = delete; // the distance of the copy would lead to a wrong address
    Array &operator=(const Array &) = delete;

    CUDA_OPT_HD void place(double *where) {
        distance_ = reinterpret_cast<char *>(where) - reinterpret_cast<char *>(this);
    }
    CUDA_OPT_HD bool is_at(const double *where) const {
        return distance_ == reinterpret_cast<const char *>(where) - reinterpret_cast<const char *>(this);
    }
    CUDA_OPT_HD double *data() { return reinterpret_cast<double *>(reinterpret_cast<char *>(this) + distance_); }
    CUDA_OPT_HD const double *data() const {
        return reinterpret_cast<const double *>(reinterpret_cast<const char *>(this) + distance_);
    }
    CUDA_OPT_HD double &operator[](int i) { return data()[i]; }
    CUDA_OPT_HD double operator[](int i) const { return data()[i]; }

  private:
    std::ptrdiff_t distance_ = 0; // distance in bytes
};

// Temporary storage for one function. If its length is a compile-time constant, the storage is a local array, which the
// compiler may keep in registers. Otherwise it is an array of a persistent object that is reserved for this purpose.
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

// Two visitors. Each object with arrays has a function each_array(m, visit). CountArrays counts the doubles that the
// arrays need for m correction pairs, and PlaceArrays assigns an address to each array.
struct CountArrays {
    int64_t doubles = 0;
    CUDA_OPT_HD constexpr void operator()(Nothing &, int64_t) {}
    CUDA_OPT_HD constexpr void operator()(Array<0> &, int64_t count) { doubles += count; }
    template <int length> CUDA_OPT_HD constexpr void operator()(Array<length> &, int64_t) {}
};

struct PlaceArrays {
    double *next;
    CUDA_OPT_HD void operator()(Nothing &, int64_t) {}
    CUDA_OPT_HD void operator()(Array<0> &array, int64_t count) {
        array.place(next);
        next += count;
    }
    template <int length> CUDA_OPT_HD void operator()(Array<length> &, int64_t) {}
};

// A visitor that validates an object that was read as bytes: each of its arrays must be at the address that PlaceArrays
// would assign.
struct CheckPlaces {
    const double *next;
    bool right = true;
    void operator()(Nothing &, int64_t) {}
    void operator()(Array<0> &array, int64_t count) {
        right = right && array.is_at(next);
        next += count;
    }
    template <int length> void operator()(Array<length> &, int64_t) {}
};

} // namespace cudaopt::dense
