// What one small problem holds, and where: a block that stays from call to call, and scratch that a team needs while it
// works on a problem. Sizes are functions of n, m and the precision alone.
#pragma once

#include "lbfgsb/state.hpp"

namespace cudaopt::batch {

constexpr int most_variables = crossed_capacity; // so that all breakpoints of a window can be had at once
constexpr int most_pairs = 64;
constexpr int granule = 4; // rows and columns that are worked on together; what is beyond the last one is 0

struct Shape {
    int n, m;
};

CUDA_OPT_HD constexpr int padded(int count) { return (count + granule - 1) / granule * granule; }

// The state first, then f, then vectors of padded(n) numbers: x, g, x_base, the best iterate put aside (x and g), the
// slots of S and those of Y.
enum Vector { at_x, at_g, at_x_base, at_aside_x, at_aside_g, at_slots };
CUDA_OPT_HD constexpr int vectors(int m) { return at_slots + 2 * (m + 1); }

template <class Real> CUDA_OPT_HD constexpr int64_t vectors_offset(Shape shape) {
    return state_bytes(shape.m) + static_cast<int64_t>(sizeof(double));
}
template <class Real> CUDA_OPT_HD constexpr int64_t block_bytes(Shape shape) {
    const int64_t bytes =
        vectors_offset<Real>(shape) + int64_t{vectors(shape.m)} * padded(shape.n) * static_cast<int64_t>(sizeof(Real));
    return (bytes + 15) / 16 * 16;
}

// The scratch: the last request; four sums; the panel by rows, padded(columns) doubles each; its products; the rows'
// breakpoints and projected gradients; those that a window has crossed; the free rows.
CUDA_OPT_HD constexpr int panel_stride(int m) { return padded(panel::columns(m)); }
constexpr int sum_count = 4;
CUDA_OPT_HD constexpr int64_t scratch_doubles(Shape shape) {
    const int columns = panel::columns(shape.m), rows = padded(shape.n);
    return sum_count + int64_t{rows} * panel_stride(shape.m) + panel::gram_count(columns) + panel::leading * columns +
           int64_t{2} * rows;
}
CUDA_OPT_HD constexpr int64_t scratch_bytes(Shape shape) {
    const int64_t bytes = scratch_doubles(shape) * static_cast<int64_t>(sizeof(double)) +
                          int64_t{shape.n} * static_cast<int64_t>(sizeof(CrossedVariable)) +
                          int64_t{padded(shape.n)} * static_cast<int64_t>(sizeof(int));
    return (bytes + 15) / 16 * 16;
}

} // namespace cudaopt::batch
