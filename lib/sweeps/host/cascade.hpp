// A Cascade adds the inner products of the tiles (blocks of 128 variables) in a binary tree.
#pragma once

#include <cstdint>

#include "sweeps/host/panel_tiles.hpp"
#include "sweeps/products_layout.hpp"

namespace cudaopt {

// Each tile forms only the first `free_products` of the products over the free variables (free_products_of_tile()). The
// next function writes the sums of a tile without variables.
inline void clear_tile(const ProductsLayout &layout, int free_products, double *v) {
    std::fill(v, v + layout.free_gram + free_products, 0.0);
    std::fill(v + layout.leading_products, v + layout.size, 0.0);
    v[layout.minimum] = infinity;
}
// Adds the sums of another set of tiles, as join() does.
inline void join_tiles(const ProductsLayout &layout, int free_products, double *to, const double *from) {
    const auto add = [&](int begin, int end) { add_elements(from + begin, end - begin, to + begin); };
    add(0, layout.free_gram + free_products);
    add(layout.leading_products, layout.maximum);
    join_extremes(layout, to, from);
}

// A Cascade sums over the tiles of a segment, which is a range of tiles. It stores one partial sum per level of the
// binary tree. Adding a tile propagates through the levels like the carry of a binary counter.
class Cascade {
  public:
    // The sum is stored in `sum`, which is also the first level. The others are in `levels`.
    Cascade(double *sum, double *levels, const ProductsLayout &layout, int free_products)
        : sum_(sum), levels_(levels), layout_(layout), free_products_(free_products) {}
    // Returns the address at which the caller must store the inner products of the next tile.
    double *next() { return level(depth_); }
    void push() {
        depth_++;
        for (uint64_t carry = count_++; carry & 1; carry >>= 1) {
            depth_--;
            join_tiles(layout_, free_products_, level(depth_ - 1), level(depth_));
        }
    }
    // Completes the sum of all tiles, of which there must be at least one.
    void finish() {
        for (int i = depth_ - 1; i > 0; i--) join_tiles(layout_, free_products_, level(i - 1), level(i));
    }

  private:
    double *level(int i) { return i == 0 ? sum_ : levels_ + static_cast<std::size_t>(i - 1) * layout_.size; }
    double *sum_, *levels_;
    const ProductsLayout &layout_;
    const int free_products_;
    int depth_ = 0;
    uint64_t count_ = 0;
};

} // namespace cudaopt
