// A Cascade adds the inner products of the tiles (blocks of 128 variables) in a binary tree.
#pragma once

#include <cstdint>

#include "sweeps/products_layout.hpp"

namespace cudaopt {

// A Cascade sums over the tiles of a segment, which is a range of tiles. It stores one partial sum per level of the
// binary tree. Adding a tile propagates through the levels like the carry of a binary counter.
class Cascade {
  public:
    Cascade(double *levels, const ProductsLayout &layout) : levels_(levels), layout_(layout) {}
    // Returns the address at which the caller must store the inner products of the next tile.
    double *next() { return level(depth_); }
    void push() {
        depth_++;
        for (uint64_t carry = count_++; carry & 1; carry >>= 1) {
            depth_--;
            join(layout_, level(depth_ - 1), level(depth_));
        }
    }
    void finish(double *to) {
        clear(layout_, to);
        for (int i = depth_ - 1; i >= 0; i--) join(layout_, to, level(i));
    }

  private:
    double *level(int i) { return levels_ + static_cast<std::size_t>(i) * layout_.size; }
    double *levels_;
    const ProductsLayout &layout_;
    int depth_ = 0;
    uint64_t count_ = 0;
};

} // namespace cudaopt
