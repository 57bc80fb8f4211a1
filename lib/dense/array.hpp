// Doubles of an object that stand elsewhere in the same block of memory. A distance leads to them, no pointer, so
// that the block may be moved, saved and loaded as bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/annotations.hpp"

namespace cudaopt::dense {

class Array {
  public:
    Array() = default;
    Array(const Array &) = delete; // a copy would lead elsewhere
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
    std::ptrdiff_t distance_ = 0; // bytes
};

// What an object's each_array(m, visit) is visited with: first to count the doubles that it needs for m pairs, then to
// give each array its place.
struct CountArrays {
    int64_t doubles = 0;
    CUDA_OPT_HD constexpr void operator()(Array &, int64_t count) { doubles += count; }
};

struct PlaceArrays {
    double *next;
    CUDA_OPT_HD void operator()(Array &array, int64_t count) {
        array.place(next);
        next += count;
    }
};

} // namespace cudaopt::dense
